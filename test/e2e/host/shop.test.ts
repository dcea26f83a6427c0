/**
 * A person in front of the shop's host page: calls, questions, answers, in Chromium; counted in the books of the payment service
 * and the mail log, and on the wire.
 */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, seriousFindings } from "../../support/chromium.ts";
import { startShop } from "../../support/shopProcess.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { callsOnWire, type HostShop, openHosted, openHostShop, picture } from "./hostPage.ts";

let browser: Browser;

beforeAll(async () => {
  browser = await launchChromium();
}, 120_000);

afterAll(() => browser.close());

describe.each(["2026-07-28", "2025-11-25"] as const)("on revision %s", (revision) => {
  const isModern = revision === "2026-07-28";
  let shop: HostShop;
  beforeAll(async () => {
    shop = await openHostShop();
  }, 120_000);
  afterAll(() => shop.close());

  const [declined, accepted, cancelled] = ["1001", "1002", "1003"] as const;

  test("a refund that is declined moves nothing, and the page shows the four messages that the wire had", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    const before = shop.wire.messages.length;
    await host.call("refund_order", { orderId: declined });
    await host.question.waitFor();
    expect(await host.question.textContent()).toContain(new URL(shop.wire.url).origin);
    expect(await host.question.textContent()).toContain("refund_order");
    await picture(host.page, `question-${revision}`);
    expect(await seriousFindings(host.page)).toEqual([]);
    await host.button("Decline").click();
    await host.result("Nothing was refunded.").waitFor();

    const wire = callsOnWire(shop.wire, before);
    // A call that is held open says now and then that it still is.
    const heartbeats = wire.filter(({ method }) => method === "notifications/progress").length;
    expect(wire).toHaveLength(4 + heartbeats);
    expect(isModern ? heartbeats : 0).toBe(0);
    expect(await host.count()).toBe(`${wire.length} messages in 2 HTTP requests`);
    const shown = await host.page.locator(".scroll .passage > details > pre").allTextContents();
    expect(shown).toHaveLength(wire.length);
    for (const [index, body] of wire.entries()) {
      const { id, method } = body;
      expect(JSON.parse(shown[index] ?? "")).toMatchObject(
        method === undefined ? { id } : { id, method },
      );
    }
    expect((await host.titles()).filter((title) => title !== "Progress")).toEqual(
      isModern
        ? [
            "Calls the tool",
            "The server asks, and the request is over",
            "The same call again, with the answers",
            "The result",
          ]
        : [
            "Calls the tool",
            "The server asks, while the call stays open",
            "The person's answer",
            "The result",
          ],
    );
    expect(await shop.refunds(declined)).toEqual([]);
    expect(host.problems).toEqual([]);
    expect(host.strangers).toEqual([]);
  });

  test("a refund that is accepted moves money once and mails once; no Enter anywhere accepts it", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    await host.call("refund_order", { orderId: accepted });
    await host.question.waitFor();
    // The focus is on the heading: what was typed ahead reaches no button.
    expect(await host.page.evaluate("document.activeElement.id")).toBe("question-title");
    await host.page.keyboard.press("Enter");
    await host.page.getByRole("radio", { name: "Yes" }).focus();
    await host.page.keyboard.press("Space");
    await host.page.keyboard.press("Enter");
    await host.button("Send this answer").focus();
    await host.page.keyboard.press("Enter");
    expect(await host.question.isVisible()).toBe(true);
    expect(await shop.refunds(accepted)).toEqual([]);

    await host.page.keyboard.press("Space");
    await host.result(/^Refunded €/).waitFor();
    expect(await shop.refunds(accepted)).toHaveLength(1);
    const [order] = (await shop.orders()).filter(({ id }) => id === accepted);
    const receipts = (await shop.mails(order?.email ?? "")).filter(({ subject }) =>
      subject.includes(accepted),
    );
    expect(receipts).toHaveLength(1);
    await picture(host.page, `done-${revision}`);
    await host.button("Call again with the same key").waitFor();

    // The same call under the same key joins the one that is over.
    await host.button("Call again with the same key").click();
    await host.result(/^Refunded €/).waitFor();
    expect(await shop.refunds(accepted)).toHaveLength(1);
  });

  test("cancel is an answer of its own, and an empty form is not sent", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    const before = shop.wire.messages.length;
    await host.call("refund_order", { orderId: cancelled });
    await host.button("Send this answer").click();
    await host.page.getByText("Nothing was sent: one field is").waitFor();
    expect(callsOnWire(shop.wire, before)).toHaveLength(2);
    await host.button("Cancel").click();
    await host.result("Nothing was refunded.").waitFor();
    const answer = JSON.stringify(callsOnWire(shop.wire, before)[2]);
    expect(answer).toContain('"action":"cancel"');
    expect(await shop.refunds(cancelled)).toEqual([]);
  });

  test("an invoice is paid on the page of its question, which opens after a yes and not before", async () => {
    const order = "1001";
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    const visited: string[] = [];
    host.context.on("request", (request) => visited.push(request.url()));
    await host.call("pay_invoice", { orderId: order });
    await host.question.waitFor();
    const address = (await host.page.locator(".address").textContent()) ?? "";
    expect(address).toContain(`/pay/${order}?reference=`);
    expect(await host.page.locator(".address mark").textContent()).toBe(new URL(address).host);
    await picture(host.page, `url-${revision}`);
    await host.button("Open the page in a new tab").focus();
    await host.page.keyboard.press("Enter");
    expect(visited.filter((url) => url.includes("/pay/"))).toEqual([]);
    expect(host.context.pages()).toHaveLength(1);

    const [card] = await Promise.all([
      host.context.waitForEvent("page"),
      host.button("Open the page in a new tab").click(),
    ]);
    await card.waitForLoadState();
    expect(card.url()).toBe(address);
    expect(await card.evaluate("window.opener === null && document.referrer === ''")).toBe(true);
    await card.locator("[name=number]").fill("4242 4242 4242 4242");
    await card.locator("[name=expires]").fill(`12/${new Date().getUTCFullYear() + 1}`);
    await card.locator("[name=code]").fill("123");
    await card.locator("button").click();
    await card.getByText("We have received").waitFor();
    await card.close();

    await host.button("I have been there: tell the server").click();
    await host.result(new RegExp(`^Paid €.* for order ${order}`)).waitFor();
    expect(await shop.payments(order)).toHaveLength(1);
    expect(host.problems).toEqual([]);
  });

  test("a model's answer is written by the person, and goes out as it was last edited", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    const before = shop.wire.messages.length;
    await host.call("summarize_orders");
    await host.question.waitFor();
    expect(await host.question.textContent()).toContain("No model is connected to this page");
    expect(await host.page.getByLabel("The prompt, to change as you like").inputValue()).toContain(
      "Summarize these orders",
    );
    await host.button("Send this answer").click();
    await host.page.getByText("Write an answer, or refuse.").waitFor();
    const answer = host.page.getByLabel("The answer that will be sent");
    await answer.fill("A first try.");
    await answer.fill("Business is good.");
    await picture(host.page, `sample-${revision}`);
    expect(await seriousFindings(host.page)).toEqual([]);
    await host.button("Send this answer").click();
    await host.result("Business is good.").waitFor();
    const sent = JSON.stringify(callsOnWire(shop.wire, before));
    expect(sent).toContain("a person");
    expect(sent).not.toContain("A first try.");
  });
});

describe("without any choice of a revision", () => {
  let shop: HostShop;
  beforeAll(async () => {
    shop = await openHostShop();
  }, 120_000);
  afterAll(() => shop.close());

  test("a call that is left is there after a reload, with the same question and the messages that it had", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    const before = shop.wire.messages.length;
    await host.call("delete_folder", { path: "build/" });
    await host.question.getByText("Delete build/?").waitFor();
    await host.page.reload();
    await host.page.getByText("Calls that you left").waitFor();
    await picture(host.page, "left");
    expect(await seriousFindings(host.page)).toEqual([]);
    await host.button("Go on with it").click();
    await host.question.getByText("Delete build/?").waitFor();
    expect(await host.count()).toBe("2 messages in 1 HTTP request");

    await host.button("Answer later").click();
    await host.page.getByRole("heading", { name: "Left for later" }).waitFor();
    expect(callsOnWire(shop.wire, before)).toHaveLength(2);
    await host.button("Go on with it").click();
    await host.page.getByRole("radio", { name: "No" }).check();
    await host.button("Send this answer").click();
    await host.result("Kept build/").waitFor();
    expect(await host.count()).toBe("4 messages in 2 HTTP requests");
    expect(callsOnWire(shop.wire, before)).toHaveLength(4);
    await host.page.reload();
    await host.page.getByText(/revision 2026-07-28\./).waitFor();
    expect(await host.page.getByText("Calls that you left").count()).toBe(0);
  });

  test("on a phone and in the dark the page is one column without a serious finding of axe", async () => {
    const phone = { width: 390, height: 844 };
    const host = await openHosted(browser, shop.hostUrl, { viewport: phone, colorScheme: "dark" });
    await host.page.getByText(/revision 2026-07-28\./).waitFor();
    await picture(host.page, "phone-start");
    expect(await seriousFindings(host.page)).toEqual([]);
    await host.call("book_trip", { city: "Lisbon" });
    await host.question.waitFor();
    await picture(host.page, "phone-form");
    expect(await seriousFindings(host.page)).toEqual([]);
    const width = await host.page.evaluate("document.documentElement.scrollWidth");
    expect(width).toBeLessThanOrEqual(phone.width);
  });
});

test("what npm start prints leads to the page, and a shop that is gone is said to be gone", async () => {
  const folder = await temporaryFolder();
  const started = await startShop(folder);
  const host = /^ {2}(http:\S+\/host\/)$/m.exec(started.printed())?.[1] ?? "";
  const page = await openHosted(browser, host);
  await page.page.getByText(/revision 2026-07-28\./).waitFor();
  await started.kill();
  await page.call("delete_folder", { path: "build/" });
  await page.page.getByRole("alert").getByText("SERVER_UNREACHABLE").waitFor({ timeout: 60_000 });
  expect(await page.page.getByText("What to do:").count()).toBe(1);
  await picture(page.page, "gone");
  expect(await seriousFindings(page.page)).toEqual([]);

  await page.page.getByRole("radio", { name: "2025-11-25" }).check();
  await page.page.getByRole("heading", { name: "The server can't be reached" }).waitFor({
    timeout: 60_000,
  });
  await picture(page.page, "cant-connect");
  expect(await seriousFindings(page.page)).toEqual([]);
});
