/**
 * When the shop's clients may say that nothing happened: a wrong `notDone` would let money move twice.
 */
import { createMail, createPayments, type Order, type OutsideWorld } from "@reprise/shop";
import { expect, test } from "vitest";
import { list, outsideWorld, post } from "./world.ts";

const call = () => ({ idempotencyKey: "key", signal: new AbortController().signal });
const saysNotDone = (error: unknown) =>
  error instanceof Error && Symbol.for("reprise.notDone") in error;

async function order1001({ url }: OutsideWorld): Promise<Order> {
  const order = await createPayments(url).order("1001");
  if (order === undefined) throw new Error("the shop has no order 1001");
  return order;
}

async function failedRefund(fault: object): Promise<unknown> {
  const world = await outsideWorld();
  const order = await order1001(world);
  await post(world.url, "/faults", fault);
  return createPayments(world.url)
    .refund(order, call())
    .catch((error: unknown) => error);
}

test("an order is refunded in full, and then says so", async () => {
  const world = await outsideWorld();
  const payments = createPayments(world.url);
  const refund = await payments.refund(await order1001(world), call());
  expect(refund).toMatchObject({ orderId: "1001", amount: 4990, currency: "EUR" });
  expect((await payments.order("1001"))?.status).toBe("refunded");
});

test("an order that is not there is undefined, whatever its id looks like", async () => {
  const payments = createPayments((await outsideWorld()).url);
  for (const id of ["9999", "", "../refunds", "a b", "1001?x=1"]) {
    expect(await payments.order(id)).toBeUndefined();
  }
});

test("a trip is booked for what was quoted", async () => {
  const { url } = await outsideWorld();
  const payments = createPayments(url);
  const place = { city: "Oslo", departure: "2026-09-01", nights: 2 };
  const quote = await payments.quote({ ...place, travelClass: "economy", hotelStars: "3" });
  expect(quote.total.amount).toBe(quote.flight.amount + quote.hotel.amount);
  const booking = await payments.book({ kind: "flight", ...place, ...quote.flight }, call());
  expect(await list(url, "/bookings")).toEqual([booking]);
});

test("an outage is known to have moved nothing", async () => {
  expect(await failedRefund({ kind: "outage" })).toSatisfy(saysNotDone);
});

test.each([
  { kind: "fail", when: "before", status: 500 },
  { kind: "fail", when: "after", status: 502 },
  { kind: "drop", when: "before" },
  { kind: "drop", when: "after" },
])("after %j nobody knows", async (fault) => {
  const error = await failedRefund(fault);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toSatisfy(saysNotDone);
});

test("a payment service that was not reached is known to have moved nothing", async () => {
  const world = await outsideWorld();
  const order = await order1001(world);
  await world.close();
  const error = await createPayments(world.url)
    .refund(order, call())
    .catch((thrown: unknown) => thrown);
  expect(error).toSatisfy(saysNotDone);
});

test("a mail server that was not reached is known to have sent nothing", async () => {
  const world = await outsideWorld();
  const order = await order1001(world);
  await world.close();
  const mail = createMail({ smtpPort: world.smtpPort, logUrl: world.url });
  const error = await mail
    .invoice(order, { address: "ada@example.com", language: "en" }, "key")
    .catch((thrown: unknown) => thrown);
  expect(error).toSatisfy(saysNotDone);
});

async function failedInvoice(fault: object): Promise<{ error: unknown; mails: unknown[] }> {
  const world = await outsideWorld();
  const order = await order1001(world);
  await post(world.url, "/faults", { ...fault, path: "/mails" });
  const error = await createMail({ smtpPort: world.smtpPort, logUrl: world.url })
    .invoice(order, { address: "ada@example.com", language: "en" }, "key")
    .catch((thrown: unknown) => thrown);
  return { error, mails: await list(world.url, "/mails") };
}

test.each([{ kind: "outage" }, { kind: "fail" }])(
  "a mail that the server refused (%j) is known not to be sent",
  async (fault) => {
    const { error, mails } = await failedInvoice(fault);
    expect(error).toSatisfy(saysNotDone);
    expect(mails).toEqual([]);
  },
);

test.each([
  [{ kind: "drop", when: "before" }, 0],
  [{ kind: "drop", when: "after" }, 1],
  [{ kind: "fail", when: "after" }, 1],
] as const)("after a mail connection broke (%j), nobody knows", async (fault, count) => {
  const { error, mails } = await failedInvoice(fault);
  expect(error).toBeInstanceOf(Error);
  expect(error).not.toSatisfy(saysNotDone);
  expect(mails).toHaveLength(count);
});
