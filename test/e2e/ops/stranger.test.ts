/**
 * A stranger who has typed `npm start`, or `npm run cluster`: calls a tool in the host page, sees the question in the operators'
 * inbox and the run's timeline, answers, and sees it complete. In two tabs of Chromium, over nothing but what the start has printed.
 */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, openPage } from "../../support/chromium.ts";
import { type Hosted, openHosted } from "../host/hostPage.ts";
import { type Stage, stages } from "./support/stages.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

describe.each(Object.entries(stages))("after %s, a stranger", (_name, open) => {
  let stage: Stage;
  /** The operators' page; its link opens once. */
  let ops: Page;
  let opsUrl = "";

  beforeAll(async () => {
    stage = await open();
    ({ page: ops } = await openPage(browser));
    await ops.goto(stage.opsLink);
    await ops.getByRole("heading", { level: 1 }).waitFor();
    opsUrl = new URL(".", ops.url()).href.replace(/\/$/, "");
  }, 180_000);
  afterAll(async () => {
    await ops?.context().close();
    await stage?.stop();
  });

  /** Calls a tool and follows its question into the inbox and to its run, whose page stays open. */
  async function asked(tool: string, orderId: string): Promise<Hosted> {
    const host = await openHosted(browser, stage.hostUrl);
    await host.call(tool, { orderId });
    await host.question.waitFor();
    await ops.goto(`${opsUrl}/asks`);
    const row = ops.getByRole("row").filter({ hasText: tool });
    await row.first().waitFor();
    expect(await row.count()).toBe(1);
    await row.getByRole("link").first().click();
    await ops.getByRole("heading", { name: "What happened" }).waitFor();
    expect(await status()).toBe("waiting");
    return host;
  }

  function status(): Promise<string> {
    const fact = ops.locator(".facts > *", { hasText: /^Status/ });
    return fact.textContent().then((text) => (text ?? "").replace("Status", "").trim());
  }

  /** The open page of the run shows it by itself: nobody reloads. */
  async function becomes(ending: string): Promise<void> {
    await ops.locator(".facts").getByText(ending, { exact: true }).first().waitFor();
    await ops.goto(`${opsUrl}/asks`);
    await ops.getByText("Nobody is asked anything.").waitFor();
  }

  test("accepts a refund: the inbox shows the question, the timeline its step, and money moved once", async () => {
    const host = await asked("refund_order", "1001");
    await host.page.getByRole("radio", { name: "Yes" }).check();
    await host.button("Send this answer").click();
    await host.result(/^Refunded/).waitFor();
    await ops.getByText("refund", { exact: true }).first().waitFor();
    await becomes("completed");
    expect(await stage.books.refunds("1001")).toHaveLength(1);
    expect(host.problems).toEqual([]);
    expect(host.strangers).toEqual([]);
  });

  test("declines and cancels refunds: both are completed runs that moved nothing", async () => {
    for (const [orderId, button] of [
      ["1002", "Decline"],
      ["1003", "Cancel"],
    ] as const) {
      const host = await asked("refund_order", orderId);
      await host.button(button).click();
      await host.result("Nothing was refunded.").waitFor();
      await becomes("completed");
      expect(await stage.books.refunds(orderId)).toEqual([]);
    }
  });

  test("pays on the payment service's own page: the run waits meanwhile, and completes", async () => {
    const host = await asked("pay_invoice", "1001");
    const [card] = await Promise.all([
      host.context.waitForEvent("page"),
      host.button("Open the page in a new tab").click(),
    ]);
    await card.locator("[name=number]").fill("4242 4242 4242 4242");
    await card.locator("[name=expires]").fill(`12/${new Date().getUTCFullYear() + 1}`);
    await card.locator("[name=code]").fill("123");
    expect(await status()).toBe("waiting");
    await card.locator("button").click();
    await card.getByText("We have received").waitFor();
    await host.button("I have been there: tell the server").click();
    await host.result(/^Paid €/).waitFor();
    await becomes("completed");
    expect(await stage.books.payments("1001")).toHaveLength(1);
  });
});
