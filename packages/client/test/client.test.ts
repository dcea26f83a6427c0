import type { SavedCall } from "@reprise/client";
import { expect, test } from "vitest";
import { complete, confirmAsk, inputRequired } from "./support/fakeServer.ts";
import { accept, formHost, manualClock } from "./support/hosts.ts";
import { client, serve } from "./support/opened.ts";

const KEY = "reprise/idempotencyKey";
const meta = (params: Record<string, unknown>): Record<string, unknown> =>
  params["_meta"] as Record<string, unknown>;

test("a call that asks is answered in a retry of the same request with a new id, the answers under the asked keys and the exact state", async () => {
  const state = 'é\u0000 "\\ state.with.dots==';
  const server = await serve(inputRequired({ confirm: confirmAsk() }, state), complete("Deleted."));
  const host = formHost(() => accept({ confirm: true }));
  const outcome = await (await client(server, { host })).callTool("delete_folder", {
    path: "build/",
  });

  expect(outcome).toMatchObject({
    status: "complete",
    result: { content: [{ text: "Deleted." }] },
  });
  const [first, retry] = server.calls;
  expect(server.calls).toHaveLength(2);
  expect(first?.params).toMatchObject({ name: "delete_folder", arguments: { path: "build/" } });
  expect(first?.params).not.toHaveProperty("inputResponses");
  expect(first?.params).not.toHaveProperty("requestState");
  expect(retry?.params).toMatchObject({
    name: "delete_folder",
    arguments: { path: "build/" },
    inputResponses: { confirm: { action: "accept", content: { confirm: true } } },
    requestState: state,
  });
  expect(retry?.id).not.toBe(first?.id);
  expect(host.shown[0]?.context).toMatchObject({
    server: { origin: new URL(server.url).origin, name: "fixture-server" },
    target: "delete_folder",
    round: 1,
  });
});

test("every request of a call carries one idempotency key of at least 128 bits, and another call has another", async () => {
  const server = await serve(
    inputRequired({ confirm: confirmAsk() }, "s"),
    complete("one"),
    complete("two"),
  );
  const connected = await client(server);
  await connected.callTool("delete_folder");
  await connected.callTool("delete_folder");
  const keys = server.calls.map(({ params }) => meta(params)[KEY]);
  expect(keys[0]).toMatch(/^[A-Za-z0-9_-]{22,}$/);
  expect(keys[1]).toBe(keys[0]);
  expect(keys[2]).not.toBe(keys[0]);
});

test("the capabilities that the host implements are declared with every request, and no others", async () => {
  const server = await serve(complete("ok"));
  await (await client(server)).callTool("delete_folder");
  for (const { params } of server.all) {
    expect(meta(params)["io.modelcontextprotocol/clientCapabilities"]).toEqual({
      elicitation: { form: {} },
    });
  }
});

test("prompts and resources run the same loop", async () => {
  const server = await serve(
    inputRequired({ confirm: confirmAsk() }, "p"),
    {
      result: {
        resultType: "complete",
        messages: [{ role: "user", content: { type: "text", text: "hi" } }],
      },
    },
    inputRequired({ confirm: confirmAsk() }, "r"),
    {
      result: {
        resultType: "complete",
        ttlMs: 0,
        cacheScope: "private",
        contents: [{ uri: "test://a", text: "A" }],
      },
    },
  );
  const connected = await client(server);
  expect(await connected.getPrompt("greet", { name: "Ann" })).toMatchObject({
    status: "complete",
    result: { messages: [{}] },
  });
  expect(await connected.readResource("test://a")).toMatchObject({
    status: "complete",
    result: { contents: [{ text: "A" }] },
  });
  expect(server.calls.map(({ method, params }) => [method, params["requestState"]])).toEqual([
    ["prompts/get", undefined],
    ["prompts/get", "p"],
    ["resources/read", undefined],
    ["resources/read", "r"],
  ]);
});

test("each round's state replaces the last one, and a round without a state sends none", async () => {
  const ask = { confirm: confirmAsk() };
  const server = await serve(
    inputRequired(ask, "one"),
    inputRequired(ask, ""),
    inputRequired(ask, "\ud800 lone"),
    inputRequired(ask),
    complete("done"),
  );
  await (await client(server)).callTool("delete_folder");
  expect(server.calls.map(({ params }) => params["requestState"])).toEqual([
    undefined,
    "one",
    "",
    "\ud800 lone",
    undefined,
  ]);
  expect(server.calls[4]?.params).not.toHaveProperty("requestState");
});

test("parallel asks are shown one at a time in the server's order and answered in one retry", async () => {
  const server = await serve(
    inputRequired({ b: confirmAsk("B?"), a: confirmAsk("A?"), 'odd "key"': confirmAsk("C?") }, "s"),
    complete("done"),
  );
  let showing = 0;
  const host = formHost(async () => {
    showing += 1;
    expect(showing).toBe(1);
    await Promise.resolve();
    showing -= 1;
    return accept({ confirm: true });
  });
  await (await client(server, { host })).callTool("delete_folder");
  expect(host.shown.map(({ ask }) => ask.key)).toEqual(["b", "a", 'odd "key"']);
  expect(Object.keys(server.calls[1]?.params["inputResponses"] as object)).toEqual([
    "b",
    "a",
    'odd "key"',
  ]);
});

test("decline and cancel go to the server as they are, without content", async () => {
  for (const action of ["decline", "cancel"] as const) {
    const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"), complete("Kept."));
    await (await client(server, { host: formHost(() => ({ action })) })).callTool("delete_folder");
    expect(server.calls[1]?.params["inputResponses"]).toEqual({ confirm: { action } });
  }
});

test("a response over SSE is the same, its progress reaches the program", async () => {
  const seen: unknown[] = [];
  const server = await serve(({ params }) => ({
    sse: true,
    notes: [
      {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: meta(params)["progressToken"], progress: 1, total: 2 },
      },
    ],
    result: { resultType: "complete", content: [{ type: "text", text: "streamed" }] },
  }));
  const outcome = await (
    await client(server, { onProgress: (progress) => seen.push(progress) })
  ).callTool("delete_folder");
  expect(outcome).toMatchObject({
    status: "complete",
    result: { content: [{ text: "streamed" }] },
  });
  expect(seen).toMatchObject([{ progress: 1, total: 2 }]);
});

test("the host is told until when the server takes an answer, as text or as milliseconds", async () => {
  for (const answerBefore of ["2026-12-01T12:00:00Z", Date.parse("2026-12-01T12:00:00Z")]) {
    const server = await serve(
      inputRequired({ confirm: confirmAsk() }, "s", { "reprise/answerBefore": answerBefore }),
      complete("ok"),
    );
    const host = formHost(() => accept({ confirm: true }));
    await (await client(server, { host })).callTool("delete_folder");
    expect(host.shown[0]?.context.answerBefore).toEqual(new Date("2026-12-01T12:00:00Z"));
  }
});

test("a result with only a state is retried after a pause, without answers", async () => {
  const server = await serve(inputRequired(undefined, "later"), complete("done"));
  const clock = manualClock();
  await (await client(server, { clock })).callTool("delete_folder");
  expect(clock.waits).toEqual([250]);
  expect(server.calls[1]?.params).toMatchObject({ requestState: "later" });
  expect(server.calls[1]?.params).not.toHaveProperty("inputResponses");
});

test("later leaves a call that another client resumes under the same key, with the answers given before", async () => {
  const server = await serve(
    inputRequired({ a: confirmAsk("A?"), b: confirmAsk("B?") }, "s"),
    complete("done"),
  );
  const first = await client(server, {
    host: formHost(({ key }) => (key === "a" ? accept({ confirm: true }) : { action: "later" })),
  });
  const outcome = await first.callTool("delete_folder", { path: "x" });
  if (outcome.status !== "waiting") throw new Error(outcome.status);
  expect(outcome.open.map(({ key }) => key)).toEqual(["b"]);
  expect(server.calls).toHaveLength(1);

  const saved = JSON.parse(JSON.stringify(outcome.call)) as SavedCall;
  const host = formHost(() => ({ action: "decline" }));
  const second = await client(server, { host });
  expect(await second.resume(saved)).toMatchObject({ status: "complete" });
  expect(host.shown.map(({ ask }) => ask.key)).toEqual(["b"]);
  expect(server.calls[1]?.params).toMatchObject({
    requestState: "s",
    arguments: { path: "x" },
    inputResponses: {
      a: { action: "accept", content: { confirm: true } },
      b: { action: "decline" },
    },
  });
  expect(meta(server.calls[1]?.params ?? {})[KEY]).toBe(meta(server.calls[0]?.params ?? {})[KEY]);
});

test("the call is stored before each request and after each answer and response", async () => {
  const server = await serve(inputRequired({ a: confirmAsk() }, "s"), complete("done"));
  const log: string[] = [];
  const connected = await client(server, {
    onChange: async ({ round, pending }) => {
      const answers = Object.keys(pending?.answers ?? {}).length;
      log.push(
        `${server.calls.length} sent, round ${round}, ${pending === undefined ? "none open" : `${answers} answered`}`,
      );
    },
  });
  await connected.callTool("delete_folder");
  expect(log).toEqual([
    "0 sent, round 0, none open",
    "1 sent, round 1, 0 answered",
    "1 sent, round 1, 1 answered",
    "1 sent, round 1, 1 answered",
  ]);
});

test("a refused sampling ask ends the call and sends nothing", async () => {
  const server = await serve(
    inputRequired(
      {
        s: {
          method: "sampling/createMessage",
          params: {
            messages: [{ role: "user", content: { type: "text", text: "hi" } }],
            maxTokens: 5,
          },
        },
      },
      "s",
    ),
  );
  const connected = await client(server, { host: { sample: async () => ({ action: "refuse" }) } });
  expect(await connected.callTool("delete_folder")).toMatchObject({
    status: "refused",
    ask: { key: "s" },
  });
  expect(server.calls).toHaveLength(1);
});

test("parameters with x-mcp-header are mirrored, also for a tool with an output schema that asks first", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"), {
    result: { resultType: "complete", content: [], structuredContent: { done: "yes" } },
  });
  server.tools = [
    {
      name: "delete_folder",
      inputSchema: {
        type: "object",
        properties: { path: { type: "string", "x-mcp-header": "Path" } },
      },
      outputSchema: {
        type: "object",
        properties: { done: { type: "boolean" } },
        required: ["done"],
      },
    },
  ];
  const outcome = await (await client(server)).callTool("delete_folder", { path: "Zoë" });
  expect(server.calls.map(({ headers }) => headers["mcp-param-path"])).toEqual([
    "=?base64?Wm/Dqw==?=",
    "=?base64?Wm/Dqw==?=",
  ]);
  // The result is there all the same: the tool has done its work.
  expect(outcome).toMatchObject({
    status: "complete",
    result: { structuredContent: { done: "yes" } },
    outputProblem: expect.any(String),
  });
});

test("a call that needs r rounds is r + 1 requests, after one discover and one list for the connection", async () => {
  const ask = inputRequired({ confirm: confirmAsk() }, "s");
  const server = await serve(ask, ask, complete("one"), complete("two"));
  server.listTtlMs = 0;
  const connected = await client(server);
  await connected.callTool("delete_folder");
  await connected.callTool("delete_folder");
  const call = "tools/call";
  expect(server.all.map(({ method }) => method)).toEqual([
    "server/discover",
    "tools/list",
    call,
    call,
    call,
    call,
  ]);
});

test("a call with the key of an earlier one repeats it, and a key that could be guessed is refused before anything is sent", async () => {
  const server = await serve(complete("one"), complete("two"));
  const connected = await client(server);
  const idempotencyKey = "k".repeat(22);
  await connected.callTool("delete_folder", {}, { idempotencyKey });
  await connected.callTool("delete_folder", {}, { idempotencyKey });
  expect(server.calls.map(({ params }) => meta(params)[KEY])).toEqual([
    idempotencyKey,
    idempotencyKey,
  ]);
  await expect(
    connected.callTool("delete_folder", {}, { idempotencyKey: "short" }),
  ).rejects.toThrow(/idempotencyKey/);
  expect(server.calls).toHaveLength(2);
});
