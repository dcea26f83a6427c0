/** What a request gets that is as it should be. */

import { RepriseError } from "@reprise/errors";
import { createFront } from "@reprise/front";
import { type JsonObject, metaKeys } from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { fakeRuntime, serverInfo, textReply } from "./support/fakeRuntime.ts";
import { serve } from "./support/requests.ts";

const identity = { "io.modelcontextprotocol/serverInfo": serverInfo };
const callGreet = { method: "tools/call", params: { name: "greet" } };

describe("tools/call", () => {
  test("a complete result goes out as one JSON object with result type and identity", async () => {
    const { call } = serve({ runtime: fakeRuntime() });
    const answer = await call(callGreet);
    expect(answer.status).toBe(200);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.text).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture-server","version":"1.0.0"}}}}',
    );
  });

  test("the runtime gets everything that the request said", async () => {
    const runtime = fakeRuntime();
    const { call } = serve({ runtime });
    await call({
      method: "tools/call",
      params: {
        name: "greet",
        arguments: { who: "Ada" },
        requestState: "sealed",
        inputResponses: { confirm: { action: "accept" } },
      },
      meta: { [metaKeys.idempotencyKey]: "key", [metaKeys.logLevel]: "info" },
    });
    const [request] = runtime.executed;
    expect(request).toMatchObject({
      method: "tools/call",
      target: "greet",
      args: { who: "Ada" },
      caller: { principal: "anonymous" },
      client: {
        info: { name: "test-client", version: "1.0.0" },
        capabilities: {},
        protocolVersion: "2026-07-28",
      },
      requestState: "sealed",
      inputResponses: { confirm: { action: "accept" } },
      idempotencyKey: "key",
      logLevel: "info",
    });
    expect(request?.handler.name).toBe("greet");
    expect(request?.isGone).toBe(false);
    expect(request?.notifications?.progress).toBeUndefined();
  });

  test("a request that opted in to nothing has no way to notify", async () => {
    const runtime = fakeRuntime();
    await serve({ runtime }).call(callGreet);
    expect(runtime.executed[0]?.notifications).toBeUndefined();
  });

  test("a question goes out in the order of the seed page, with the time to answer", async () => {
    const runtime = fakeRuntime({
      execute: () => ({
        kind: "input_required",
        inputRequests: { confirm: { method: "roots/list" } },
        requestState: "sealed",
        answerBeforeMs: Date.UTC(2026, 6, 29),
      }),
    });
    const { text } = await serve({ runtime }).call(callGreet);
    expect(text).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"confirm":{"method":"roots/list"}},"requestState":"sealed","resultType":"input_required","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture-server","version":"1.0.0"},"reprise/answerBefore":"2026-07-29T00:00:00.000Z"}}}',
    );
  });

  test("arguments that do not fit are told to the model as a tool error", async () => {
    const check = async () => ({ ok: false as const, message: "path: expected string" });
    const runtime = fakeRuntime({ tools: [{ name: "greet", check }] });
    const { status, message } = await serve({ runtime }).call(callGreet);
    expect(status).toBe(200);
    expect(message.result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "path: expected string" }],
      resultType: "complete",
    });
    expect(runtime.executed).toHaveLength(0);
  });

  test("an error of the run goes out under its own code", async () => {
    const error = new RepriseError("IN_FLIGHT", "still running", { data: { retryAfterMs: 9 } });
    const runtime = fakeRuntime({ execute: () => ({ kind: "error", error }) });
    const { status, message } = await serve({ runtime }).call({ ...callGreet, id: "a" });
    expect(status).toBe(200);
    expect(message).toEqual({
      jsonrpc: "2.0",
      id: "a",
      error: {
        code: -31002,
        message: "still running",
        data: { retryAfterMs: 9, code: "IN_FLIGHT" },
      },
    });
  });

  test("two refused request states are answered alike in status, headers and body", async () => {
    const causes = ["expired", "altered"];
    const runtime = fakeRuntime({
      execute: () => ({
        kind: "error",
        error: new RepriseError("REQUEST_STATE_INVALID", causes.pop() ?? ""),
      }),
    });
    const { call } = serve({ runtime });
    const [one, other] = [await call(callGreet), await call(callGreet)];
    expect(one.text).toBe(other.text);
    expect(one.status).toBe(other.status);
    expect({ ...one.headers, date: "" }).toEqual({ ...other.headers, date: "" });
    expect(one.message.error).toEqual({ code: -32602, message: "the requestState is not valid" });
  });

  test("a runtime that throws all the same is answered with INTERNAL and tells nothing", async () => {
    const runtime = fakeRuntime({ execute: () => Promise.reject(new Error("db password is x")) });
    const { status, text } = await serve({ runtime }).call(callGreet);
    expect(status).toBe(200);
    expect(text).toContain("-32603");
    expect(text).not.toContain("password");
  });
});

test("a result that is no JSON after all is answered with INTERNAL, not with silence", async () => {
  const result = { content: [], size: 1n } as unknown as JsonObject;
  const runtime = fakeRuntime({ execute: () => ({ kind: "complete", result }) });
  const { status, message } = await serve({ runtime }).call(callGreet);
  expect(status).toBe(200);
  expect(message.error).toMatchObject({ code: -32603 });
});

describe("prompts and resources", () => {
  const parts = {
    prompts: [{ name: "brief" }],
    resources: [{ name: "shop://orders" }],
    resourceTemplates: [{ name: "shop://orders/{id}" }],
  };

  test("a read is never to be cached, for it may depend on caller and moment", async () => {
    const runtime = fakeRuntime({
      ...parts,
      execute: () => ({ kind: "complete", result: { contents: [] } }),
    });
    const { message } = await serve({ runtime }).call({
      method: "resources/read",
      params: { uri: "shop://orders" },
    });
    expect(message.result).toEqual({
      contents: [],
      ttlMs: 0,
      cacheScope: "private",
      resultType: "complete",
      _meta: identity,
    });
    expect(runtime.executed[0]).toMatchObject({
      target: "shop://orders",
      args: { uri: "shop://orders" },
    });
  });

  test("a read that asks carries no cache hints", async () => {
    const runtime = fakeRuntime({
      ...parts,
      execute: () => ({
        kind: "input_required",
        inputRequests: { confirm: { method: "roots/list" } },
        requestState: "s",
        answerBeforeMs: 0,
      }),
    });
    const { text } = await serve({ runtime }).call({
      method: "resources/read",
      params: { uri: "shop://orders" },
    });
    expect(text).not.toContain("ttlMs");
  });

  test("arguments of a prompt that do not fit are invalid params", async () => {
    const check = () => ({ ok: false as const, message: "city is missing" });
    const runtime = fakeRuntime({ prompts: [{ name: "brief", check }] });
    const { status, message } = await serve({ runtime }).call({
      method: "prompts/get",
      params: { name: "brief" },
    });
    expect(status).toBe(200);
    expect(message.error).toEqual({ code: -32602, message: "city is missing" });
  });
});

describe("server/discover", () => {
  test("declares what is served", async () => {
    const runtime = fakeRuntime({
      prompts: [{ name: "p" }],
      resourceTemplates: [{ name: "r://{x}" }],
      completions: {},
      instructions: "Be kind.",
    });
    const { message } = await serve({ runtime }).call({ method: "server/discover" });
    expect(message.result).toEqual({
      supportedVersions: ["2026-07-28"],
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true },
        completions: {},
        logging: {},
      },
      instructions: "Be kind.",
      ttlMs: 300_000,
      cacheScope: "public",
      resultType: "complete",
      _meta: identity,
    });
  });

  test("what is not declared is not served", async () => {
    const { call } = serve({ runtime: fakeRuntime() });
    const { message } = await call({ method: "server/discover" });
    expect(message.result?.["capabilities"]).toEqual({ tools: { listChanged: true }, logging: {} });
    for (const method of ["prompts/list", "resources/read", "completion/complete"]) {
      expect((await call({ method })).status).toBe(404);
    }
  });
});

describe("lists", () => {
  const names = Array.from({ length: 5 }, (_, index) => ({ name: `tool${index}` }));

  test("pages join to the whole list in its order, with the hints on each", async () => {
    const { call } = serve({ runtime: fakeRuntime({ tools: names }), pageSize: 2, listTtlMs: 7 });
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const params = cursor === undefined ? {} : { cursor };
      const { message } = await call({ method: "tools/list", params });
      expect(message.result).toMatchObject({ ttlMs: 7, cacheScope: "public" });
      const { tools } = message.result as { readonly tools?: readonly { readonly name: string }[] };
      seen.push(...(tools ?? []).map((tool) => tool.name));
      cursor = message.result?.["nextCursor"];
    } while (cursor !== undefined);
    expect(seen).toEqual(names.map((entry) => entry.name));
  });

  test("a cursor goes on at the same entry on another instance with other pages", async () => {
    const one = serve({ runtime: fakeRuntime({ tools: names }), pageSize: 2 });
    const other = serve({ runtime: fakeRuntime({ tools: names }), pageSize: 3 });
    const first = await one.call({ method: "tools/list" });
    const cursor = first.message.result?.["nextCursor"];
    const second = await other.call({ method: "tools/list", params: { cursor } });
    expect(second.message.result?.["tools"]).toMatchObject([
      { name: "tool2" },
      { name: "tool3" },
      { name: "tool4" },
    ]);
  });

  test("with auth, a caller sees what its scopes allow and may not share it", async () => {
    const runtime = fakeRuntime({
      tools: [{ name: "open" }, { name: "admin", scopes: ["admin"] }],
    });
    const { call } = serve({
      runtime,
      authenticate: ({ headers }) => {
        const person = String(headers.authorization);
        return {
          caller: {
            principal: person,
            person,
            scopes: person === "root" ? ["admin"] : [],
            claims: {},
          },
        };
      },
    });
    const list = async (authorization: string) =>
      (await call({ method: "tools/list", headers: { authorization } })).message.result;
    expect(await list("user")).toMatchObject({ tools: [{ name: "open" }], cacheScope: "private" });
    expect(await list("root")).toMatchObject({ tools: [{ name: "open" }, { name: "admin" }] });
    const denied = await call({
      method: "tools/call",
      params: { name: "admin" },
      headers: { authorization: "user" },
    });
    expect(denied.status).toBe(403);
    expect(runtime.executed).toHaveLength(0);
  });
});

describe("completion/complete", () => {
  const params = {
    ref: { type: "ref/prompt", name: "brief" },
    argument: { name: "city", value: "B" },
  };

  test("gives at most a hundred suggestions and says that there are more", async () => {
    const cities = Array.from({ length: 120 }, (_, index) => `B${index}`);
    const runtime = fakeRuntime({
      prompts: [{ name: "brief" }],
      completions: { city: () => cities },
    });
    const { message } = await serve({ runtime }).call({ method: "completion/complete", params });
    expect(message.result?.["completion"]).toEqual({
      values: cities.slice(0, 100),
      total: 120,
      hasMore: true,
    });
  });

  test("an argument without suggestions has none, an unknown prompt is an error", async () => {
    const runtime = fakeRuntime({ prompts: [{ name: "brief" }], completions: {} });
    const { call } = serve({ runtime });
    const known = await call({ method: "completion/complete", params });
    expect(known.message.result?.["completion"]).toEqual({ values: [], total: 0, hasMore: false });
    const unknown = await call({
      method: "completion/complete",
      params: { ...params, ref: { type: "ref/prompt", name: "none" } },
    });
    expect(unknown).toMatchObject({ status: 200, message: { error: { code: -32602 } } });
  });

  test.each([
    {},
    { ref: 1 },
    { ...params, argument: { name: 1 } },
    { ...params, context: { arguments: { a: 1 } } },
  ])("parameters %j are refused", async (bad) => {
    const runtime = fakeRuntime({ prompts: [{ name: "brief" }], completions: {} });
    const { message } = await serve({ runtime }).call({
      method: "completion/complete",
      params: bad,
    });
    expect(message.error).toMatchObject({ code: -32602 });
  });
});

describe("beside the endpoint", () => {
  test("a notification is accepted without a body", async () => {
    const { post } = serve({ runtime: fakeRuntime() });
    const answer = await post('{"jsonrpc":"2.0","method":"notifications/x"}', {
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
    });
    expect(answer).toMatchObject({ status: 202, text: "" });
  });

  test("readiness follows the runtime and keeps its reason to itself", async () => {
    const ready = serve({ runtime: fakeRuntime() });
    const broken = serve({ runtime: fakeRuntime({ health: { ok: false, reason: "disk full" } }) });
    expect((await ready.app.inject("/readyz")).statusCode).toBe(200);
    const answer = await broken.app.inject("/readyz");
    expect(answer.statusCode).toBe(503);
    expect(answer.body).not.toContain("disk");
    expect((await broken.app.inject("/healthz")).statusCode).toBe(200);
  });

  test("metrics count by method and outcome, and unknown methods under one label", async () => {
    const { call, app } = serve({ runtime: fakeRuntime({ execute: () => textReply("x") }) });
    await call(callGreet);
    await call(callGreet);
    await call({ method: "made/up" });
    const { body } = await app.inject({ url: "/metrics", headers: { host: "localhost" } });
    expect(body).toContain('reprise_front_requests_total{method="tools/call",outcome="ok"} 2\n');
    expect(body).toContain('{method="other",outcome="METHOD_NOT_FOUND"} 1\n');
    expect(body).not.toContain("made/up");
  });

  test.each([
    [{ path: "mcp" }, /path/],
    [{ maxBodyBytes: 0 }, /maxBodyBytes/],
    [{ pageSize: 1.5 }, /pageSize/],
    [{ heartbeatMs: Number.POSITIVE_INFINITY }, /heartbeatMs/],
    [{ allowedHosts: ["https://x"] }, /allowedHosts/],
    [{ allowedOrigins: ["x.example"] }, /allowedOrigins/],
  ])("the option %j is refused by name", (options, message) => {
    expect(() => createFront({ runtime: fakeRuntime(), ...options })).toThrow(message);
  });
});
