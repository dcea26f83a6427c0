/**
 * The payment service's card page: what it charges, what it shows, and what becomes of a card's number.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Charge, Invoice, Payment } from "@reprise/shop";
import { describe, expect, test } from "vitest";
import { cards, fillIn, payByCard, send, visit } from "../../../test/support/cardPage.ts";
import { list, outsideWorld, temporaryDirectory } from "./world.ts";

const reference = "reference_of_the_test-0123456789";
const pageOf = (url: string, orderId = "1001"): string =>
  `${url}/pay/${orderId}?reference=${reference}`;

const paymentsIn = (url: string) => list<Payment>(url, "/payments");

test("every order has an open invoice besides what was charged for it", async () => {
  const { url } = await outsideWorld();
  const invoices = await list<Invoice>(url, "/invoices");
  expect(invoices.map(({ orderId }) => orderId)).toEqual(["1001", "1002", "1003", "1004", "1005"]);
  for (const invoice of invoices)
    expect(invoice).toMatchObject({ status: "open", paymentId: null });
});

test("a card that is accepted pays the invoice: one payment, one charge, and the page says so", async () => {
  const { url } = await outsideWorld();
  const before = await list<Charge>(url, "/charges");
  const page = await payByCard(pageOf(url));
  expect(page.html).toContain("€4.90 for order 1001 was charged.");
  const [payment, ...others] = await paymentsIn(url);
  expect(others).toEqual([]);
  expect(payment).toMatchObject({ orderId: "1001", amount: 490, reference, card: "4242" });
  const charges = await list<Charge>(url, "/charges");
  expect(charges).toHaveLength(before.length + 1);
  expect(charges.at(-1)).toMatchObject({ reference: "invoice-1001", amount: 490, currency: "EUR" });
  const [invoice] = await list<Invoice>(url, "/invoices");
  expect(invoice).toMatchObject({ status: "paid", paymentId: payment?.id });
});

test("the same form twice, two tabs at once, and a later visit charge once and say that it is paid", async () => {
  const { url } = await outsideWorld();
  const [one, two] = [
    await fillIn(pageOf(url), cards.accepted),
    await fillIn(pageOf(url), cards.accepted),
  ];
  await Promise.all([send(one), send(two), send(one)]);
  expect((await send(two)).html).toContain("Nothing was charged now.");
  expect((await visit(pageOf(url))).html).toContain("is paid. Nothing was charged now.");
  expect(await paymentsIn(url)).toHaveLength(1);
});

test.each([
  ["a declined card", cards.declined, "The card was declined. Nothing was charged."],
  ["a card that is no test card", "5555 5555 5555 4444", "The card was declined."],
  ["a slip of the finger", "4242 4242 4242 4241", "This is no card number."],
  ["markup", '"><script>alert(1)</script>', "This is no card number."],
])(
  "%s charges nothing, is not shown again, and leaves a form that pays",
  async (_, number, words) => {
    const { url } = await outsideWorld();
    const page = await payByCard(pageOf(url), number);
    expect(page.status).toBe(422);
    expect(page.html).toContain(words);
    expect(page.html).not.toContain(number);
    expect(page.html).not.toContain("<script");
    expect(await paymentsIn(url)).toEqual([]);
    await payByCard(pageOf(url));
    expect(await paymentsIn(url)).toHaveLength(1);
  },
);

test.each([
  ["expires", "01/20", "This card has expired."],
  ["expires", "13/30", "Give the expiry as MM/YY."],
  ["code", "12", "The security code has 3 or 4 digits."],
])("%s %s charges nothing", async (field, value, words) => {
  const { url } = await outsideWorld();
  const form = await fillIn(pageOf(url), cards.accepted);
  form.fields.set(field, value);
  expect((await send(form)).html).toContain(words);
  expect(await paymentsIn(url)).toEqual([]);
});

describe("a form that the page did not make for this invoice and reference", () => {
  test.each(["", "1.AAAA", "nonsense"])("with the token %j charges nothing", async (token) => {
    const { url } = await outsideWorld();
    const form = await fillIn(pageOf(url), cards.accepted);
    form.fields.set("token", token);
    expect((await send(form)).html).toContain("This form is too old. Nothing was charged.");
    expect(await paymentsIn(url)).toEqual([]);
  });

  test.each([
    ["another invoice", (url: string) => pageOf(url, "1002")],
    ["another reference", (url: string) => `${url}/pay/1001?reference=another`],
    ["no reference", (url: string) => `${url}/pay/1001`],
  ])("but for %s charges nothing", async (_, target) => {
    const { url } = await outsideWorld();
    const { fields } = await fillIn(pageOf(url), cards.accepted);
    expect((await send({ action: target(url), fields })).status).toBe(422);
    expect(await paymentsIn(url)).toEqual([]);
  });

  test("that another site sends charges nothing", async () => {
    const { url } = await outsideWorld();
    const { action, fields } = await fillIn(pageOf(url), cards.accepted);
    const headers = { "sec-fetch-site": "cross-site" };
    await fetch(action, { method: "POST", headers, body: fields });
    expect(await paymentsIn(url)).toEqual([]);
  });
});

test.each([
  ["an invoice that is not there", "/pay/9999", 404, "There is no such invoice."],
  ["an order's name that is markup", "/pay/%3Cscript%3E", 404, "There is no such invoice."],
  ["a reference that is none", "/pay/1001?reference=%22%3E%3Cb%3E", 400, "not complete"],
  ["two references", "/pay/1001?reference=a&reference=b", 400, "not complete"],
])("%s gets a page that repeats nothing of the request", async (_, path, status, words) => {
  const { url } = await outsideWorld();
  const page = await visit(`${url}${path}`);
  expect(page.status).toBe(status);
  expect(page.html).toContain(words);
  expect(page.html).not.toMatch(/<script|<b>|9999/);
});

test("a body that is no form, or too large, gets a page and charges nothing", async () => {
  const { url } = await outsideWorld();
  const bodies = [
    { body: "x=".padEnd(10_000, "x"), type: "application/x-www-form-urlencoded", status: 413 },
    { body: "<a/>", type: "text/xml", status: 415 },
  ];
  for (const { body, type, status } of bodies) {
    const headers = { "content-type": type };
    const response = await fetch(pageOf(url), { method: "POST", headers, body });
    expect(response.status).toBe(status);
    expect(await response.text()).toContain("The form can&#39;t be read.");
  }
  expect(await paymentsIn(url)).toEqual([]);
});

test("the page loads nothing, is not stored, can't be framed and tells nobody its address", async () => {
  const { url } = await outsideWorld();
  const { headers } = await fetch(pageOf(url));
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  const policy = headers.get("content-security-policy");
  expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(policy).toContain("frame-ancestors 'none'");
});

test("what is paid stays paid over a restart, and no file has more of a card than four digits", async () => {
  const dataDir = await temporaryDirectory();
  const world = await outsideWorld(dataDir);
  await payByCard(pageOf(world.url), cards.declined);
  await payByCard(pageOf(world.url));
  const kept = await paymentsIn(world.url);
  await world.close();
  const { url } = await outsideWorld(dataDir);
  expect(await paymentsIn(url)).toEqual(kept);
  expect((await visit(pageOf(url))).html).toContain("is paid");
  for (const name of await readdir(dataDir)) {
    expect(await readFile(join(dataDir, name), "utf8")).not.toMatch(/42424|40000/);
  }
});

test("money that moved before the reply was lost is charged once when the person tries again", async () => {
  const { url } = await outsideWorld();
  const fault = { kind: "drop", path: "/pay", count: 1 };
  const headers = { "content-type": "application/json" };
  await fetch(`${url}/faults`, { method: "POST", headers, body: JSON.stringify(fault) });
  await expect(payByCard(pageOf(url))).rejects.toThrow("fetch failed");
  expect((await visit(pageOf(url))).html).toContain("is paid");
  expect(await paymentsIn(url)).toHaveLength(1);
});
