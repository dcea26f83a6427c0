/**
 * The gates of the host page before a server that asks everything: forms of all kinds of fields, addresses that deceive, folders,
 * log lines and progress; and answers that are left, refused or never given.
 */

import type { Browser } from "playwright-core";
import { defineServer, tool } from "reprise";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { launchChromium, seriousFindings } from "../../support/chromium.ts";
import { callsOnWire, type HostShop, openHosted, openHostShop, picture } from "./hostPage.ts";

let browser: Browser;
let shop: HostShop;

const everyField = z.object({
  mail: z.email().describe("Where to"),
  site: z.url().optional(),
  day: z.iso.date(),
  moment: z.iso.datetime().optional(),
  count: z.int().min(1).max(5).default(2),
  rate: z.number().optional(),
  sure: z.boolean().default(true),
  size: z.enum(["small", "large"]).default("large"),
  colours: z
    .array(z.enum(["red", "green", "blue"]))
    .min(1)
    .max(2),
  code: z.string().min(3).max(5).default("abcd"),
});

const asker = defineServer({
  name: "asker",
  tools: [
    tool({
      name: "fill_in",
      description: "Asks for a form",
      effects: "repeatable",
      input: z.object({}),
      handler: async (_args, ctx) => JSON.stringify(await ctx.elicit("Tell\u202e me.", everyField)),
    }),
    tool({
      name: "visit",
      description: "Asks for a visit",
      effects: "repeatable",
      input: z.object({ url: z.string() }),
      handler: async ({ url }, ctx) => (await ctx.elicitUrl("Go there.", url)).action,
    }),
    tool({
      name: "folders",
      description: "Asks for folders",
      effects: "repeatable",
      input: z.object({}),
      handler: async (_args, ctx) => JSON.stringify(await ctx.listRoots()),
    }),
    tool({
      name: "work",
      description: "Says how far it is",
      effects: "repeatable",
      input: z.object({ nested: z.object({ deep: z.string() }) }),
      async handler({ nested }, ctx) {
        ctx.log("warning", "The oven is hot");
        ctx.progress(3, 4, "nearly");
        return nested.deep;
      },
    }),
    tool({
      name: "wait",
      description: "Comes to no end by itself",
      effects: "repeatable",
      input: z.object({}),
      handler: (_args, ctx) =>
        new Promise((_resolve, reject) => {
          ctx.signal.addEventListener("abort", () => reject(new Error("stopped")));
        }),
    }),
  ],
});

beforeAll(async () => {
  [browser, shop] = await Promise.all([launchChromium(), openHostShop(asker)]);
}, 120_000);

afterAll(async () => {
  await browser.close();
  await shop.close();
});

describe.each(["2026-07-28", "2025-11-25"] as const)("on revision %s", (revision) => {
  const isModern = revision === "2026-07-28";

  test("a form shows the defaults, says what is wrong field by field, and sends what was typed", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    await host.call("fill_in");
    await host.question.getByText("Tell\\u{202e} me.").waitFor();
    const { page } = host;
    expect(await page.getByLabel("count").inputValue()).toBe("2");
    expect(await page.getByLabel("size").inputValue()).toBe("large");
    expect(await page.getByLabel("code").inputValue()).toBe("abcd");
    expect(await page.getByRole("radio", { name: "Yes" }).isChecked()).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);

    await page.getByLabel("mail").fill("nobody");
    await page.getByLabel("count").fill("6");
    const before = shop.wire.messages.length;
    await host.button("Send this answer").click();
    for (const problem of [
      "an e-mail address is expected",
      "a value is required",
      "at most 5",
      "at least 1 of the options",
    ]) {
      await host.question.getByText(problem, { exact: true }).waitFor();
    }
    await picture(page, `problems-${revision}`);
    expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true");
    // The server may have told that it is still there.
    expect(shop.wire.messages.slice(before).filter(({ from }) => from === "client")).toEqual([]);

    await page.getByLabel("mail").fill("ada@example.com");
    await page.getByLabel("day").fill("2026-12-24");
    await page.getByLabel("count").fill("5");
    await page.getByRole("radio", { name: "No", exact: true }).check();
    await page.getByLabel("red").check();
    await page.getByLabel("blue").check();
    await host.button("Send this answer").click();
    await host.result('"action":"accept"').waitFor();
    expect(JSON.parse((await page.locator(".result").textContent()) ?? "")).toEqual({
      action: "accept",
      content: {
        ...{ mail: "ada@example.com", day: "2026-12-24", count: 5, sure: false },
        ...{ size: "large", colours: ["red", "blue"], code: "abcd" },
      },
    });
  });

  test("folders are what the person wrote, and refusing them is told the server where there are words for it", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    await host.call("folders");
    const folders = host.page.getByLabel(/^Folders, one a line/);
    await folders.fill("https://example.com/");
    await host.button("Send these folders").click();
    await host.page.getByText("is no file:// address").waitFor();
    await folders.fill("file:///home/me/a\n\nfile:///home/me/b");
    await host.button("Send these folders").click();
    await host.result("file:///home/me/b").waitFor();

    await host.call("folders");
    const before = shop.wire.messages.length;
    await host.button(/^Refuse/).click();
    await host.page
      .getByRole("heading", { name: isModern ? "You refused" : "The tool failed" })
      .waitFor();
    expect(JSON.stringify(callsOnWire(shop.wire, before)).includes('"code":-1')).toBe(!isModern);
  });

  test("log lines and progress are shown, and arguments that no form can show are written as JSON", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    await host.call("work");
    const json = host.page.getByLabel("Arguments, as JSON");
    await json.fill("[1]");
    await host.button("Call").click();
    await host.page.getByText("This is no JSON object.").waitFor();
    await json.fill('{"nested":{"deep":"down"}}');
    await host.button("Call").click();
    await host.result("down").waitFor();
    await host.page.getByRole("list", { name: "Log" }).getByText("The oven is hot").waitFor();
    await host.page.getByText("Progress: 3 of 4, nearly").waitFor();
  });

  test("a call that comes to no end is stopped", async () => {
    const host = await openHosted(browser, shop.hostUrl);
    if (!isModern) await host.era(revision);
    await host.call("wait");
    await host.button("Stop this call").click();
    await host.page.getByRole("heading", { name: "Stopped" }).waitFor();
    expect(await host.button("Call").isEnabled()).toBe(true);
  });
});

test("an address is shown whole, its real host set apart, with a warning for punycode", async () => {
  const host = await openHosted(browser, shop.hostUrl);
  await host.call("visit", { url: "https://xn--80ak6aa4i.example/apple.com?a=1" });
  await host.question.waitFor();
  expect(await host.page.locator(".address mark").textContent()).toBe("xn--80ak6aa4i.example");
  await host.question.getByText(/punycode/).waitFor();
  await picture(host.page, "punycode");
  expect(await seriousFindings(host.page)).toEqual([]);
  await host.button("Decline").click();
  await host.result("decline").waitFor();
  // Neither looked up nor fetched: it was never asked for.
  expect(host.strangers).toEqual([]);
});
