import type { Booking, Charge, Invoice, Order, Payment, Refund } from "@reprise/shop";
import { expect, test } from "vitest";
import { payByCard } from "../../../test/support/cardPage.ts";
import { json, list, outsideWorld, post, refundOf1001, temporaryDirectory } from "./world.ts";

test("every order has an id, an example address and a charge of its total", async () => {
  const { url } = await outsideWorld();
  const orders = await list<Order>(url, "/orders");
  const charges = await list<Charge>(url, "/charges");
  expect(orders.length).toBeGreaterThan(3);
  for (const { id, email, total } of orders) {
    expect(email).toMatch(/@example\.(com|org)$/);
    expect(charges).toContainEqual({ id: `charge-${id}`, reference: id, ...total });
  }
});

test("the same key and request give the same refund, and one refund is listed", async () => {
  const { url } = await outsideWorld();
  const first = await json(await post(url, "/refunds", refundOf1001, "key"));
  const second = await json(await post(url, "/refunds", refundOf1001, "key"));
  expect(second).toEqual(first);
  expect(await list(url, "/refunds")).toEqual([first]);
});

test("the order of the members in a repeated request makes no difference", async () => {
  const { url } = await outsideWorld();
  const { orderId, amount, currency } = refundOf1001;
  const first = await json(await post(url, "/refunds", { orderId, amount, currency }, "key"));
  const second = await json(await post(url, "/refunds", { currency, amount, orderId }, "key"));
  expect(second).toEqual(first);
});

test("the same key with another request is a 409 and moves nothing", async () => {
  const { url } = await outsideWorld();
  await post(url, "/refunds", refundOf1001, "key");
  const other = await post(url, "/refunds", { ...refundOf1001, amount: 1 }, "key");
  expect(other.status).toBe(409);
  expect(await list(url, "/refunds")).toHaveLength(1);
});

test("a key of a refund can't book", async () => {
  const { url } = await outsideWorld();
  await post(url, "/refunds", refundOf1001, "key");
  const booking = {
    kind: "flight",
    city: "Oslo",
    departure: "2026-09-01",
    nights: 2,
    amount: 11900,
    currency: "EUR",
  };
  expect((await post(url, "/bookings", booking, "key")).status).toBe(409);
  expect(await list(url, "/bookings")).toEqual([]);
});

test("without a key every request moves money, so that a doubled one can be seen", async () => {
  const { url } = await outsideWorld();
  await post(url, "/refunds", refundOf1001);
  await post(url, "/refunds", refundOf1001);
  expect(await list(url, "/refunds")).toHaveLength(2);
});

test("a refunded order says so", async () => {
  const { url } = await outsideWorld();
  await post(url, "/refunds", refundOf1001, "key");
  const [first, second] = await list<Order>(url, "/orders");
  expect([first?.status, second?.status]).toEqual(["refunded", "paid"]);
});

test("a refund can be looked up by its order and by its key", async () => {
  const { url } = await outsideWorld();
  await post(url, "/refunds", refundOf1001, "one");
  await post(url, "/refunds", { ...refundOf1001, orderId: "1002" }, "two");
  const byOrder = await list<Refund>(url, "/refunds?orderId=1002");
  const byKey = await list<Refund>(url, "/refunds?idempotencyKey=one");
  expect(byOrder.map(({ idempotencyKey }) => idempotencyKey)).toEqual(["two"]);
  expect(byKey.map(({ orderId }) => orderId)).toEqual(["1001"]);
});

test("an order is billed once: the same key gives the same invoice, another request for it is a 409", async () => {
  const { url } = await outsideWorld();
  const bill = { orderId: "4711", amount: 350, currency: "EUR" };
  const first = await json(await post(url, "/invoices", bill, "key"));
  expect(first).toEqual({ id: "invoice-4711", ...bill, status: "open", paymentId: null });
  expect(await json(await post(url, "/invoices", bill, "key"))).toEqual(first);
  const others = [
    post(url, "/invoices", bill, "other"),
    post(url, "/invoices", { ...bill, amount: 1 }),
    post(url, "/invoices", { ...bill, orderId: "1001" }),
  ];
  expect((await Promise.all(others)).map(({ status }) => status)).toEqual([409, 409, 409]);
  const open = await list<Invoice>(url, "/invoices");
  expect(open.filter(({ orderId }) => orderId === "4711")).toEqual([first]);
});

test("an invoice that was made is paid on its card page, and both are there after a restart", async () => {
  const dataDir = await temporaryDirectory();
  const world = await outsideWorld(dataDir);
  await post(world.url, "/invoices", { orderId: "4711", amount: 350, currency: "EUR" });
  await payByCard(`${world.url}/pay/4711?reference=r1`);
  await world.close();
  const again = await outsideWorld(dataDir);
  const paid = await json<Invoice>(await fetch(`${again.url}/invoices/4711`));
  expect(paid).toMatchObject({ amount: 350, status: "paid" });
  const [payment] = await list<Payment>(again.url, "/payments?reference=r1");
  expect(payment).toMatchObject({ id: paid.paymentId, orderId: "4711", amount: 350 });
});

test("a booking is charged", async () => {
  const { url } = await outsideWorld();
  const price = { amount: 11900, currency: "EUR" };
  const place = { kind: "flight", city: "Oslo", departure: "2026-09-01", nights: 2 };
  const booked = await post(url, "/bookings", { ...place, ...price }, "key");
  const booking = await json<Booking>(booked);
  expect(await list(url, "/charges")).toContainEqual({
    id: `charge-${booking.id}`,
    reference: booking.id,
    ...price,
  });
});

test("keys are remembered over a restart", async () => {
  const dataDir = await temporaryDirectory();
  const before = await outsideWorld(dataDir);
  const first = await json(await post(before.url, "/refunds", refundOf1001, "key"));
  await before.close();

  const { url } = await outsideWorld(dataDir);
  expect(await json(await post(url, "/refunds", refundOf1001, "key"))).toEqual(first);
  expect((await post(url, "/refunds", { ...refundOf1001, amount: 1 }, "key")).status).toBe(409);
  expect(await list(url, "/refunds")).toEqual([first]);
});

test("a request that is none is refused with words that say why", async () => {
  const { url } = await outsideWorld();
  const refused = await post(url, "/refunds", { ...refundOf1001, amount: 49.9 });
  expect(refused.status).toBe(400);
  expect(await json(refused)).toEqual({ error: expect.stringContaining("amount") });
  expect(await list(url, "/refunds")).toEqual([]);
});
