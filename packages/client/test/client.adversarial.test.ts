import { connect } from "@reprise/client";
import { expect, test } from "vitest";
import { codeOf, failure } from "./support/failures.ts";
import { complete, confirmAsk, inputRequired } from "./support/fakeServer.ts";
import { accept, formHost, manualClock } from "./support/hosts.ts";
import { client, serve } from "./support/opened.ts";

test("a server that never ends is given up after 8 rounds of answers, and the ninth question is not shown", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
  const host = formHost(() => accept({ confirm: true }));
  expect(await codeOf((await client(server, { host })).callTool("delete_folder"))).toBe(
    "TOO_MANY_ROUNDS",
  );
  expect(server.calls).toHaveLength(9);
  expect(host.shown).toHaveLength(8);
});

test("maxInputRounds counts over a resume too", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
  let answers = 0;
  const host = formHost(() => (++answers === 2 ? { action: "later" } : accept({ confirm: true })));
  const connected = await client(server, { host, maxInputRounds: 2 });
  const outcome = await connected.callTool("delete_folder");
  if (outcome.status !== "waiting") throw new Error(outcome.status);
  expect(outcome.call.round).toBe(2);
  expect(await codeOf(connected.resume(outcome.call))).toBe("TOO_MANY_ROUNDS");
});

test("a refusal because of headers is repeated once with the tool read anew", async () => {
  const server = await serve(() => {
    server.tools = [
      {
        name: "t",
        inputSchema: { type: "object", properties: { p: { type: "string", "x-mcp-header": "P" } } },
      },
    ];
    return { status: 400, error: { code: -32020, message: "missing" } };
  }, complete("ok"));
  server.tools = [{ name: "t", inputSchema: { type: "object" } }];
  expect(await (await client(server)).callTool("t", { p: "v" })).toMatchObject({
    status: "complete",
  });
  expect(server.calls.map(({ headers }) => headers["mcp-param-p"])).toEqual([undefined, "v"]);

  const stubborn = await serve({ status: 400, error: { code: -32020, message: "missing" } });
  expect(await failure((await client(stubborn)).callTool("delete_folder"))).toMatchObject({
    code: -32020,
  });
  expect(stubborn.calls).toHaveLength(2);
});

test("what the client did not declare, or can't show, ends the call before any question of the round is shown", async () => {
  const asks: unknown[] = [
    { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } },
    { method: "elicitation/create", params: { mode: "hologram", message: "?" } },
    {
      method: "elicitation/create",
      params: {
        message: "?",
        requestedSchema: { type: "object", properties: { a: { type: "object" } } },
      },
    },
    {
      method: "elicitation/create",
      params: {
        message: "?",
        requestedSchema: { type: "object", properties: {}, required: ["ghost"] },
      },
    },
    {
      method: "elicitation/create",
      params: { requestedSchema: { type: "object", properties: {} } },
    },
    { method: "tools/call", params: {} },
    { method: "elicitation/create" },
    "nonsense",
    null,
  ];
  for (const ask of asks.slice(1)) {
    const server = await serve(inputRequired({ confirm: confirmAsk(), bad: ask }, "s"));
    const host = formHost(() => accept({ confirm: true }));
    expect(await codeOf((await client(server, { host })).callTool("delete_folder"))).toBe(
      "CLIENT_CANNOT_ANSWER",
    );
    expect(host.shown).toHaveLength(0);
    expect(server.calls).toHaveLength(1);
  }
  const server = await serve(inputRequired({ s: asks[0] }, "s"));
  expect(await codeOf((await client(server)).callTool("delete_folder"))).toBe(
    "CLIENT_CANNOT_ANSWER",
  );
});

test("an accepted form that does not fit, and an accepted URL that must not be opened, are not sent", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
  for (const content of [{}, { confirm: "yes" }, { confirm: true, extra: 1 }]) {
    const call = (await client(server, { host: formHost(() => accept(content)) })).callTool(
      "delete_folder",
    );
    expect(await codeOf(call)).toBe("ANSWER_UNUSABLE");
  }
  const url = {
    method: "elicitation/create",
    params: { mode: "url", message: "Go", url: "http://evil.example/" },
  };
  const second = await serve(inputRequired({ url }, "s"));
  const host = { url: async () => ({ action: "accept" }) as const };
  expect(await codeOf((await client(second, { host })).callTool("delete_folder"))).toBe(
    "ANSWER_UNUSABLE",
  );
  expect(
    [...server.calls, ...second.calls].every(
      ({ params }) => params["inputResponses"] === undefined,
    ),
  ).toBe(true);
});

test("keys and fields named like members of Object.prototype are keys and fields", async () => {
  const ask = JSON.parse(
    '{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__"]}}}',
  ) as unknown;
  const asks = JSON.parse(
    `{"constructor":${JSON.stringify(ask)},"toString":${JSON.stringify(ask)}}`,
  ) as Record<string, unknown>;
  const server = await serve(inputRequired(asks, "s"), complete("ok"));
  const content = new Map([
    ["__proto__", "a"],
    ["constructor", "b"],
  ]);
  await (await client(server, { host: formHost(() => ({ action: "accept", content })) })).callTool(
    "delete_folder",
  );
  const responses =
    '{"constructor":{"action":"accept","content":{"__proto__":"a","constructor":"b"}},"toString":{"action":"accept","content":{"__proto__":"a","constructor":"b"}}}';
  expect(server.calls[1]?.body).toContain(`"inputResponses":${responses}`);
});

test("a result that breaks the wire schema is an error and not repeated", async () => {
  for (const result of [
    { content: [] },
    { resultType: 5 },
    { resultType: "input_required" },
    { resultType: "task", taskId: "x" },
  ]) {
    const server = await serve({ result });
    await failure((await client(server)).callTool("delete_folder"));
    expect(server.calls).toHaveLength(1);
  }
});

test("a host that fails ends the call, and nothing is sent for it", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "s"));
  const host = formHost(() => {
    throw new Error("the screen is gone");
  });
  expect(await failure((await client(server, { host })).callTool("delete_folder"))).toMatchObject({
    message: "the screen is gone",
  });
  expect(server.calls).toHaveLength(1);
});

test("a store that fails stops the call before anything is sent", async () => {
  const server = await serve(complete("ok"));
  const connected = await client(server, {
    onChange: async () => {
      throw new Error("disk full");
    },
  });
  expect(await failure(connected.callTool("delete_folder"))).toMatchObject({
    message: "disk full",
  });
  expect(server.calls).toHaveLength(0);
});

test("an aborted call rejects at once, in flight or while it waits to repeat", async () => {
  const abort = new AbortController();
  const server = await serve(async () => {
    abort.abort(new Error("enough"));
    return await new Promise<never>(() => undefined);
  });
  await failure((await client(server)).callTool("delete_folder", {}, { signal: abort.signal }));
  expect(server.calls).toHaveLength(1);

  const busy = await serve({ error: { code: -31001, message: "busy", data: { retryAfterMs: 5 } } });
  const later = new AbortController();
  const clock = {
    ...manualClock(),
    sleep: async (_ms: number, signal: AbortSignal) => {
      later.abort(new Error("enough"));
      signal.throwIfAborted();
    },
  };
  const error = await failure(
    (await client(busy, { clock })).callTool("t", {}, { signal: later.signal }),
  );
  expect(error).toMatchObject({ message: "enough" });
  expect(busy.calls).toHaveLength(1);
});

test("a state goes back to no other server than the one that gave it", async () => {
  const server = await serve(inputRequired({ confirm: confirmAsk() }, "secret"));
  const other = await serve(complete("stolen"));
  const outcome = await (
    await client(server, { host: formHost(() => ({ action: "later" })) })
  ).callTool("t");
  if (outcome.status !== "waiting") throw new Error(outcome.status);
  expect(await failure((await client(other)).resume(outcome.call))).toBeInstanceOf(TypeError);
  expect(other.calls).toHaveLength(0);
});

test("a server of another revision is UNSUPPORTED_VERSION, one that wants a token UNAUTHORIZED", async () => {
  const legacy = await serve(complete("no"));
  legacy.discover = { status: 404, error: { code: -32601, message: "no such method" } };
  expect(await codeOf(client(legacy))).toBe("UNSUPPORTED_VERSION");
  legacy.discover = { status: 404, text: "<h1>Not found</h1>" };
  await expect(client(legacy)).rejects.toMatchObject({
    code: "UNSUPPORTED_VERSION",
    message: expect.stringContaining(`at ${legacy.url} (HTTP 404): check the address`),
  });
  const closed = await serve({ status: 401, text: "" });
  expect(await codeOf((await client(closed)).callTool("t"))).toBe("UNAUTHORIZED");
  closed.discover = { status: 401, text: "" };
  expect(await codeOf(client(closed))).toBe("UNAUTHORIZED");
});

test("unusable options are named when the client is made", async () => {
  const make = (options: object): Promise<unknown> =>
    failure(connect({ url: "http://127.0.0.1:1", host: {}, ...options }));
  expect(await make({ url: "nonsense" })).toBeInstanceOf(TypeError);
  expect(await make({ url: "ftp://x" })).toBeInstanceOf(TypeError);
  expect(await make({ url: "http://u:p@x" })).toBeInstanceOf(TypeError);
  expect(await make({ maxInputRounds: 0 })).toBeInstanceOf(RangeError);
  expect(await make({ requestTimeoutMs: Number.NaN })).toBeInstanceOf(RangeError);
  expect(await make({ retry: { attempts: 0 } })).toBeInstanceOf(RangeError);
  expect(await make({ retry: { firstDelayMs: -1 } })).toBeInstanceOf(RangeError);
});
