/**
 * The host page's parts that need no browser: what passes is told and changed in nothing, kept calls are believed as they were
 * written and not otherwise, and the page is served with nothing from elsewhere.
 */
import { createPayments, openShopPage } from "@reprise/shop";
import { defineServer } from "reprise";
import type { SavedCall } from "reprise/client";
import { describe, expect, onTestFinished, test } from "vitest";
import { contentOf, draftOf, problemsOf } from "../host/draft.ts";
import { EventStreamSplitter } from "../host/eventStream.ts";
import { explain } from "../host/explain.ts";
import { type CallStorage, KeptCalls } from "../host/keptCalls.ts";
import { type Passed, recordingFetch } from "../host/recorder.ts";
import { shownMessage } from "../host/shownMessage.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("an event stream", () => {
  const stream =
    ': hello\r\nid: 1\r\ndata: {"a":\r\ndata: 1}\r\n\r\nevent: x\rdata:é\r\rretry: 5\n\ndata: last\n\n';

  test("is cut into the same events however its bytes are cut", () => {
    const whole = bytes(stream);
    const wanted = [{ data: '{"a":\n1}', id: "1" }, { data: "é" }, { data: "last" }];
    for (let size = 1; size <= whole.length; size += 1) {
      const splitter = new EventStreamSplitter();
      const events = [];
      for (let at = 0; at < whole.length; at += size) {
        events.push(...splitter.take(whole.slice(at, at + size)));
      }
      expect(events, `in pieces of ${size}`).toEqual(wanted);
    }
  });

  test("that ends in the middle of an event has given no part of it", () => {
    expect(new EventStreamSplitter().take(bytes("data: half\n"))).toEqual([]);
  });
});

describe("what passes", () => {
  const url = "http://127.0.0.1:3000/mcp";
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } };

  async function passing(
    response: () => Response | Promise<Response>,
    init: RequestInit = { method: "POST", body: JSON.stringify(call) },
  ): Promise<{ readonly told: readonly Passed[]; readonly reply: Response }> {
    const told: Passed[] = [];
    const recording = recordingFetch(
      async () => await response(),
      (each) => told.push(each),
      () => 7,
      () => "x",
    );
    return { reply: await recording(url, init), told };
  }

  test("is told as sent and received, with the headers that matter, and reaches the client unchanged", async () => {
    const body = '{"jsonrpc":"2.0","id":1,"result":{}}';
    const headers = { "content-type": "application/json", "retry-after": "1", date: "now" };
    const init = {
      method: "POST",
      headers: { "Mcp-Name": "t", authorization: "Bearer secret" },
      body: JSON.stringify(call),
    };
    const { told, reply } = await passing(() => new Response(body, { headers }), init);
    expect(await reply.text()).toBe(body);
    expect(told).toEqual([
      {
        ...{ direction: "sent", part: "call", exchange: "x", at: 7, line: "POST /mcp" },
        ...{ headers: [["mcp-name", "t"]], message: call },
      },
      {
        ...{
          direction: "received",
          part: "call",
          exchange: "x",
          at: 7,
          line: "200 application/json",
        },
        ...{ headers: [["retry-after", "1"]], message: JSON.parse(body) },
      },
    ]);
  });

  test("of a stream is told event by event, and its bytes arrive as they were", async () => {
    const text =
      ': beat\n\ndata: {"jsonrpc":"2.0","method":"notifications/progress"}\n\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';
    const { told, reply } = await passing(
      () => new Response(text, { headers: { "content-type": "text/event-stream" } }),
    );
    expect(await reply.text()).toBe(text);
    expect(told.map(({ line }) => line)).toEqual([
      "POST /mcp",
      "200 text/event-stream, event 1",
      "200 text/event-stream, event 2",
    ]);
  });

  test("without a message is no message: 202, a page, a connection that fails", async () => {
    const accepted = await passing(() => new Response(null, { status: 202 }));
    expect(accepted.reply.status).toBe(202);
    expect(accepted.told[1]).not.toHaveProperty("message");
    const page = await passing(() => new Response("<h1>502</h1>", { status: 502 }));
    expect(page.told[1]).toMatchObject({ text: "<h1>502</h1>" });

    const told: Passed[] = [];
    const failing = recordingFetch(
      () => Promise.reject(new TypeError("Failed to fetch")),
      (each) => told.push(each),
    );
    await expect(failing(url, { method: "POST", body: JSON.stringify(call) })).rejects.toThrow();
    expect(told.at(-1)).toMatchObject({ direction: "received", line: "nothing" });
  });

  test("to open the connection is told apart from calls, and from questions on the session's stream", async () => {
    const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const reply = { jsonrpc: "2.0", id: 1, result: { tools: [] } };
    const opening = await passing(
      () =>
        new Response(JSON.stringify(reply), { headers: { "content-type": "application/json" } }),
      { method: "POST", body: JSON.stringify(list) },
    );
    expect(opening.told.map(({ part }) => part)).toEqual(["opening", "opening"]);
    const asked = await passing(
      () =>
        new Response('data: {"jsonrpc":"2.0","id":"a","method":"elicitation/create"}\n\n', {
          headers: { "content-type": "text/event-stream" },
        }),
      { method: "GET" },
    );
    await asked.reply.text();
    expect(asked.told.map(({ part }) => part)).toEqual(["opening", "call"]);
  });
});

describe("kept calls", () => {
  const saved: SavedCall = {
    format: "reprise.call",
    version: 1,
    url: "http://127.0.0.1:3000/mcp",
    request: { method: "tools/call", params: { name: "t", arguments: {} } },
    idempotencyKey: "k".repeat(32),
    round: 1,
    pending: { inputRequests: {}, answers: {}, requestState: "s" },
  };
  const passed: Passed = {
    ...{ direction: "sent", part: "call", exchange: "x", at: 1, line: "POST /mcp", headers: [] },
  };

  test("come back as they were, for their own server and until they are forgotten", () => {
    const kept = new KeptCalls(storage());
    expect(kept.keep({ call: saved, passed: [passed] })).toBe(true);
    expect(kept.of(saved.url)).toEqual([{ call: saved, passed: [passed] }]);
    expect(kept.of("http://127.0.0.1:4000/mcp")).toEqual([]);
    kept.forget(saved);
    expect(kept.of(saved.url)).toEqual([]);
  });

  test.each([
    ["no JSON", "{"],
    ["another version", JSON.stringify({ version: 2, call: saved, passed: [] })],
    [
      "a call without its key",
      JSON.stringify({ version: 1, call: { ...saved, idempotencyKey: "" }, passed: [] }),
    ],
    ["no messages", JSON.stringify({ version: 1, call: saved })],
    ["null", "null"],
  ])("that hold %s are dropped, and others stay", (_what, text) => {
    const behind = storage();
    behind.setItem("reprise.host.call.broken", text);
    behind.setItem("somebody else's", text);
    const kept = new KeptCalls(behind);
    kept.keep({ call: saved, passed: [] });
    expect(kept.of(saved.url)).toHaveLength(1);
    expect(behind.getItem("reprise.host.call.broken")).toBeNull();
    expect(behind.getItem("somebody else's")).toBe(text);
  });

  test("are none where the storage is off or full, and nothing fails", () => {
    expect(new KeptCalls(undefined).keep({ call: saved, passed: [] })).toBe(false);
    const full: CallStorage = {
      ...storage(),
      setItem: () => {
        throw new Error("quota");
      },
    };
    expect(new KeptCalls(full).keep({ call: saved, passed: [] })).toBe(false);
  });
});

test("a draft holds what is typed, and its content what would be sent", () => {
  const base = { label: "x", required: true } as const;
  const fields = [
    { ...base, name: "n", type: "number", integer: true, initial: 3 },
    { ...base, name: "t", type: "text", required: false },
    { ...base, name: "m", type: "choices", options: [{ value: "a", title: "A" }] },
  ] as const;
  const draft = draftOf(fields);
  expect(draft).toEqual(new Map([["n", "3"]]));
  expect(contentOf(fields, draft)).toEqual(
    new Map<string, unknown>([
      ["n", 3],
      ["m", []],
    ]),
  );
  const half = new Map([...draft, ["n", "3."], ["t", ""]] as const);
  expect(problemsOf(fields, contentOf(fields, half))).toEqual(new Map());
  const wrong = new Map([...draft, ["n", "3x"]] as const);
  expect([...problemsOf(fields, contentOf(fields, wrong)).keys()]).toEqual(["n"]);
});

test("a message is shown whole but for long states, and a server's invisible signs are shown as codes", () => {
  const state = "s".repeat(500);
  const { text, states } = shownMessage({ jsonrpc: "2.0", requestState: state, text: "a\u202eb" });
  expect(states).toEqual([state]);
  expect(text).toContain("500 characters, folded");
  expect(text).not.toContain(state);
  expect(text).toContain("\\u{202e}");
  expect(shownMessage({ requestState: "short" }).states).toEqual([]);
});

test("a message of a kind that nobody has words for is called by its method", () => {
  const passed = {
    direction: "received",
    part: "call",
    exchange: "x",
    at: 1,
    line: "",
    headers: [],
  } as const;
  const titleOf = (message: Readonly<Record<string, unknown>>): string =>
    explain({ ...passed, message }, false).title;
  expect(titleOf({ method: "notifications/new" })).toBe("notifications/new");
  expect(titleOf({ id: 1, method: "new/question" })).toBe("new/question");
  // Names that every object has are no words of ours.
  expect(titleOf({ method: "constructor" })).toBe("constructor");
  expect(titleOf({ id: 1, method: "toString" })).toBe("toString");
});

describe("the page", () => {
  async function opened(mcpUrl?: string): Promise<(path: string) => Promise<Response>> {
    const page = await openShopPage({ port: 0 });
    onTestFinished(() => page.close());
    const server = defineServer({ name: "none" });
    const payments = createPayments("http://127.0.0.1:1");
    page.serve({ server, payments, ...(mcpUrl === undefined ? {} : { mcpUrl }) });
    return async (path) => await fetch(new URL(path, page.url), { redirect: "manual" });
  }
  const mcpUrl = "http://127.0.0.1:3000/mcp";

  test("runs and loads what this server has, talks to it and the MCP endpoint, and is nobody's frame", async () => {
    const get = await opened(mcpUrl);
    const page = await get("/host/");
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("connect-src 'self' http://127.0.0.1:3000;");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*|data:/);
    expect(await page.text()).not.toMatch(/<script[^>]*>[^<]|style=|\son\w+=|https?:/);
    expect(await (await get("/host/settings.json")).json()).toEqual({ mcpUrl });
    const redirect = await get("/host");
    expect([redirect.status, redirect.headers.get("location")]).toEqual([308, "host/"]);
  });

  test("is bundled from its sources, for browsers", async () => {
    const get = await opened(mcpUrl);
    const [script, style] = await Promise.all([get("/host/host.js"), get("/host/style.css")]);
    expect(script.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(await script.text()).not.toMatch(/from\s*"node:|require\("node:/);
    expect(await style.text()).toContain("prefers-color-scheme");
  });

  test("is not there without an MCP endpoint", async () => {
    const get = await opened();
    for (const path of ["/host/", "/host/host.js", "/host/settings.json"]) {
      expect((await get(path)).status, path).toBe(404);
    }
  });
});

function storage(): CallStorage {
  const entries = new Map<string, string>();
  return {
    get length() {
      return entries.size;
    },
    key: (index) => [...entries.keys()][index] ?? null,
    getItem: (key) => entries.get(key) ?? null,
    setItem: (key, value) => void entries.set(key, value),
    removeItem: (key) => void entries.delete(key),
  };
}
