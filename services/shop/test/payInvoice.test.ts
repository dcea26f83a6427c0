/**
 * What `pay_invoice` believes, and what it says when nothing was paid: the tool in a harness whose time passes by itself,
 * with a payment service and a mail log that are real.
 */
import {
  createMail,
  createPayments,
  createShop,
  type OutsideWorld,
  type Payment,
} from "@reprise/shop";
import type { Server } from "reprise";
import { type Harness, harness } from "reprise/testing";
import { expect, onTestFinished, test } from "vitest";
import { payByCard } from "../../../test/support/cardPage.ts";
import { list, outsideWorld, post, temporaryDirectory } from "./world.ts";

interface Shop {
  readonly t: Harness;
  readonly server: Server;
  readonly world: OutsideWorld;
}

async function openShop(): Promise<Shop> {
  const world = await outsideWorld();
  const server = createShop({
    payments: createPayments(world.url),
    mail: createMail({ smtpPort: world.smtpPort, logUrl: world.url }),
    scratchDir: await temporaryDirectory(),
  });
  const t = await harness(server);
  onTestFinished(() => t.close());
  return { t, server, world };
}

const order = { orderId: "1001" };
const asksFor = async ({ t }: Shop) => {
  const asked = await t.call("pay_invoice", order);
  const url = asked.questions["elicitUrl"]?.url ?? "";
  return { asked, url, id: new URL(url).searchParams.get("reference") ?? "" };
};
const completes = ({ server }: Shop, id: string, data?: { readonly paymentId: string }) =>
  server.elicitations.complete(id, { principal: "anonymous", ...(data && { data }) });

test("a page that is never completed is asked for five times again; then the payment is not there yet, and a new call asks anew", async () => {
  const shop = await openShop();
  const { asked, url } = await asksFor(shop);
  let reply = await asked.answer();
  for (let again = 1; again <= 5; again += 1) {
    expect(reply.questions["elicitUrl"]?.message).toContain("Still waiting");
    expect(reply.questions["elicitUrl"]?.url).toBe(url);
    reply = await reply.answer();
  }
  expect(reply.text).toBe(
    "The payment for order 1001 is not there yet. Call pay_invoice again to be shown the page once more.",
  );
  expect(reply.result?.["structuredContent"]).toEqual({
    ...{ orderId: "1001", status: "open", amount: 490, currency: "EUR" },
  });
  expect((await asksFor(shop)).url).not.toBe(url);
  expect(await list(shop.world.url, "/mails")).toEqual([]);
});

test.each([
  ["a payment that does not exist", { paymentId: "payment-99" }],
  ["the payment of another order", { paymentId: "payment-1" }],
  ["a path instead of an id", { paymentId: "../orders/1001" }],
  ["nothing", undefined],
])("a completion that names %s is not believed", async (_, data) => {
  const shop = await openShop();
  await payByCard(`${shop.world.url}/pay/1002`);
  expect(await list<Payment>(shop.world.url, "/payments")).toMatchObject([{ id: "payment-1" }]);
  const { asked, id } = await asksFor(shop);
  await completes(shop, id, data);
  expect((await asked.answer()).text).toContain("is not there yet");
  expect(await list(shop.world.url, "/mails")).toEqual([]);
});

test.each(["before record", "after record"] as const)(
  "a process that dies with the receipt sent, %s, mails it once",
  async (when) => {
    const shop = await openShop();
    const { asked, url, id } = await asksFor(shop);
    await payByCard(url);
    await completes(shop, id, { paymentId: "payment-1" });
    shop.t.crashAfter("mail receipt", when);
    expect((await asked.answer()).text).toMatch(/^Paid €4\.90 for order 1001/);
    expect(shop.t.crashes).toBe(1);
    expect(await list(shop.world.url, "/mails")).toHaveLength(1);
  },
);

test("a receipt whose fate nobody knows is looked for in the mail log and sent once", async () => {
  const shop = await openShop();
  const { asked, url, id } = await asksFor(shop);
  await payByCard(url);
  await completes(shop, id, { paymentId: "payment-1" });
  await post(shop.world.url, "/faults", { kind: "drop", path: "/mails", count: 1 });
  expect((await asked.answer()).text).toMatch(/^Paid €4\.90/);
  const mails = await list<{ to: string[]; subject: string; text: string }>(
    shop.world.url,
    "/mails",
  );
  expect(mails).toMatchObject([
    { to: ["ada@example.com"], subject: "Your payment for the delivery of order 1001" },
  ]);
  expect(mails[0]?.text).toContain("card ending in 4242");
});
