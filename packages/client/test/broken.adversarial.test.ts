import { connect, ProtocolError, type SavedCall } from "@reprise/client";
import { expect, test } from "vitest";
import { codeOf, failure } from "./support/failures.ts";
import {
  complete,
  confirmAsk,
  type FakeServer,
  fakeServer,
  inputRequired,
} from "./support/fakeServer.ts";
import { accept, formHost, manualClock } from "./support/hosts.ts";
import { client, serve } from "./support/opened.ts";

const key = (server: FakeServer): unknown[] =>
  server.calls.map(
    ({ params }) => (params["_meta"] as Record<string, unknown>)["reprise/idempotencyKey"],
  );

test("answers of the last round that were sent before a crash are sent again by a resume, without a question", async () => {
  const server = await serve(
    inputRequired({ confirm: confirmAsk() }, "s"),
    { cut: "sse" },
    complete("once"),
  );
  let stored: SavedCall | undefined;
  const options = {
    maxInputRounds: 1,
    retry: { attempts: 1 },
    onChange: async (call: SavedCall) => {
      stored = call;
    },
  };
  expect(await codeOf((await client(server, options)).callTool("t"))).toBe("SERVER_UNREACHABLE");
  if (stored === undefined) throw new Error("nothing was stored");
  const host = formHost(() => accept({ confirm: false }));
  const outcome = await (await client(server, { ...options, host })).resume(stored);
  expect(outcome).toMatchObject({ status: "complete", result: { content: [{ text: "once" }] } });
  expect(host.shown).toHaveLength(0);
  expect(server.calls[2]?.params).toEqual(server.calls[1]?.params);
});

test.each(["before", "json", "sse", "sseEnd"] as const)(
  "a connection cut %s is met with the same first call under the same key and a new id",
  async (how) => {
    const server = await serve({ cut: how }, { cut: how }, complete("once"));
    const clock = manualClock();
    const outcome = await (await client(server, { clock })).callTool("delete_folder", {
      path: "x",
    });
    expect(outcome).toMatchObject({ status: "complete", result: { content: [{ text: "once" }] } });
    expect(server.calls).toHaveLength(3);
    expect(new Set(key(server)).size).toBe(1);
    expect(new Set(server.calls.map(({ id }) => id)).size).toBe(3);
    expect(clock.waits).toHaveLength(2);
    expect(clock.waits[1]).toBeGreaterThan(clock.waits[0] ?? Number.POSITIVE_INFINITY);
  },
);

test.each(["before", "json", "sse", "sseEnd"] as const)(
  "a round cut %s is repeated with the same state and answers, without asking the person again",
  async (how) => {
    const server = await serve(
      inputRequired({ confirm: confirmAsk() }, "state-1"),
      { cut: how },
      complete("once"),
    );
    const host = formHost(() => accept({ confirm: true }));
    await (await client(server, { host })).callTool("delete_folder");
    const [, sent, repeated] = server.calls;
    expect(repeated?.params).toEqual({ ...sent?.params, _meta: repeated?.params["_meta"] });
    expect(new Set(key(server)).size).toBe(1);
    expect(host.shown).toHaveLength(1);
  },
);

test("a server that stays away is SERVER_UNREACHABLE after bounded repeats, and the stored call still holds the answers", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"), { cut: "before" });
  let stored: unknown;
  const connected = await client(server, {
    retry: { attempts: 3 },
    onChange: async (call) => {
      stored = structuredClone(call);
    },
  });
  const error = await failure(connected.callTool("delete_folder"));
  expect(error).toMatchObject({ code: "SERVER_UNREACHABLE", data: { attempts: 3 } });
  expect(server.calls).toHaveLength(4);
  expect(stored).toMatchObject({
    round: 1,
    idempotencyKey: key(server)[0],
    pending: { requestState: "s", answers: { confirm: { action: "accept" } } },
  });
});

test("a server that nobody answers for is SERVER_UNREACHABLE at connect", async () => {
  const server = await fakeServer(complete("never"));
  await server.close();
  expect(await codeOf(connect({ url: server.url, host: {}, clock: manualClock() }))).toBe(
    "SERVER_UNREACHABLE",
  );
});

test("a gateway's 502 is a broken connection, its 400 is not", async () => {
  const server = await serve({ status: 502, text: "<html>Bad gateway" }, complete("ok"), {
    status: 400,
    text: "no",
  });
  const connected = await client(server);
  expect(await connected.callTool("delete_folder")).toMatchObject({ status: "complete" });
  await failure(connected.callTool("delete_folder"));
  expect(server.calls).toHaveLength(3);
});

test("an error with data.retryAfterMs is repeated after exactly that, and one without is the server's last word", async () => {
  const busy = { code: -31002, message: "in flight", data: { retryAfterMs: 1234 } };
  const server = await serve({ error: busy }, complete("ok"), {
    error: { code: -31003, message: "settled" },
  });
  const clock = manualClock();
  const connected = await client(server, { clock });
  expect(await connected.callTool("delete_folder")).toMatchObject({ status: "complete" });
  expect(clock.waits).toEqual([1234]);
  const error = await failure(connected.callTool("delete_folder"));
  expect(error).toBeInstanceOf(ProtocolError);
  expect(error).toMatchObject({ code: -31003, message: expect.stringContaining("settled") });
  expect(server.calls).toHaveLength(3);
});

test("retryAfterMs is followed for maxBusyMs in all, and nonsense in its place is not followed", async () => {
  for (const retryAfterMs of [Number.MAX_SAFE_INTEGER, -1, "1", null]) {
    const server = await serve({
      error: { code: -31001, message: "busy", data: { retryAfterMs } },
    });
    const clock = manualClock();
    await failure((await client(server, { clock })).callTool("delete_folder"));
    expect(clock.waits).toEqual([]);
    expect(server.calls).toHaveLength(1);
  }
  const server = await serve({
    error: { code: -31001, message: "busy", data: { retryAfterMs: 100 } },
  });
  await failure((await client(server, { retry: { maxBusyMs: 1000 } })).callTool("delete_folder"));
  expect(server.calls).toHaveLength(11);
});

test("JSON-RPC errors arrive as such whatever HTTP status carries them", async () => {
  for (const status of [200, 400, 404, 500]) {
    const server = await serve({
      status,
      error: { code: -32601, message: "gone", data: { a: 1 } },
    });
    const error = await failure((await client(server)).callTool("delete_folder"));
    expect(error).toMatchObject({ code: -32601, data: { a: 1 } });
    expect(server.calls).toHaveLength(1);
  }
});
