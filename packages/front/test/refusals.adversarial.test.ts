/** The refusal table of docs/design.md section 8, and those who try to get around it. */
import { metaKeys } from "@reprise/protocol";
import { describe, expect, test } from "vitest";
import { fakeRuntime } from "./support/fakeRuntime.ts";
import { type McpRequest, serve, wire } from "./support/requests.ts";

const call: McpRequest = { method: "tools/call", params: { name: "greet", arguments: {} } };
const json = { "content-type": "application/json", accept: "*/*" };

/** A cursor as this release writes it: whoever reads one can make one, so it must not be trusted. */
function cursorOf(list: string, name: string): string {
  return Buffer.from(JSON.stringify([1, list, name])).toString("base64url");
}

describe("the refusal table", () => {
  const parts = {
    tools: [
      { name: "greet" },
      { name: "sampler", needs: { sampling: true } },
      {
        name: "routed",
        headerParams: [{ header: "Region", path: ["region"], type: "string" as const }],
      },
    ],
    prompts: [{ name: "p" }],
    resources: [{ name: "r://x" }],
  };
  const envelope = (key: string): Record<string, undefined> => ({ [key]: undefined });
  const rows: [string, McpRequest, number, number][] = [
    ["_meta without version", { ...call, meta: envelope(metaKeys.protocolVersion) }, 400, -32602],
    [
      "_meta without capabilities",
      { ...call, meta: envelope(metaKeys.clientCapabilities) },
      400,
      -32602,
    ],
    ["Mcp-Method missing", { ...call, headers: { "mcp-method": undefined } }, 400, -32020],
    [
      "Mcp-Method unlike the body",
      { ...call, headers: { "mcp-method": "tools/list" } },
      400,
      -32020,
    ],
    ["Mcp-Name missing", { ...call, headers: { "mcp-name": undefined } }, 400, -32020],
    ["Mcp-Name unlike the body", { ...call, headers: { "mcp-name": "sampler" } }, 400, -32020],
    [
      "MCP-Protocol-Version missing",
      { ...call, headers: { "mcp-protocol-version": undefined } },
      400,
      -32020,
    ],
    [
      "header and envelope of two versions",
      { ...call, meta: { [metaKeys.protocolVersion]: "v999.0.0" } },
      400,
      -32020,
    ],
    [
      "Mcp-Param missing",
      { method: "tools/call", params: { name: "routed", arguments: { region: "eu" } } },
      400,
      -32020,
    ],
    [
      "Mcp-Param without a value",
      { method: "tools/call", params: { name: "routed" }, headers: { "mcp-param-region": "eu" } },
      400,
      -32020,
    ],
    [
      "a version that is not served",
      {
        ...call,
        meta: { [metaKeys.protocolVersion]: "v999.0.0" },
        headers: { "mcp-protocol-version": "v999.0.0" },
      },
      400,
      -32022,
    ],
    ["a capability missing", { method: "tools/call", params: { name: "sampler" } }, 400, -32021],
    ["an unknown method", { method: "tools/fly" }, 404, -32601],
    ["a method of the prototype", { method: "toString" }, 404, -32601],
    ["a subscription without a filter", { method: "subscriptions/listen" }, 200, -32602],
    ...[
      "initialize",
      "ping",
      "logging/setLevel",
      "resources/subscribe",
      "resources/unsubscribe",
    ].map((method): [string, McpRequest, number, number] => [
      `${method} with a modern envelope`,
      { method },
      404,
      -32601,
    ]),
    ["an unknown tool", { method: "tools/call", params: { name: "none" } }, 200, -32602],
    [
      "a tool of the prototype",
      { method: "tools/call", params: { name: "constructor" } },
      200,
      -32602,
    ],
    ["a tool name that is no string", { method: "tools/call", params: { name: 1 } }, 200, -32602],
    [
      "arguments that are a list",
      { method: "tools/call", params: { name: "greet", arguments: [] } },
      200,
      -32602,
    ],
    ["an unknown prompt", { method: "prompts/get", params: { name: "none" } }, 200, -32602],
    ["an unknown resource", { method: "resources/read", params: { uri: "r://none" } }, 200, -32602],
    ["a made-up cursor", { method: "tools/list", params: { cursor: "abc" } }, 200, -32602],
    ["a cursor that is no string", { method: "tools/list", params: { cursor: 7 } }, 200, -32602],
    ["an empty cursor", { method: "tools/list", params: { cursor: "" } }, 200, -32602],
    [
      "the cursor of another list",
      { method: "tools/list", params: { cursor: cursorOf("prompts", "p") } },
      200,
      -32602,
    ],
    [
      "a cursor after no entry",
      { method: "tools/list", params: { cursor: cursorOf("tools", "gone") } },
      200,
      -32602,
    ],
    [
      "a cursor with another last character",
      { method: "tools/list", params: { cursor: `${cursorOf("tools", "greet")}=` } },
      200,
      -32602,
    ],
  ];
  test.each(rows)("%s", async (_title, request, status, code) => {
    const runtime = fakeRuntime(parts);
    const answer = await serve({ runtime }).call({ id: "id-7", ...request });
    expect(answer.status).toBe(status);
    expect(answer.message).toMatchObject({ jsonrpc: "2.0", id: "id-7", error: { code } });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(runtime.executed).toHaveLength(0);
  });

  test("data is what the protocol says: supported versions, capabilities, the URI", async () => {
    const { call: send } = serve({ runtime: fakeRuntime(parts) });
    const version = await send({
      ...call,
      meta: { [metaKeys.protocolVersion]: "v9" },
      headers: { "mcp-protocol-version": "v9" },
    });
    expect(version.message.error?.["data"]).toEqual({ supported: ["2026-07-28"], requested: "v9" });
    const capability = await send({ method: "tools/call", params: { name: "sampler" } });
    expect(capability.message.error?.["data"]).toEqual({ requiredCapabilities: { sampling: {} } });
    const resource = await send({ method: "resources/read", params: { uri: "r://none" } });
    expect(resource.message.error?.["data"]).toEqual({ uri: "r://none" });
  });

  test.each([
    ["not JSON", "{", {}, 400, -32700],
    ["nothing", "", {}, 400, -32700],
    ["a batch", "[]", {}, 400, -32600],
    ["a number", "7", {}, 400, -32600],
    ["null", "null", {}, 400, -32600],
    ["a null id", '{"jsonrpc":"2.0","id":null,"method":"tools/list"}', {}, 400, -32600],
    [
      "a __proto__ member",
      '{"jsonrpc":"2.0","id":1,"method":"x","params":{"__proto__":{}}}',
      {},
      400,
      -32600,
    ],
    ["text/plain", "{}", { "content-type": "text/plain" }, 415, -32600],
    ["a form", "a=b", { "content-type": "application/x-www-form-urlencoded" }, 415, -32600],
    ["no content type", "{}", { "content-type": undefined }, 415, -32600],
    ["Accept: application/json", "{}", { accept: "application/json" }, 406, -32600],
    ["Accept: text/html", "{}", { accept: "text/html" }, 406, -32600],
    [
      "event streams refused by quality",
      "{}",
      { accept: "*/*, text/event-stream;q=0" },
      406,
      -32600,
    ],
    ["a body above the limit", `"${"x".repeat(2_000)}"`, {}, 413, -32600],
  ])("%s", async (_title, body, headers, status, code) => {
    const { post } = serve({ runtime: fakeRuntime(), maxBodyBytes: 1_000 });
    const answer = await post(body, { ...json, ...headers });
    expect(answer.status).toBe(status);
    expect(answer.message.error).toMatchObject({ code });
  });

  test.each([
    "application/json, text/event-stream",
    "text/event-stream,application/json;q=0.1",
    "*/*",
    "application/*, text/*",
    "Application/JSON, Text/Event-Stream",
  ])("Accept: %s allows both forms", async (accept) => {
    const { call: send } = serve({ runtime: fakeRuntime() });
    expect((await send({ ...call, headers: { accept } })).status).toBe(200);
  });

  test("a missing Accept header allows everything, as HTTP says", async () => {
    const { call: send } = serve({ runtime: fakeRuntime() });
    expect((await send({ ...call, headers: { accept: undefined } })).status).toBe(200);
  });

  test("GET, DELETE and others are told that only POST is served", async () => {
    const { app } = serve({ runtime: fakeRuntime() });
    for (const method of ["GET", "DELETE", "PUT", "PATCH", "HEAD"] as const) {
      const answer = await app.inject({ method, url: "/mcp", headers: { host: "localhost" } });
      expect(answer.statusCode, method).toBe(405);
      expect(answer.headers.allow).toContain("POST");
    }
  });

  test("without the legacy lane, initialize learns which versions are served", async () => {
    const { post } = serve({ runtime: fakeRuntime(), legacy: "none" });
    const answer = await post(
      '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}',
      json,
    );
    expect(answer.status).toBe(400);
    expect(answer.message).toMatchObject({
      id: 0,
      error: { code: -32022, data: { supported: ["2026-07-28"], requested: "2025-11-25" } },
    });
  });
});

test("a header that repeats is no second chance for another name", async () => {
  const { app } = serve({ runtime: fakeRuntime() });
  const { headers, body } = wire(call);
  const answer = await app.inject({
    method: "POST",
    url: "/mcp",
    headers: { ...headers, "mcp-name": ["greet", "other"] } as never,
    payload: body,
  });
  expect(answer.statusCode).toBe(400);
});
