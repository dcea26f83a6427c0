/** Asks as requests on the call's stream, and their answers on whatever front they arrive. */
import { describe, expect, test } from "vitest";
import { cluster } from "./support/instances.ts";
import { askIdOf, initialize, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";

const yes = { action: "accept", content: { confirm: true } };
const no = { action: "decline" };
const folder = { name: "delete_folder", arguments: { path: "build/" } };

describe("a confirm", () => {
  test("is a request of its own on the open stream, then comes the call's result", async () => {
    const { events, server } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder, "call-1"));
    const opening = await stream.next();
    expect(opening).toMatchObject({ data: "" });
    expect(opening?.id).toBeDefined();
    const ask = await stream.message();
    expect(ask).toMatchObject({
      method: "elicitation/create",
      params: { mode: "form", message: "Delete build/?" },
    });
    expect(await session.answer(b.url, ask.id, yes)).toBe(202);
    expect(await stream.rest()).toEqual([
      { jsonrpc: "2.0", id: "call-1", result: { content: [{ type: "text", text: "Deleted." }] } },
    ]);
    expect(events.filter((event) => event === "deleted")).toHaveLength(1);
  });

  test("that is declined changes nothing", async () => {
    const { events, server } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(b.url, "2025-06-18");
    const stream = streamOf(await session.request(b.url, "tools/call", folder));
    const ask = await stream.message();
    expect(ask.params).not.toHaveProperty("mode");
    await session.answer(a.url, ask.id, no);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Kept." }] } }]);
    expect(events).not.toContain("deleted");
  });

  test("with an answer that is none is asked again under a new id", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const first = await stream.message();
    await session.answer(a.url, first.id, { action: "accept", content: {} });
    const second = await stream.message();
    expect(second.params).toEqual(first.params);
    expect(second.id).not.toBe(first.id);
    await session.answer(a.url, second.id, yes);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Deleted." }] } }]);
  });
});

test("a client that can only give unusable answers is not asked for ever", async () => {
  const [a] = (await cluster(watchedServer().server)).instances;
  const session = await initialize(a.url);
  const stream = streamOf(await session.request(a.url, "tools/call", folder));
  for (let asked = 0; asked < 100; asked++) {
    const { id, method, error } = await stream.message();
    if (method === undefined) {
      expect(error?.data).toMatchObject({ code: "CLIENT_CANNOT_ANSWER", key: "confirm" });
      return;
    }
    await session.answer(a.url, id, { action: "accept", content: { confirm: "maybe" } });
  }
  throw new Error("it was asked for ever");
});

describe("several asks", () => {
  test("are open at once and answered in any order, each on another front", async () => {
    const [a, b] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", { name: "ask_two" }));
    const asks = [await stream.message(), await stream.message()];
    const idOf = (message: string) => asks.find((each) => each.params?.["message"] === message)?.id;
    await session.answer(b.url, idOf("Two?"), no);
    await session.answer(a.url, idOf("One?"), yes);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "true false" }] } }]);
  });

  test("an answer goes to the run at once, and what stays open is not sent again", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", { name: "ask_later" }));
    const asks = [await stream.message(), await stream.message()];
    const first = asks.find((each) => each.params?.["message"] === "First?");
    const other = asks.find((each) => each.params?.["message"] === "Other?");
    await session.answer(a.url, first?.id, yes);
    const next = await stream.message();
    expect(next.params?.["message"]).toBe("Next?");
    await session.answer(a.url, next.id, yes);
    await session.answer(a.url, other?.id, no);
    expect(await stream.rest()).toMatchObject([
      { result: { content: [{ text: "false true true" }] } },
    ]);
  });
});

describe("an answer that counts for nothing", () => {
  test("second, foreign, unknown: all are taken, and the first one stands", async () => {
    const { events, server } = watchedServer();
    const [a, b] = (await cluster(server)).instances;
    const session = await initialize(a.url);
    const stranger = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await stream.message();
    expect(await stranger.answer(b.url, ask.id, yes)).toBe(202);
    expect(await session.answer(b.url, `${askIdOf(ask)}1`, yes)).toBe(202);
    expect(await session.answer(b.url, 7, yes)).toBe(202);
    expect(await session.answer(b.url, ask.id, no)).toBe(202);
    expect(await session.answer(a.url, ask.id, yes)).toBe(202);
    expect(await stream.rest()).toMatchObject([{ result: { content: [{ text: "Kept." }] } }]);
    expect(await session.answer(a.url, ask.id, yes)).toBe(202);
    expect(events).not.toContain("deleted");
  });
});

describe("a client that can't or won't", () => {
  test("an undeclared ask is refused at once: a tool error, without a question", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url, "2025-11-25", {});
    const answer = await session.request(a.url, "tools/call", folder);
    expect(answer.json.result).toMatchObject({ isError: true });
    expect(JSON.stringify(answer.json)).toContain("elicitation");
  });

  test("needs are checked before the handler", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url, "2025-11-25", { elicitation: {} });
    const answer = await session.request(a.url, "tools/call", { name: "needs_sampling" });
    expect(answer.json.result).toMatchObject({ isError: true });
  });

  test("an error instead of an answer ends the call with the typed refusal", async () => {
    const [a] = (await cluster(watchedServer().server)).instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", { name: "sample" }));
    const ask = await stream.message();
    expect(ask.method).toBe("sampling/createMessage");
    const error = { code: -32603, message: "no model here" };
    await session.send(a.url, { jsonrpc: "2.0", id: ask.id, error });
    const [end] = await stream.rest();
    expect(JSON.stringify(end)).toContain("CLIENT_CANNOT_ANSWER");
  });

  test("one that never answers: the questions are withdrawn, the call ends, nothing is kept", async () => {
    const { clock, instances, shared } = await cluster(watchedServer().server, {
      requestStateLifetime: "1m",
    });
    const [a] = instances;
    const session = await initialize(a.url);
    const stream = streamOf(await session.request(a.url, "tools/call", folder));
    const ask = await stream.message();
    const callId = askIdOf(ask).split(".")[0] ?? "";
    clock.advance(61_000);
    expect(await stream.rest()).toMatchObject([
      { method: "notifications/cancelled", params: { requestId: ask.id } },
      { error: { data: { code: "ANSWER_OVERDUE" } } },
    ]);
    await expect.poll(() => shared.get({ kind: "call", id: callId })).toBeUndefined();
    expect(await session.answer(a.url, ask.id, yes)).toBe(202);
  });
});

test("a batch of 2025-03-26 that asks is one stream: questions, every result, and the end", async () => {
  const [a, b] = (await cluster(watchedServer().server)).instances;
  const session = await initialize(a.url, "2025-03-26", { sampling: {} });
  const call = (id: number) => ({
    ...{ jsonrpc: "2.0", id, method: "tools/call", params: { name: "sample" } },
  });
  const stream = streamOf(
    await session.send(a.url, [call(1), { jsonrpc: "2.0", id: 2, method: "ping" }, call(3)]),
  );
  const got = [await stream.message(), await stream.message(), await stream.message()];
  const asks = got.filter(({ method }) => method === "sampling/createMessage");
  expect(asks).toHaveLength(2);
  expect(got).toContainEqual({ jsonrpc: "2.0", id: 2, result: {} });
  const model = { role: "assistant", content: { type: "text", text: "4" }, model: "m" };
  // Answers come as a batch too, to another front.
  const answers = asks.map(({ id }) => ({ jsonrpc: "2.0", id, result: model }));
  expect((await session.send(b.url, answers)).status).toBe(202);
  const results = await stream.rest();
  expect(new Set(results.map(({ id }) => id))).toEqual(new Set([1, 3]));
  for (const { result } of results) expect(result).toMatchObject({ content: [{ text: "4" }] });
});
