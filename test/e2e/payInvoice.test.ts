/**
 * `pay_invoice` of the shop: a question that the payment service's card page finishes. The person is at the terminal host
 * or behind an official client, and visits the page as a browser without script would; charges and mails are counted
 * at the payment service and in the mail log.
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { cards, fillIn, payByCard, send, visit } from "../support/cardPage.ts";
import { unusedPorts } from "../support/cluster/ports.ts";
import {
  type Answer,
  type Asked,
  connectOfficial,
  type ElicitationModes,
  textOf,
} from "../support/officialClient.ts";
import { RawClient } from "../support/rawMcp.ts";
import { startReprise } from "../support/repriseCommand.ts";
import { type ShopProcess, startShop } from "../support/shopProcess.ts";

let shop: ShopProcess;
let data: string;
let ports: Readonly<Record<string, string>>;
/** Everything that a server or the host said to somebody. */
const said: string[] = [];

beforeAll(async () => {
  const [mcp, outside, smtp, page] = await unusedPorts(4);
  ports = {
    PORT: String(mcp),
    SHOP_PORT: String(outside),
    SHOP_SMTP_PORT: String(smtp),
    SHOP_PAGE_PORT: String(page),
  };
  data = await mkdtemp(path.join(tmpdir(), "reprise-pay-"));
  shop = await startShop(data, ports);
}, 120_000);

afterAll(async () => {
  await shop.stop();
  await rm(data, { recursive: true, force: true });
});

/** Payments of the order, and receipts to its customer. */
async function counted(orderId: string): Promise<readonly [payments: number, mails: number]> {
  const receipts = (await shop.mails()).filter(({ subject }) =>
    subject.endsWith(`the delivery of order ${orderId}`),
  );
  return [(await shop.payments(orderId)).length, receipts.length];
}

const modes = { form: {}, url: {} };

async function call(
  orderId: string,
  answer: (ask: Asked) => Answer | Promise<Answer>,
  elicitation: ElicitationModes = modes,
) {
  const connected = await connectOfficial(shop.url, answer, "payer", elicitation);
  onTestFinished(() => connected.close());
  const called = connected.client.callTool({ name: "pay_invoice", arguments: { orderId } });
  const result = await called.finally(() => said.push(JSON.stringify(connected.asked)));
  said.push(JSON.stringify(result));
  return { result, asked: connected.asked };
}

const urlOf = ({ params }: Asked): string => String(params["url"]);

describe("a person at the terminal host", () => {
  test("tries a declined card, pays, comes back and types done: one charge, one receipt", async () => {
    const args = ["call", shop.url, "pay_invoice", '{"orderId":"1001"}', "--interactive"];
    const terminal = startReprise(args);
    const [url] = await terminal.shows(/http:\S+\/pay\/1001\?reference=[\w-]{43}/);
    await terminal.shows(/open \/ done \/ decline \/ cancel \/ later > /);
    const otherTab = await fillIn(url, cards.accepted);

    const declined = await payByCard(url, cards.declined);
    expect(declined.html).toContain("The card was declined. Nothing was charged.");
    expect(await counted("1001")).toEqual([0, 0]);
    const before = await shop.charges();
    const paid = await payByCard(url);
    // The payment service sent the browser on to the shop's own page.
    expect(new URL(paid.url).port).toBe(ports["SHOP_PAGE_PORT"]);
    expect(paid.html).toContain("We have received €4.90 for the delivery of order 1001.");
    expect((await send(otherTab)).html).toContain("Nothing was charged now.");
    expect((await visit(paid.url)).html).toBe(paid.html);

    terminal.input.write("done\n");
    const { code, stdout, stderr } = await terminal.ended;
    said.push(stdout, stderr);
    expect(stdout).toBe("Paid €4.90 for order 1001 (payment-1, card ending in 4242).\n");
    expect(code).toBe(0);
    expect(await counted("1001")).toEqual([1, 1]);
    expect(await shop.charges()).toHaveLength(before.length + 1);
  });

  test("is told that nothing is open once it is paid, without a question", async () => {
    await payByCard(`${shop.outside}/pay/1005`);
    const { result, asked } = await call("1005", () => "accept");
    expect(textOf(result)).toBe("Nothing is open for order 1005: its invoice is paid.");
    expect(result.structuredContent).toMatchObject({ status: "paid", orderId: "1005" });
    expect(asked).toEqual([]);
    expect(await counted("1005")).toEqual([1, 0]);
  });
});

describe("the official client", () => {
  test.each(["decline", "cancel"] as const)(
    "that says %s pays nothing, and may call again",
    async (no) => {
      const { result, asked } = await call("1002", () => no);
      expect(asked).toHaveLength(1);
      expect(textOf(result)).toBe("Nothing was paid.");
      expect(result.structuredContent).toEqual({
        ...{ orderId: "1002", status: "open", amount: 790, currency: "EUR" },
      });
      expect(await counted("1002")).toEqual([0, 0]);
    },
  );

  test("pays on the page and gets text and structured content of what the payment service has", async () => {
    const { result, asked } = await call("1002", async (ask) => {
      await payByCard(urlOf(ask));
      return "accept" as const;
    });
    expect(asked.map(({ message }) => message)).toEqual([
      "Pay €7.90 for the delivery of order 1002 on the payment service's page.",
    ]);
    const [payment] = await shop.payments("1002");
    expect(textOf(result)).toContain(`(${payment?.id}, card ending in 4242)`);
    expect(result.structuredContent).toEqual({
      ...{ orderId: "1002", status: "paid", amount: 790, currency: "EUR" },
      paymentId: payment?.id,
    });
    expect(await counted("1002")).toEqual([1, 1]);

    // The same call again is about the same payment.
    const again = await call("1002", () => "accept");
    expect(textOf(again.result)).toBe(textOf(result));
    expect(again.asked).toEqual([]);
    expect(await counted("1002")).toEqual([1, 1]);
  });

  test("without URL mode is refused at once, with what it would have to declare", async () => {
    await expect(call("1003", () => "accept", { form: {} })).rejects.toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { elicitation: { url: {} } } },
    });
  });

  test("is told that there is no such order", async () => {
    const { result } = await call("4711", () => "accept");
    expect(result.isError).toBe(true);
    expect(textOf(result)).toBe("There is no order 4711.");
  });
});

describe("a client whose accept comes", () => {
  const start = async (orderId: string) => {
    const client = new RawClient();
    onTestFinished(() => client.close());
    const params = { name: "pay_invoice", arguments: { orderId } };
    const { result } = await client.call(shop.url, { params });
    said.push(JSON.stringify(result));
    const { requestState, inputRequests = {} } = result ?? {};
    const { params: asked } = inputRequests["elicitUrl"] as Pick<Asked, "params">;
    const inputResponses = { elicitUrl: { action: "accept" } };
    const accepts = async (): Promise<string> => {
      const request = { params: { ...params, requestState, inputResponses } };
      const { body } = await client.send(shop.url, request);
      said.push(body);
      return body;
    };
    return { url: String(asked["url"]), accepts };
  };

  test("before the page is finished waits for it, and completes", async () => {
    const { url, accepts } = await start("1003");
    const form = await fillIn(url, cards.accepted);
    const reply = accepts();
    expect(await Promise.race([reply, visit(url).then(() => "it waits")])).toBe("it waits");
    await send(form);
    expect(await reply).toContain("Paid ¥1,200 for order 1003");
    expect(await counted("1003")).toEqual([1, 1]);
  });

  test("after the shop was killed, behind the page's payment, completes when it is back", async () => {
    const { url, accepts } = await start("1004");
    await payByCard(url);
    said.push(shop.printed());
    await shop.kill();
    shop = await startShop(data, ports);
    expect(await counted("1004")).toEqual([1, 0]);
    expect(await accepts()).toContain("Paid $14.50 for order 1004");
    expect(await accepts()).toContain("Paid $14.50 for order 1004");
    expect(await counted("1004")).toEqual([1, 1]);
  });
});

test("a card's number is in no file of the server or the payment service, and in nothing that was said", async () => {
  const numbers = Object.values(cards).flatMap((card) => [card, card.replaceAll(" ", "")]);
  const found = async (): Promise<string[]> => {
    const entries = await readdir(data, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const texts = await Promise.all(
      files.map((file) => readFile(path.join(file.parentPath, file.name), "latin1")),
    );
    expect(texts.length).toBeGreaterThan(2);
    const all = [...texts, ...said, shop.printed()];
    return numbers.filter((number) => all.some((text) => text.includes(number)));
  };
  expect(said.join("")).toContain("payment-1");
  expect(await found()).toEqual([]);
  await writeFile(path.join(data, "planted"), `x${numbers[1]}y`);
  expect(await found()).toEqual([numbers[1]]);
});
