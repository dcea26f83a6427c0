/**
 * The shop's own wire on 2026-07-28: every list entry, every ask and every result of one call of each handler, from a
 * served shop with a private outside world. What legacy clients get is lowered from exactly this.
 */
import { join } from "node:path";
import { createMail, createPayments, createShop, openShopPage, seedScratch } from "@reprise/shop";
import { serve } from "reprise";
import { onTestFinished } from "vitest";
import { payByCard } from "../../../test/support/cardPage.ts";
import { json, outsideWorld, temporaryDirectory } from "./world.ts";

/** A JSON object as it came. */
export type Wire = Readonly<Record<string, unknown>>;

/** What came over the wire, by a title for each. */
export interface ShopWire {
  readonly entries: Readonly<Record<string, Wire>>;
  readonly asks: Readonly<Record<string, Wire>>;
  readonly results: Readonly<Record<string, { readonly method: string; readonly result: Wire }>>;
}

interface Reply {
  readonly result?: Wire & {
    readonly inputRequests?: Readonly<Record<string, Wire>>;
    readonly requestState?: string;
  };
  readonly error?: unknown;
}

const accept = (content: Wire): Wire => ({ action: "accept", content });
const answers: Readonly<Record<string, Wire>> = {
  "delete_folder confirm": accept({ confirm: true }),
  "refund_order confirm": accept({ confirm: true }),
  "send_invoice elicit": accept({ address: "ada@example.com", language: "en" }),
  "pay_invoice elicitUrl": { action: "accept" },
  "book_trip dates": accept({ departure: "2026-09-01", nights: 2 }),
  "book_trip comfort": accept({ travelClass: "economy", hotelStars: "3" }),
  "book_trip confirm": accept({ confirm: true }),
  "summarize_orders sample": {
    role: "assistant",
    model: "m",
    content: { type: "text", text: "Five orders." },
  },
  "order_reply elicit": accept({ tone: "brief", message: "It ships today." }),
  "shop://report elicit": accept({ month: "2026-05" }),
};

const calls: readonly (readonly [method: string, name: string, params: Wire])[] = [
  ["tools/call", "delete_folder", { name: "delete_folder", arguments: { path: "build/" } }],
  ["tools/call", "refund_order", { name: "refund_order", arguments: { orderId: "1001" } }],
  ["tools/call", "send_invoice", { name: "send_invoice", arguments: { orderId: "1001" } }],
  ["tools/call", "pay_invoice", { name: "pay_invoice", arguments: { orderId: "1002" } }],
  ["tools/call", "book_trip", { name: "book_trip", arguments: { city: "Lisbon" } }],
  ["tools/call", "summarize_orders", { name: "summarize_orders", arguments: {} }],
  ["prompts/get", "order_reply", { name: "order_reply", arguments: { orderId: "1001" } }],
  ["resources/read", "shop://report", { uri: "shop://report" }],
];

/** Serves the shop, lists everything and calls everything once, with a yes to every question. */
export async function shopWire(): Promise<ShopWire> {
  const page = await openShopPage({ port: 0 });
  onTestFinished(() => page.close());
  const [world, directory] = await Promise.all([
    outsideWorld({ merchantUrl: page.url }),
    temporaryDirectory(),
  ]);
  const dataDir = join(directory, "store");
  const scratchDir = join(directory, "scratch");
  await seedScratch(scratchDir);
  const payments = createPayments(world.url);
  const shop = createShop({
    payments,
    mail: createMail({ smtpPort: world.smtpPort, logUrl: world.url }),
    scratchDir,
  });
  const served = await serve(shop, { port: 0, dataDir });
  onTestFinished(() => served.close());
  page.serve({ server: shop, payments });

  const entries: Record<string, Wire> = {};
  const asks: Record<string, Wire> = {};
  const results: Record<string, { method: string; result: Wire }> = {};
  for (const [method, member] of [
    ["tools/list", "tools"],
    ["prompts/list", "prompts"],
    ["resources/list", "resources"],
  ] as const) {
    const { result } = await post(served.url, method, "", {});
    for (const entry of (result?.[member] ?? []) as readonly Wire[]) {
      entries[`${member} ${String(entry["name"])}`] = entry;
    }
  }
  for (const [method, name, params] of calls) {
    let round = await post(served.url, method, name, params);
    while (round.result?.inputRequests !== undefined) {
      const inputResponses: Record<string, unknown> = {};
      for (const [key, ask] of Object.entries(round.result.inputRequests)) {
        asks[`${name} ${key}`] = isPage(ask) ? await visited(ask) : ask;
        inputResponses[key] = answers[`${name} ${key}`];
      }
      const { requestState } = round.result;
      round = await post(served.url, method, name, { ...params, inputResponses, requestState });
    }
    if (round.result === undefined) throw new Error(`${name}: ${JSON.stringify(round.error)}`);
    results[name] = { method, result: round.result };
  }
  return { entries, asks, results };
}

interface PageAsk extends Wire {
  readonly params: Wire & { readonly url: string };
}

function isPage(ask: Wire): ask is PageAsk {
  return (ask["params"] as Wire)["mode"] === "url";
}

/** Pays on the page of an ask. What differs from run to run, port and id, is replaced in what is kept of it. */
async function visited(ask: PageAsk): Promise<Wire> {
  const { url } = ask.params;
  await payByCard(url);
  const { pathname } = new URL(url);
  const kept = `https://payments.example${pathname}?reference=${elicitationId}`;
  return { ...ask, params: { ...ask.params, url: kept } };
}

/** In place of the id of a URL ask, which is another one in each run. */
export const elicitationId = "elicitation-1";

const version = "2026-07-28";
const meta = {
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {
    elicitation: { form: {}, url: {} },
    sampling: {},
  },
};

async function post(url: string, method: string, name: string, params: Wire): Promise<Reply> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": version,
      "mcp-method": method,
      ...(name === "" ? {} : { "mcp-name": name }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
  return json<Reply>(response);
}
