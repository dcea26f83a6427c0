/** Clients and circumstances that mean harm to the legacy lane, or do it without meaning to. */
import { createStateSealer, keysFromSecrets } from "@reprise/request-state";
import { describe, expect, test } from "vitest";
import { fakeRuntime } from "../support/fakeRuntime.ts";
import { serve } from "../support/requests.ts";
import { cluster } from "./support/instances.ts";
import { initialize, post, sessionOf, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const yes = { action: "accept", content: { confirm: true } };
const no = { action: "decline" };
const folder = { name: "delete_folder", arguments: { path: "build/" } };

describe("limits", () => {
  test("a caller with as many streams as it may gets a coded refusal, and its other calls go on", async () => {
    const [a] = (await cluster(watchedServer().server, { legacy: { maxStreamsPerCaller: 1 } }))
      .instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const refused = await session.request(a.url, "tools/call", folder);
    expect(refused.json.error).toMatchObject({ code: -31001, data: { code: "BUSY" } });
    const greet = { name: "greet", arguments: { name: "x" } };
    expect((await session.request(a.url, "tools/call", greet)).json.result).toBeDefined();
    await session.answer(a.url, (await stream.message()).id, no);
    await stream.rest();
    const next = await session.request(a.url, "tools/call", folder);
    expect(next.stream).toBeDefined();
  });

  test("so does one with as many streams of sessions, whose calls go on, and gets one again when one is over", async () => {
    const [a] = (await cluster(watchedServer().server, { legacy: { maxStreamsPerCaller: 2 } }))
      .instances;
    const [session, other] = [await initialize(a.url), await initialize(a.url)];
    const first = streamOf(await session.listen(a.url));
    await other.listen(a.url);
    const refused = await session.listen(a.url);
    expect(refused.status).toBe(503);
    expect(refused.json.error).toMatchObject({ data: { code: "BUSY", retryAfterMs: 1000 } });
    const call = streamOf(await session.request(a.url, "tools/call", folder));
    expect((await call.message()).method).toBe("elicitation/create");
    const isOver = a.nextResponseOver();
    await other.end(a.url);
    await isOver;
    expect((await session.listen(a.url)).stream).toBeDefined();
    expect((await session.listen(a.url)).status).toBe(503);
    await first.leave();
  });

  test("so does one with too many open questions", async () => {
    const [a] = (await cluster(watchedServer().server, { legacy: { maxOpenAsksPerCaller: 1 } }))
      .instances;
    const session = await initialize(a.url);
    const messages = await streamOf(
      await session.request(a.url, "tools/call", { name: "ask_two" }),
    ).rest();
    expect(messages).toMatchObject([{ error: { data: { code: "TOO_MANY_WAITING_RUNS" } } }]);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    expect((await stream.message()).method).toBe("elicitation/create");
  });

  test("a session has no more subscriptions than are worth looking through", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    for (let place = 0; place < 200; place++) {
      await session.request(a.url, "resources/subscribe", { uri: `test://item/${place}` });
    }
    const one = await session.request(a.url, "resources/subscribe", { uri: "test://item/more" });
    expect(one.json.error?.code).toBe(-32602);
  });
});

describe("ids", () => {
  test("a request id that is under way is refused on every front, and harms the first call nowhere", async () => {
    const { server, events } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder, "same"));
    const ask = await stream.message();
    const here = await session.request(a.url, "tools/call", folder, "same");
    expect(here.json.error?.code).toBe(-32600);
    const there = await session.request(b.url, "tools/call", folder, "same");
    expect(await streamOf(there).rest()).toMatchObject([{ error: { code: -32600 } }]);
    await session.answer(b.url, ask.id, yes);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("an id that is free again gets its own call's events alone", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    for (const answer of [no, yes]) {
      const stream = streamOf(await session.request(a.url, "tools/call", folder, 5));
      const opening = await stream.next();
      const again = streamOf(await session.listen(a.url, opening?.id));
      const ask = await again.message();
      await session.answer(a.url, ask.id, answer);
      const text = answer === yes ? "Deleted." : "Kept.";
      expect(await again.rest()).toMatchObject([{ result: { content: [{ text }] } }]);
    }
  });

  test("a question of a call whose id is free again is another one: what answered the first comes late and confirms nothing", async () => {
    const { server, events } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const begun = async (path: string) => {
      const params = { name: "delete_folder", arguments: { path } };
      const stream = streamOf(await session.request(a.url, "tools/call", params, 5));
      return { stream, ask: await stream.message() };
    };
    const first = await begun("build/");
    await session.answer(a.url, first.ask.id, yes);
    await first.stream.rest();
    const second = await begun("home/");
    expect(second.ask.id).not.toBe(first.ask.id);
    expect(await session.answer(b.url, first.ask.id, yes)).toBe(202);
    expect(await session.answer(b.url, second.ask.id, no)).toBe(202);
    expect(await second.stream.rest()).toMatchObject([
      { result: { content: [{ text: "Kept." }] } },
    ]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("the number 1 and the string 1 are two calls", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const one = streamOf(await session.request(a.url, "tools/call", folder, 1));
    const other = streamOf(await session.request(a.url, "tools/call", folder, "1"));
    const asks = [await one.message(), await other.message()];
    expect(asks[0]?.id).not.toBe(asks[1]?.id);
    await session.answer(a.url, asks[0]?.id, yes);
    await session.answer(a.url, asks[1]?.id, no);
    expect(await one.rest()).toMatchObject([
      { id: 1, result: { content: [{ text: "Deleted." }] } },
    ]);
    expect(await other.rest()).toMatchObject([
      { id: "1", result: { content: [{ text: "Kept." }] } },
    ]);
  });
});

describe("answers", () => {
  test("of two that contradict and come at the same time on two fronts, one counts", async () => {
    const { server, events } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await stream.message();
    await Promise.all([session.answer(a.url, ask.id, yes), session.answer(b.url, ask.id, no)]);
    const [end, ...more] = await stream.rest();
    expect(more).toEqual([]);
    const deleted = events.filter((event) => event === "deleted").length;
    expect(JSON.stringify(end)).toContain(deleted === 1 ? "Deleted." : "Kept.");
  });

  test.each([
    { jsonrpc: "2.0", id: "x", result: [] },
    { jsonrpc: "2.0", id: "x", error: { code: "no" } },
    { jsonrpc: "2.0", result: {} },
    [],
    "[1]",
  ])("%j is a bad request", async (body) => {
    const [a] = (await cluster(watchedServer().server)).instances;
    expect((await (await initialize(a.url)).send(a.url, body)).status).toBe(400);
  });

  test("that are none are refused without the id of the question, which stays open", async () => {
    const { server } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const { id } = await stream.message();
    const error = { code: "none", message: "" };
    for (const answer of [{ result: null }, { error }, { result: {}, error }]) {
      const refused = await session.send(b.url, { jsonrpc: "2.0", id, ...answer });
      expect(refused.status).toBe(400);
      // MCP 2025-11-25, transports: an error response that has no id.
      expect(refused.json).toEqual({
        jsonrpc: "2.0",
        error: expect.objectContaining({ code: -32600 }),
      });
    }
    await session.answer(b.url, id, yes);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
  });

  test("state and answers of the modern revision in a legacy request are not looked at", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const smuggled = { ...folder, requestState: "x", inputResponses: { confirm: yes } };
    const stream = streamOf(await session.request(a.url, "tools/call", smuggled));
    expect((await stream.message()).method).toBe("elicitation/create");
  });
});

describe("session ids", () => {
  const sealer = createStateSealer({
    keys: keysFromSecrets("a secret that is long enough for a test of it"),
  });

  test("a request state is no session id, although the same key sealed it", async () => {
    const binding = { audience: "a", operation: "b", principal: "c", params: "d" };
    const state = await sealer.seal({
      payload: {
        format: 1,
        id: "x",
        revision: "2025-11-25",
        client: { name: "c", version: "1" },
        capabilities: {},
      },
      binding,
      issuedAtMs: Date.now(),
      expiresAtMs: Date.now() + 60_000,
      confidential: false,
    });
    const { post: send } = serve({ runtime: fakeRuntime({ sealer }) });
    const answer = await send('{"jsonrpc":"2.0","id":1,"method":"ping"}', {
      "content-type": "application/json",
      "mcp-session-id": state,
    });
    expect(answer.status).toBe(404);
  });

  test("a session of another server under the same key is none here", async () => {
    const hello =
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}';
    const json = { "content-type": "application/json" };
    const one = serve({ runtime: fakeRuntime({ sealer }) });
    const other = serve({ runtime: { ...fakeRuntime({ sealer }), audience: "another" } });
    const { headers } = await one.post(hello, json);
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    const session = { ...json, "mcp-session-id": headers["mcp-session-id"] };
    expect((await one.post(ping, session)).status).toBe(200);
    expect((await other.post(ping, session)).status).toBe(404);
  });

  test("one that is as long as a header can be is refused without being opened", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect((await post(a.url, ping, { "mcp-session-id": "e".repeat(12_000) })).status).toBe(404);
    expect((await sessionOf("").send(a.url, ping)).status).toBe(404);
  });
});
