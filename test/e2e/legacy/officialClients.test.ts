/**
 * The official clients, v1 and v2, round robin over two processes on one embedded store: no request of a session is sure to
 * come to the process that had the last one.
 */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { payByCard } from "../../support/cardPage.ts";
import type { Child } from "../../support/childProcess.ts";
import { fromSource, startNode } from "../../support/childProcess.ts";
import {
  type Answer,
  type Asked,
  connectOfficial,
  type ElicitationModes,
  textOf,
  yes,
} from "../../support/officialClient.ts";
import { startReprise } from "../../support/repriseCommand.ts";
import { type RoundRobin, roundRobin } from "../../support/roundRobin.ts";
import { connectSdkV1, type SdkV1Client } from "../../support/sdkV1Client.ts";

let data: string;
let first: Child;
let second: Child;
let proxy: RoundRobin;
let scratch: string;
let outside: string;
const clients: SdkV1Client[] = [];

beforeAll(async () => {
  data = await mkdtemp(path.join(tmpdir(), "reprise-legacy-"));
  first = startNode([...fromSource, "services/shop/src/main.ts"], {
    ...{ PORT: "0", SHOP_PORT: "0", SHOP_PAGE_PORT: "0", REPRISE_DATA: data },
  });
  const [, url = ""] = await first.line(/^ {2}MCP +(\S+)/);
  [, outside = ""] = await first.line(/^ {2}payments +(\S+)/);
  const [, smtpPort = ""] = await first.line(/SMTP on port (\d+)/);
  [, scratch = ""] = await first.line(/^ {2}scratch +(\S+)/);
  second = startReprise(
    ["dev", "services/shop/src/served.ts", "--data", data, "--port", "0"],
    undefined,
    { SHOP_URL: outside, SHOP_SMTP_PORT: smtpPort, SHOP_SCRATCH: scratch },
  );
  const [, other = ""] = await second.line(/^ {2}MCP +(\S+)/);
  proxy = await roundRobin([url, other]);
}, 120_000);

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

afterAll(async () => {
  await proxy.close();
  await second.stop();
  await first.stop();
  await rm(data, { recursive: true, force: true });
});

async function connect(
  answer: (ask: Asked) => Answer | Promise<Answer>,
  elicitation: ElicitationModes = { form: {} },
): Promise<SdkV1Client> {
  const connected = await connectSdkV1(proxy.url, answer, elicitation);
  clients.push(connected);
  return connected;
}

async function call({ client }: SdkV1Client, name: string, args: Record<string, unknown>) {
  const result = await client.callTool({ name, arguments: args });
  return textOf(result as { content: object[] });
}

async function read(what: string): Promise<readonly unknown[]> {
  return (await (await fetch(new URL(what, outside))).json()) as unknown[];
}

test("completes every tool of the shop, and both processes have their part", async () => {
  const client = await connect(({ method, message }) => {
    if (method === "sampling/createMessage") return { sample: "Five orders." };
    if (message.startsWith("When")) return { accept: { departure: "2026-09-01", nights: 2 } };
    if (message.startsWith("How")) return { accept: { travelClass: "economy", hotelStars: "3" } };
    if (message.startsWith("Where"))
      return { accept: { address: "a@example.net", language: "de" } };
    return { accept: { confirm: true } };
  });
  const { tools } = await client.client.listTools();
  expect(tools.map(({ name }) => name)).toContain("refund_order");
  expect(await call(client, "refund_order", { orderId: "1001" })).toMatch(/^Refunded /);
  expect(await read("/refunds?orderId=1001")).toHaveLength(1);
  expect(await call(client, "book_trip", { city: "Lisbon" })).toMatch(/^Booked 2 nights/);
  expect(await call(client, "send_invoice", { orderId: "1002" })).toContain("a@example.net");
  expect(await call(client, "summarize_orders", {})).toBe("Five orders.");
  expect(proxy.counts.every((count) => count > 5)).toBe(true);
});

test.each([
  { mode: "auto" as const, orderId: "1004", unpaid: "1001", folder: "coverage" },
  { mode: "legacy" as const, orderId: "1005", unpaid: "1002", folder: "logs" },
])(
  "the v2 client on $mode completes every tool of the shop over both processes, and a declined folder stays",
  async ({ mode, orderId, unpaid, folder }) => {
    let declines = true;
    const answer = async ({ method, message, params }: Asked): Promise<Answer> => {
      if (method === "sampling/createMessage") return { sample: "Five orders." };
      if (message.startsWith("When")) return { accept: { departure: "2026-09-01", nights: 2 } };
      if (message.startsWith("How")) return { accept: { travelClass: "economy", hotelStars: "3" } };
      if (message.startsWith("Where"))
        return { accept: { address: `${mode}@example.net`, language: "de" } };
      if (params["mode"] === "url") {
        await payByCard(String(params["url"]));
        return "accept";
      }
      if (message.startsWith("Delete") && declines) return "decline";
      return { accept: { confirm: true } };
    };
    const modes = { form: {}, url: {} };
    const { client, close } = await connectOfficial(proxy.url, answer, "v2", modes, mode);
    const before = [...proxy.counts];
    const text = async (name: string, args: Record<string, unknown>) =>
      textOf((await client.callTool({ name, arguments: args })) as { content: object[] });
    try {
      expect(client.getNegotiatedProtocolVersion()).toBe(
        mode === "auto" ? "2026-07-28" : "2025-11-25",
      );
      expect(await text("refund_order", { orderId })).toMatch(/^Refunded /);
      expect(await text("book_trip", { city: "Porto" })).toMatch(/^Booked 2 nights/);
      expect(await text("summarize_orders", {})).toBe("Five orders.");
      expect(await text("send_invoice", { orderId })).toContain(`${mode}@example.net`);
      expect(await text("pay_invoice", { orderId: unpaid })).toMatch(/^Paid /);
      expect(await text("delete_folder", { path: folder })).toMatch(/^Kept/);
      expect(existsSync(path.join(scratch, folder))).toBe(true);
      declines = false;
      expect(await text("delete_folder", { path: folder })).toMatch(/^Deleted/);
      expect(existsSync(path.join(scratch, folder))).toBe(false);
    } finally {
      await close();
    }
    expect(await read(`/refunds?orderId=${orderId}`)).toHaveLength(1);
    expect(proxy.counts.every((count, index) => count > (before[index] ?? 0))).toBe(true);
  },
);

test("delete_folder keeps the folder when declined, and deletes it once confirmed", async () => {
  const folder = path.join(scratch, "build");
  expect(existsSync(folder)).toBe(true);
  expect(await call(await connect(() => "decline"), "delete_folder", { path: "build" })).toMatch(
    /^Kept/,
  );
  expect(existsSync(folder)).toBe(true);
  expect(await call(await connect(yes), "delete_folder", { path: "build" })).toMatch(/^Deleted/);
  expect(existsSync(folder)).toBe(false);
});

test("pay_invoice is finished by the card page, which is told to the client, whichever process waits for it", async () => {
  const ids: unknown[] = [];
  const client = await connect(
    async ({ params }) => {
      ids.push(params["elicitationId"]);
      // The person says so before the page is done: the call waits for it.
      void payByCard(String(params["url"]));
      return "accept" as const;
    },
    { form: {}, url: {} },
  );
  expect(await call(client, "pay_invoice", { orderId: "1003" })).toMatch(/^Paid ¥1,200 /);
  expect(await call(client, "pay_invoice", { orderId: "1004" })).toMatch(/^Paid \$14\.50 /);
  const paid = (await read("/payments")) as readonly { readonly orderId: string }[];
  expect(paid.filter((each) => each.orderId === "1003" || each.orderId === "1004")).toHaveLength(2);
  expect(new Set(ids).size).toBe(2);
  await expect.poll(() => client.completed).toEqual(ids);
});

test("pay_invoice is refused at once for a client that can't be sent to a page", async () => {
  const client = await connect(() => "accept");
  const result = await client.client.callTool({
    name: "pay_invoice",
    arguments: { orderId: "1005" },
  });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result.content)).toContain("elicitation.url");
  expect(client.asked).toEqual([]);
});
