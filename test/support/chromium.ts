/**
 * Real Chromium for tests of pages, driven by playwright-core (whose home is `test`): Debian's, never one that a
 * package downloads.
 *
 * 1. One that is missing is an error that says how to get it, never a skipped test.
 * 2. A browser has a profile of its own, asks nobody on the network by itself, and is gone with the test or file that
 *    started it. A page may reach loopback only: whatever else it asks for fails, and `strangers` tells of it.
 * 3. What a page says on its console as an error, or throws, is kept in `problems`: a test ends with none, or names them.
 */
import { existsSync } from "node:fs";
import axe from "axe-core";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { commandPath } from "./config.ts";

/** How a page is shown. */
export interface PageLook {
  /** Default `{ width: 1280, height: 900 }`. */
  readonly viewport?: { readonly width: number; readonly height: number };
  /** What the system prefers. Default `light`. */
  readonly colorScheme?: "light" | "dark";
}

/** A tab in a profile of its own, and what went wrong in it. */
export interface OpenPage {
  readonly page: Page;
  /** The profile: further tabs of it share its storage. */
  readonly context: BrowserContext;
  /** Errors on the console and errors that nobody caught, as text; the tabs that the page opened included. */
  readonly problems: readonly string[];
  /** Addresses off loopback that the page asked for. They got no answer. */
  readonly strangers: readonly string[];
}

/** Runs as root and in a container without a sandbox of its own; every service that calls home is off. */
const flags: readonly string[] = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Starts a headless browser. Close it in `afterAll`, or with `onTestFinished`. */
export async function launchChromium(): Promise<Browser> {
  return await chromium.launch({
    executablePath: chromiumPath(),
    headless: true,
    args: [...flags],
    // The test decides when it ends; a signal ends the test first.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

/** Opens an empty tab in a new profile, which no other test's page shares. */
export async function openPage(browser: Browser, look: PageLook = {}): Promise<OpenPage> {
  const { viewport = { width: 1280, height: 900 }, colorScheme = "light" } = look;
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  const problems: string[] = [];
  const strangers: string[] = [];
  await context.route(
    (url) => !isLoopback(url.hostname),
    async (route) => {
      strangers.push(route.request().url());
      await route.abort();
    },
  );
  context.on("weberror", (webError) => problems.push(String(webError.error())));
  context.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  return { page: await context.newPage(), context, problems, strangers };
}

/** A finding of axe that a page must not have. */
export interface Finding {
  /** axe's rule, such as `color-contrast`. */
  readonly rule: string;
  readonly impact: string;
  /** The elements, as CSS selectors. */
  readonly at: readonly string[];
  readonly help: string;
}

/** Serious and critical findings of axe on what the page shows now. Run in the debugger's world: the page's CSP stays as it is. */
export async function seriousFindings(page: Page): Promise<readonly Finding[]> {
  const session = await page.context().newCDPSession(page);
  try {
    const evaluate = async (expression: string): Promise<unknown> => {
      const { result, exceptionDetails } = await session.send("Runtime.evaluate", {
        expression,
        awaitPromise: true,
        returnByValue: true,
      });
      if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
      return result.value;
    };
    await evaluate(`${axe.source}; undefined`);
    const found = (await evaluate(
      "axe.run(document).then(({ violations }) => violations.map((each) => ({ rule: each.id, impact: each.impact, help: each.help, at: each.nodes.map(({ target }) => target.join(' ')) })))",
    )) as readonly Finding[];
    return found.filter(({ impact }) => impact === "serious" || impact === "critical");
  } finally {
    await session.detach();
  }
}

/** @throws Error when Chromium is not installed */
function chromiumPath(): string {
  const folders = [...commandPath.split(":"), "/usr/bin"];
  const found = folders
    .map((folder) => `${folder}/chromium`)
    .find((candidate) => existsSync(candidate));
  if (found !== undefined) return found;
  throw new Error(
    "Chromium is missing, and pages are tested in a real one: apt-get install chromium",
  );
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "127.0.0.1" || hostname === "[::1]";
}
