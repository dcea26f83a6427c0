/**
 * The example shop as `npm start` serves it, through the official client, counted at the payment service, in the
 * mail log and on the disk. Every test has an order, a folder or a city of its own.
 */
import { existsSync } from "node:fs";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { fromSource, startNode } from "../support/childProcess.ts";
import {
  type Answer,
  type Asked,
  connectOfficial,
  type OfficialClient,
  textOf,
  yes,
} from "../support/officialClient.ts";
import { type ShopProcess, startShop } from "../support/shopProcess.ts";
import { temporaryFolder } from "../support/temporary.ts";

let shop: ShopProcess;
const clients: OfficialClient[] = [];

beforeAll(async () => {
  shop = await startShop();
});

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
  await shop.mend();
});

afterAll(async () => {
  await shop.stop();
});

async function connect(answer: (ask: Asked) => Answer): Promise<OfficialClient> {
  const connected = await connectOfficial(shop.url, answer);
  clients.push(connected);
  return connected;
}

/** Answers in turn; more questions than answers fail the test. */
function inTurn(...answers: readonly Answer[]): () => Answer {
  const left = [...answers];
  return () => {
    const next = left.shift();
    if (next === undefined) throw new Error("one question too many");
    return next;
  };
}

describe("the program", () => {
  test("answers GET /healthz at the MCP port, and JSON arrays at the other", async () => {
    expect((await fetch(new URL("/healthz", shop.url))).status).toBe(200);
    for (const what of [
      "orders",
      "invoices",
      "charges",
      "refunds",
      "mails",
      "bookings",
      "payments",
    ]) {
      const facts: unknown = await (await fetch(new URL(`/${what}`, shop.outside))).json();
      expect(Array.isArray(facts), what).toBe(true);
    }
    const orders = await shop.orders();
    expect(new Set(orders.map(({ id }) => id)).size).toBe(orders.length);
    expect(orders.map(({ status }) => status)).not.toContain("refunded");
  });

  test.each([
    ["PORT", () => shop.url],
    ["SHOP_PORT", () => shop.outside],
  ])(
    "ends at once with PORT_IN_USE when %s is taken, and leaves no process behind",
    async (variable, taken) => {
      const data = await temporaryFolder();
      const child = startNode([...fromSource, "services/shop/src/main.ts"], {
        ...{ PORT: "0", SHOP_PORT: "0", SHOP_PAGE_PORT: "0", REPRISE_DATA: data },
        [variable]: new URL(taken()).port,
      });
      const { code, stderr } = await child.ended;
      expect(stderr).toMatch(/^PORT_IN_USE: /);
      expect(code).toBe(1);
      // The outside world of a shop holds its directory as long as it lives.
      const heir = await startShop(data);
      await heir.stop();
    },
  );
});

describe("refund_order", () => {
  const refund = (client: OfficialClient, orderId: string) =>
    client.client.callTool({ name: "refund_order", arguments: { orderId } });

  test("asks once and, once confirmed, refunds once and sends one receipt", async () => {
    const client = await connect(yes);
    const result = await refund(client, "1001");
    expect(client.client.getNegotiatedProtocolVersion()).toBe("2026-07-28");
    expect(client.asked.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^Refund .+ to ada@example\.com\?$/),
    ]);
    expect(result.isError).not.toBe(true);
    expect(textOf(result)).toMatch(/^Refunded /);
    expect(await shop.refunds("1001")).toHaveLength(1);
    expect(await shop.mails("ada@example.com")).toHaveLength(1);

    // The same call from somebody else is about the same refund.
    const again = await refund(await connect(yes), "1001");
    expect(textOf(again)).toBe(textOf(result));
    expect(await shop.refunds("1001")).toHaveLength(1);
    expect(await shop.mails("ada@example.com")).toHaveLength(1);
  });

  test("refunds nothing when declined, and once when the same call is accepted afterwards", async () => {
    const client = await connect(inTurn("decline", { accept: { confirm: true } }));
    expect(textOf(await refund(client, "1002"))).toBe("Nothing was refunded.");
    expect(await shop.refunds("1002")).toEqual([]);
    expect(textOf(await refund(client, "1002"))).toMatch(/^Refunded /);
    expect(client.asked).toHaveLength(2);
    expect(await shop.refunds("1002")).toHaveLength(1);
    const [order] = await shop.orders().then((all) => all.filter(({ id }) => id === "1002"));
    expect(await shop.mails(order?.email)).toHaveLength(1);
  });

  test("refunds once when the payment service was out of order before the first step of the first call", async () => {
    const client = await connect(yes);
    await shop.break({ kind: "outage", method: "GET", path: "/orders" });
    const failed = await refund(client, "1003");
    expect(failed.isError).toBe(true);
    expect(client.asked).toEqual([]);
    await shop.mend();
    expect(textOf(await refund(client, "1003"))).toMatch(/^Refunded /);
    expect(await shop.refunds("1003")).toHaveLength(1);
    expect(await shop.mails("chika@example.com")).toHaveLength(1);
  });

  test("refunds once when the payment service was out of order in the step of the first call", async () => {
    const client = await connect(yes);
    await shop.break({ kind: "outage", path: "/refunds" });
    const failed = await refund(client, "1004");
    expect(failed.isError).toBe(true);
    expect(await shop.refunds("1004")).toEqual([]);
    expect(await shop.mails("dana@example.org")).toEqual([]);
    await shop.mend();
    expect(textOf(await refund(client, "1004"))).toMatch(/^Refunded /);
    expect(client.asked).toHaveLength(2);
    expect(await shop.refunds("1004")).toHaveLength(1);
    expect(await shop.mails("dana@example.org")).toHaveLength(1);
  });

  test("refunds once and mails once when both replies are lost after the work was done", async () => {
    const client = await connect(yes);
    await shop.break(
      { kind: "drop", path: "/refunds", when: "after", count: 1 },
      { kind: "drop", path: "/mails", when: "after", count: 1 },
    );
    expect(textOf(await refund(client, "1005"))).toMatch(/^Refunded /);
    expect(await shop.refunds("1005")).toHaveLength(1);
    expect(await shop.mails("eli@example.com")).toHaveLength(1);
  });

  test("refuses an unknown order without a question", async () => {
    const client = await connect(yes);
    const result = await refund(client, "4711");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe("There is no order 4711.");
    expect(client.asked).toEqual([]);
  });
});

describe("delete_folder", () => {
  test.each([
    ["declined", "decline"],
    ["cancelled", "cancel"],
    ["accepted without the tick", { accept: { confirm: false } }],
  ] as const)("keeps the folder when %s", async (_, answer) => {
    const client = await connect(() => answer);
    const result = await client.client.callTool({
      name: "delete_folder",
      arguments: { path: "build/" },
    });
    expect(client.asked.map(({ message }) => message)).toEqual(["Delete build/?"]);
    expect(textOf(result)).toBe("Kept build/");
    expect(existsSync(path.join(shop.scratchDir, "build"))).toBe(true);
  });

  test("deletes the folder when accepted", async () => {
    const client = await connect(yes);
    const result = await client.client.callTool({
      name: "delete_folder",
      arguments: { path: "build/" },
    });
    expect(client.asked.map(({ message }) => message)).toEqual(["Delete build/?"]);
    expect(textOf(result)).toBe("Deleted build/");
    expect(existsSync(path.join(shop.scratchDir, "build"))).toBe(false);
    expect(existsSync(path.join(shop.scratchDir, "logs"))).toBe(true);
  });
});

describe("the other tools", () => {
  test("are listed with the shop's name and instructions", async () => {
    const { client } = await connect(yes);
    expect(client.getServerVersion()).toMatchObject({ name: "shop", version: "0.1.0" });
    expect(client.getInstructions()).toMatch(/^Refunds, invoices and trips/);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      "delete_folder",
      "refund_order",
      "send_invoice",
      "pay_invoice",
      "book_trip",
      "summarize_orders",
    ]);
  });

  test("send_invoice asks for address and language and sends one mail there", async () => {
    const to = "accounts@example.net";
    const client = await connect(() => ({ accept: { address: to, language: "de" } }));
    const result = await client.client.callTool({
      name: "send_invoice",
      arguments: { orderId: "1002" },
    });
    expect(textOf(result)).toBe(`Sent the invoice of order 1002 to ${to}.`);
    expect(client.asked).toHaveLength(1);
    const mails = await shop.mails(to);
    expect(mails).toHaveLength(1);
    expect(mails[0]?.subject).toContain("1002");
  });

  test("book_trip asks two questions at once, confirms the price, and books flight and hotel in this order", async () => {
    const client = await connect(({ message }) => {
      if (message.startsWith("When")) return { accept: { departure: "2026-09-01", nights: 2 } };
      if (message.startsWith("How")) return { accept: { travelClass: "economy", hotelStars: "3" } };
      return { accept: { confirm: true } };
    });
    const result = await client.client.callTool({
      name: "book_trip",
      arguments: { city: "Lisbon" },
    });
    expect(client.asked.map(({ message }) => message)).toEqual([
      "When do you want to go to Lisbon?",
      "How do you want to travel?",
      expect.stringMatching(/^Book 2 nights in Lisbon from 2026-09-01 for .+\?$/),
    ]);
    expect(textOf(result)).toMatch(/^Booked 2 nights in Lisbon/);
    expect((await shop.bookings("Lisbon")).map(({ kind }) => kind)).toEqual(["flight", "hotel"]);
  });

  test("book_trip books nothing when one of two questions asked at once is declined", async () => {
    const client = await connect(({ message }) =>
      message.startsWith("When") ? { accept: { departure: "2026-09-01", nights: 2 } } : "decline",
    );
    const result = await client.client.callTool({
      name: "book_trip",
      arguments: { city: "Oslo" },
    });
    expect(textOf(result)).toBe("Nothing was booked.");
    expect(await shop.bookings("Oslo")).toEqual([]);
  });

  test("summarize_orders has the client's model write about every order", async () => {
    const client = await connect(() => ({ sample: "Five orders, all small." }));
    const result = await client.client.callTool({ name: "summarize_orders", arguments: {} });
    expect(textOf(result)).toBe("Five orders, all small.");
    const [ask] = client.asked;
    for (const { id } of await shop.orders()) expect(ask?.message).toContain(id);
  });
});

describe("the prompt and the resource", () => {
  test("order_reply completes its argument, asks what to say, and gives the model the order", async () => {
    const { client, asked } = await connect(() => ({
      accept: { tone: "formal", message: "It is on its way." },
    }));
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(["order_reply"]);
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "order_reply" },
      argument: { name: "orderId", value: "100" },
    });
    expect(completion.values).toEqual((await shop.orders()).map(({ id }) => id));
    const result = await client.getPrompt({ name: "order_reply", arguments: { orderId: "1002" } });
    expect(asked).toHaveLength(1);
    expect(JSON.stringify(result.messages)).toContain("Write a formal reply");
    expect(JSON.stringify(result.messages)).toContain("It is on its way.");
  });

  test("the report asks for the month and lists its orders", async () => {
    const { client, asked } = await connect(() => ({ accept: { month: "2026-06" } }));
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      "shop://report",
    ]);
    const { contents } = await client.readResource({ uri: "shop://report" });
    expect(asked.map(({ message }) => message)).toEqual(["Which month?"]);
    const [content] = contents as readonly { readonly text?: string }[];
    const inJune = (await shop.orders()).filter(({ placedOn }) => placedOn.startsWith("2026-06"));
    expect(inJune.length).toBeGreaterThan(0);
    for (const { id } of inJune) expect(content?.text).toContain(`| ${id} |`);
    expect(content?.text).not.toContain("| 1005 |");
  });
});
