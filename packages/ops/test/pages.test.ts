/**
 * The pages in real Chromium (of the project `e2e`: a browser takes seconds to start): what they show, by mouse, by keys alone, on a phone, in the dark, with nothing in it and with the
 * store away.
 *
 * Screenshots of every page are left in the system's temporary folder, for whoever changes how they look.
 */
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { RepriseError } from "@reprise/errors";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  launchChromium,
  openPage,
  type PageLook,
  seriousFindings,
} from "../../../test/support/chromium.ts";
import { type Dashboard, openDashboard } from "./support/dashboard.ts";
import { filledDashboard } from "./support/filled.ts";
import { recordOf, secret } from "./support/runs.ts";

const shots = path.join(tmpdir(), "reprise-ops-pages");
let browser: Browser;
beforeAll(async () => {
  await mkdir(shots, { recursive: true });
  browser = await launchChromium();
});
afterAll(() => browser.close());

/** Every page, with a word that is on it once it is there. */
const places: readonly (readonly [name: string, place: string, word: string])[] = [
  ["overview", "/", "Throughput"],
  ["asks", "/asks", "order-desk"],
  ["attention", "/attention", "send_invoice"],
  ["runs", "/runs", "refund_order"],
  ["run", "/runs/r-parked", "What happened"],
  ["waiting", "/runs/r-waiting-0", "What happened"],
  ["find", "/find", "Idempotency records"],
  ["queues", "/queues", "taking jobs"],
  ["instances", "/instances", "worker-1"],
  ["keys", "/keys", "sealing"],
  ["audit", "/audit", "Audit log"],
];

interface Visit {
  readonly page: Page;
  readonly problems: readonly string[];
  readonly strangers: readonly string[];
  go(place: string): Promise<void>;
}

/** A person who has signed in. */
async function visit(
  dashboard: Dashboard,
  look: PageLook = {},
  role: "operator" | "viewer" = "operator",
): Promise<Visit> {
  const url = await dashboard.listen();
  const { page, problems, strangers } = await openPage(browser, look);
  await page.goto(`${url}/ops/${dashboard.linkFor(role)}`);
  await page.waitForURL(`${url}/ops/`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return {
    page,
    problems,
    strangers,
    async go(place) {
      await page.goto(`${url}/ops${place}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    },
  };
}

async function shot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
}

const looks: readonly (readonly [string, PageLook])[] = [
  ["wide", {}],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 375, height: 740 } }],
];

describe.each(looks)("every page, %s,", (lookName, look) => {
  test("is there, fits the window, and has no serious finding of axe", async () => {
    const { page, go, problems, strangers } = await visit(await filledDashboard(), look);
    for (const [name, place, word] of places) {
      await go(place);
      await page.getByText(word).first().waitFor();
      await shot(page, `${name}-${lookName}`);
      expect(await seriousFindings(page), name).toEqual([]);
      const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect(overflow, `${name} is wider than the window`).toBeLessThanOrEqual(0);
      expect(await page.content()).not.toContain(secret);
    }
    expect(problems).toEqual([]);
    expect(strangers).toEqual([]);
  });
});

describe("a person", () => {
  test("signs in only with the link, and sees a page without a script before", {
    timeout: 60_000,
  }, async () => {
    const dashboard = await filledDashboard();
    const url = await dashboard.listen();
    const { page, problems } = await openPage(browser);
    await page.goto(`${url}/ops/runs`);
    await page.getByText("opens with a link").waitFor();
    await shot(page, "signin");
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("button", { name: "Print a new link there" }).click();
    await page.getByText("A new link is in the terminal").waitFor();
    await page.goto(`${url}/ops/${dashboard.printed[0]}`);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(problems).toEqual([]);
  });

  test("finds a run by filter, looks at its values, and cancels it: all by keys", {
    timeout: 60_000,
  }, async () => {
    const dashboard = await filledDashboard();
    const { page, problems } = await visit(dashboard);
    const press = async (name: string, times = 40): Promise<void> => {
      for (let at = 0; at < times; at += 1) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate("document.activeElement?.textContent ?? ''");
        if (String(focused).trim().startsWith(name)) return await page.keyboard.press("Enter");
      }
      throw new Error(`no Tab leads to ${name}`);
    };
    await press("Asks");
    await page.getByRole("heading", { name: "Open questions" }).waitFor();
    await page.getByText("order-desk").first().waitFor();
    await press("r-waiting");
    await page.getByRole("heading", { name: "What happened" }).waitFor();
    await press("Reveal all values");
    await page.getByText(secret).first().waitFor();
    await press("Cancel");
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    // The dialog gave the focus back to its button.
    await page.keyboard.press("Enter");
    await dialog.waitFor();
    await shot(page, "dialog");
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByLabel("Reason, for the caller").focus();
    await page.keyboard.type("not wanted");
    await page.keyboard.press("Enter");
    await page.getByText("Cancel: done. It is cancelled now.").waitFor();
    expect(dashboard.told.at(-1)).toMatch(/^cancel r-waiting-\d not wanted$/);
    expect(problems).toEqual([]);
  });

  test("sees which step is in doubt, and when, before any button that acts", {
    timeout: 60_000,
  }, async () => {
    const { page, go } = await visit(await filledDashboard());
    await go("/runs/r-parked");
    // Windows on several runs are told apart.
    await expect.poll(() => page.title()).toMatch(/^\S+ r-parked - Run - Reprise$/);
    const doubt = page.locator(".notice", { hasText: "May or may not have happened" });
    await doubt.waitFor();
    const text = (await doubt.textContent()) ?? "";
    expect(text).toContain("send mail");
    // A touch screen shows no titles.
    expect(text).toMatch(/\d{1,2}:\d{2}:\d{2}/);
    const above = await doubt.boundingBox();
    const button = await page.getByRole("button", { name: "Release" }).boundingBox();
    expect(above?.y ?? Infinity).toBeLessThan(button?.y ?? 0);
  });

  test("sees in the inbox who waits longest first, and the newest first when asked for", {
    timeout: 60_000,
  }, async () => {
    const { page, go } = await visit(await filledDashboard());
    const openSince = async (): Promise<readonly number[]> => {
      const since = page.locator("tbody tr").locator("time").nth(0);
      await since.waitFor();
      const rows = await page.locator("tbody tr").all();
      return await Promise.all(
        rows.map(async (row) =>
          Date.parse((await row.locator("time").first().getAttribute("datetime")) ?? ""),
        ),
      );
    };
    await go("/asks");
    const longest = await openSince();
    expect(longest.length).toBeGreaterThan(1);
    expect(longest).toEqual(longest.toSorted((one, other) => one - other));
    await page.getByRole("link", { name: "Newest change first" }).click();
    await page.waitForURL(/order=newest/);
    const newest = longest.toReversed();
    await expect.poll(openSince).toEqual(newest);
  });

  test("sees an alarm on the overview in its colour, though it is a link", {
    timeout: 60_000,
  }, async () => {
    const { page } = await visit(await filledDashboard());
    const tile = page.locator(".tiles > div", { hasText: "Needs attention" });
    const alarm = tile.locator("dd.bad");
    await alarm.waitFor();
    const colour = "getComputedStyle(document.querySelector('.tiles dd.bad')).color";
    const linked = "getComputedStyle(document.querySelector('.tiles dd.bad a')).color";
    expect(await page.evaluate(linked)).toBe(await page.evaluate(colour));
  });

  test("who is a viewer sees no button that acts and no value", async () => {
    const { page, go } = await visit(await filledDashboard(), {}, "viewer");
    for (const [, place, word] of places) {
      await go(place);
      await page.getByText(word).first().waitFor();
      const names = await page.getByRole("button").allTextContents();
      expect(names.filter((name) => !["Sign out", "Show", "Find"].includes(name))).toEqual([]);
    }
  });

  test("sees a change without touching the page", async () => {
    const dashboard = await filledDashboard();
    const { page, go } = await visit(dashboard);
    await go("/asks");
    await page.getByText("order-desk").first().waitFor();
    await dashboard.history.record(dashboard.waiting("r-brand-new"));
    await page.getByText("r-brand-new").first().waitFor();
  });

  test("sees it also when a proxy had answered for a server that was away", async () => {
    const dashboard = await filledDashboard();
    const { page, go } = await visit(dashboard);
    let refused = 0;
    await page.route("**/ops/api/live", async (route) => {
      refused += 1;
      if (refused === 1) await route.fulfill({ status: 502, body: "Bad Gateway" });
      else await route.continue();
    });
    await go("/asks");
    await page.getByText("order-desk").first().waitFor();
    await expect.poll(() => refused, { timeout: 30_000 }).toBe(2);
    await dashboard.history.record(dashboard.waiting("r-brand-new"));
    await page.getByText("r-brand-new").first().waitFor();
  });

  test("cancels all that match, and is told how many", async () => {
    const dashboard = await filledDashboard();
    const { page, go } = await visit(dashboard);
    await go("/runs?status=waiting");
    await page.getByRole("button", { name: "Cancel all that match" }).click();
    await page.getByRole("button", { name: "Cancel them" }).click();
    await page.getByText("3 cancelled").waitFor();
    expect(dashboard.told.filter((words) => words.startsWith("cancel"))).toHaveLength(3);
  });

  test("pauses a queue and revokes a key, told before what clients will get", {
    timeout: 60_000,
  }, async () => {
    const dashboard = await filledDashboard();
    const { page, go } = await visit(dashboard);
    await go("/queues");
    await page.getByRole("button", { name: "Pause mail" }).click();
    await page.getByRole("dialog").getByText("nothing is lost").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Pause" }).click();
    await page.getByText("paused", { exact: true }).first().waitFor();
    await go("/keys");
    await page.getByRole("button", { name: "Revoke k-2" }).click();
    await page.getByRole("dialog").getByText("has to call anew").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("Revoke: done.").waitFor();
    expect(dashboard.told).toEqual(["pause mail", "revoke k-2"]);
  });

  test("is led from a key to its run, and told when there is none", {
    timeout: 60_000,
  }, async () => {
    const { page, go } = await visit(await filledDashboard());
    await go("/find");
    await page.getByLabel("Tool").fill("refund");
    await page.getByLabel("Key", { exact: true }).fill("order-8");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("No run holds this key").waitFor();
    await page.getByLabel("Key", { exact: true }).fill("order-7");
    await page.getByRole("button", { name: "Find" }).click();
    await page.getByText("The key leads to run").waitFor();
  });
});

describe("a page with nothing to show", () => {
  test("says so in words, on every page", async () => {
    const { page, go, problems } = await visit(await openDashboard());
    for (const [place, word] of [
      ["/asks", "Nobody is asked anything."],
      ["/attention", "Nothing needs attention."],
      ["/runs", "No run fits."],
      ["/instances", "No instance has said"],
      ["/audit", "Nobody has acted yet."],
      ["/nowhere", "There is no such page."],
    ] as const) {
      await go(place);
      await page.getByText(word).waitFor();
      expect(await seriousFindings(page)).toEqual([]);
    }
    await go("/");
    await page.getByText("none waits").waitFor();
    await shot(page, "empty");
    expect(problems).toEqual([]);
  });

  test("says that there is no such run", async () => {
    const { page, go } = await visit(await openDashboard());
    await go("/runs/none");
    await page.getByRole("alert").getByText("There is no such run").waitFor();
  });
});

test("a store that goes away leaves what was there, says so, and is back by itself", {
  timeout: 60_000,
}, async () => {
  const dashboard = await filledDashboard();
  const { page, go } = await visit(dashboard);
  await go("/runs");
  await page.getByText("refund_order").first().waitFor();
  dashboard.fail(new RepriseError("STORE_UNAVAILABLE", "The store can't be reached."));
  await page.getByText("What you see may be old").waitFor();
  await page.getByRole("alert").getByText("STORE_UNAVAILABLE").waitFor();
  expect(await page.getByText("refund_order").count()).toBeGreaterThan(0);
  await shot(page, "away");
  expect(await seriousFindings(page)).toEqual([]);
  dashboard.fail(undefined);
  await page.getByText("What you see may be old").waitFor({ state: "hidden" });
  await page.getByRole("alert").waitFor({ state: "hidden" });
});

test("a person whose session has ended is led to the sign-in page", {
  timeout: 60_000,
}, async () => {
  const dashboard = await filledDashboard();
  dashboard.records.set("r-1", recordOf("r-1"));
  const { page } = await visit(dashboard);
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("opens with a link").waitFor();
  await page.goBack();
  await page.getByText("opens with a link").waitFor();
});
