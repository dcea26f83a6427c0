/**
 * The shop with its host page in a real Chromium, and the wire between them: what the page says it saw is compared with what a
 * proxy saw, and what happened is counted in the books of the outside world.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type AcceptedMail,
  createMail,
  createPayments,
  createShop,
  type Order,
  openShopPage,
  type Payment,
  type Refund,
  seedScratch,
  startOutsideWorld,
} from "@reprise/shop";
import type { Browser, Locator, Page } from "playwright-core";
import { type Server, serve } from "reprise";
import { onTestFinished } from "vitest";
import { type OpenPage, openPage, type PageLook } from "../../support/chromium.ts";
import { type RecordingProxy, recordingProxy } from "../../support/recordingProxy.ts";

/** A shop that is served for the tests of one file. */
export interface HostShop {
  /** The host page, without a trailing slash. */
  readonly hostUrl: string;
  readonly pageUrl: string;
  /** Between page and MCP endpoint. */
  readonly wire: RecordingProxy;
  refunds(orderId: string): Promise<readonly Refund[]>;
  payments(orderId: string): Promise<readonly Payment[]>;
  orders(): Promise<readonly Order[]>;
  mails(to: string): Promise<readonly AcceptedMail[]>;
  close(): Promise<void>;
}

/** Serves the shop, or `other` in its place on the same page. */
export async function openHostShop(other?: Server): Promise<HostShop> {
  const folder = await mkdtemp(path.join(tmpdir(), "reprise-host-"));
  const page = await openShopPage({ port: 0 });
  const outside = await startOutsideWorld({
    port: 0,
    smtpPort: 0,
    dataDir: path.join(folder, "shop"),
    merchantUrl: page.url,
  });
  const payments = createPayments(outside.url);
  const mail = createMail({ smtpPort: outside.smtpPort, logUrl: outside.url });
  const scratchDir = path.join(folder, "scratch");
  await seedScratch(scratchDir);
  const server = other ?? createShop({ payments, mail, scratchDir });
  const mcp = await serve(server, { port: 0, dataDir: path.join(folder, "data") });
  const wire = await recordingProxy(mcp.url);
  page.serve({ server, payments, mcpUrl: wire.url });
  const read = async <T>(what: string): Promise<readonly T[]> => {
    const response = await fetch(new URL(what, outside.url));
    return (await response.json()) as T[];
  };
  return {
    hostUrl: new URL("host/", page.url).href,
    pageUrl: page.url,
    wire,
    refunds: (orderId) => read<Refund>(`/refunds?orderId=${orderId}`),
    orders: () => read<Order>("/orders"),
    payments: (orderId) => read<Payment>(`/payments?orderId=${orderId}`),
    mails: async (to) =>
      (await read<AcceptedMail>("/mails")).filter((accepted) => accepted.to.includes(to)),
    async close() {
      await wire.close();
      await mcp.close();
      await outside.close();
      await page.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The host page as a person uses it. */
export interface Hosted extends OpenPage {
  /** Chooses the revision; the page connects anew. */
  era(revision: "2026-07-28" | "2025-11-25"): Promise<void>;
  /** Picks a tool, fills in its arguments by their labels, and calls it. */
  call(tool: string, args?: Readonly<Record<string, string>>): Promise<void>;
  /** The question before the person. */
  readonly question: Locator;
  button(name: string | RegExp): Locator;
  /** What the tool answered. */
  result(text: string | RegExp): Locator;
  /** The count that the page shows. */
  count(): Promise<string>;
  /** The headings of the messages that the page shows of the call, in their order. */
  titles(): Promise<readonly string[]>;
}

/** Opens the page, connected; closed with the test. */
export async function openHosted(
  browser: Browser,
  url: string,
  look: PageLook = {},
): Promise<Hosted> {
  const opened = await openPage(browser, look);
  onTestFinished(() => opened.context.close());
  await opened.page.goto(url);
  return hosted(opened);
}

/** The same for a page that is open already. */
function hosted(opened: OpenPage): Hosted {
  const { page } = opened;
  const connected = (revision: string): Promise<void> =>
    page.getByText(new RegExp(`revision ${revision}\\.`)).waitFor();
  return {
    ...opened,
    question: page.getByRole("region", { name: "The server asks" }),
    button: (name) => page.getByRole("button", { name, exact: typeof name === "string" }),
    result: (text) => page.locator(".result").getByText(text),
    async era(revision) {
      await page.getByRole("radio", { name: revision }).check();
      await connected(revision);
    },
    async call(tool, args = {}) {
      await page.getByLabel("Tool", { exact: true }).selectOption({ label: tool });
      for (const [label, value] of Object.entries(args)) {
        await page.getByLabel(label, { exact: true }).fill(value);
      }
      await page.getByRole("button", { name: "Call", exact: true }).click();
    },
    count: async () => (await page.locator(".count").textContent()) ?? "",
    titles: () =>
      page.locator(".scroll .passage:not(.bare) .passage-title strong").allTextContents(),
  };
}

/** Messages of calls that went over the wire, after those that `before` counted: what opens a connection is not among them. */
export function callsOnWire(wire: RecordingProxy, before = 0): readonly Record<string, unknown>[] {
  const opening = new Set([
    "server/discover",
    "initialize",
    "notifications/initialized",
    "logging/setLevel",
    "tools/list",
  ]);
  const openingIds = new Set<unknown>();
  return wire.messages.slice(before).flatMap(({ from, body }) => {
    if (from === "client" && opening.has(String(body["method"]))) {
      if (body["id"] !== undefined) openingIds.add(body["id"]);
      return [];
    }
    const answersOpening = from === "server" && !("method" in body) && openingIds.has(body["id"]);
    return answersOpening ? [] : [body];
  });
}

/** Keeps a picture in a folder of the system's temporary ones; who changes the page looks at them. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = path.join(tmpdir(), "reprise-pictures");
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `host-${name}.png`), fullPage: true });
}
