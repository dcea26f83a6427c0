/**
 * Which messages come in, with the official package's classifier as judge of the era and of the refusals.
 */
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  classifyInboundRequest,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { errorSpecs, isRepriseError } from "@reprise/errors";
import { admit, type Headers, legacyRefusal, metaKeys, readMessage } from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const meta = {
  [metaKeys.protocolVersion]: "2026-07-28",
  [metaKeys.clientCapabilities]: {},
};
const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
const request = (params?: object, method = "tools/list"): object => ({
  jsonrpc: "2.0",
  id: 1,
  method,
  ...(params === undefined ? {} : { params }),
});

/** What we make of a message: its era, or the refusal's code and status. */
function ours(body: unknown, headers: Headers): string {
  try {
    const inbound = admit(readMessage(body as never), headers);
    return inbound.kind === "legacy" ? "legacy" : "modern";
  } catch (error) {
    if (!isRepriseError(error)) throw error;
    return `${errorSpecs[error.code].httpStatus} ${errorSpecs[error.code].rpcCode}`;
  }
}

function theirs(body: unknown, headers: Headers): string {
  const version = headers["mcp-protocol-version"] as string | undefined;
  const method = headers["mcp-method"] as string | undefined;
  const outcome = classifyInboundRequest({
    httpMethod: "POST",
    body,
    ...(version === undefined ? {} : { protocolVersionHeader: version }),
    ...(method === undefined ? {} : { mcpMethodHeader: method }),
  });
  return outcome.kind === "reject" ? `${outcome.httpStatus} ${outcome.code}` : outcome.kind;
}

describe("the era of a message", () => {
  const agreed: [string, unknown, Headers][] = [
    ["a complete modern request", request({ _meta: meta }), modern],
    [
      "header and space around it",
      request({ _meta: meta }),
      { ...modern, "mcp-protocol-version": " 2026-07-28\t" },
    ],
    [
      "initialize with a modern envelope",
      request({ _meta: meta }, "initialize"),
      { ...modern, "mcp-method": "initialize" },
    ],
    [
      "initialize of the handshake era",
      request({ protocolVersion: "2025-11-25" }, "initialize"),
      {},
    ],
    ["a request without envelope and header", request(), {}],
    ["a request of 2025-11-25", request({}), { "mcp-protocol-version": "2025-11-25" }],
    [
      "a request of 2025-11-25 with Mcp-Method",
      request({}),
      { ...modern, "mcp-protocol-version": "2025-11-25" },
    ],
    ["modern header, no _meta", request({}), modern],
    ["modern header, no params", request(), modern],
    [
      "modern header, _meta without version",
      request({ _meta: { [metaKeys.clientCapabilities]: {} } }),
      modern,
    ],
    ["no capabilities", request({ _meta: { [metaKeys.protocolVersion]: "2026-07-28" } }), modern],
    [
      "capabilities that are a list",
      request({ _meta: { ...meta, [metaKeys.clientCapabilities]: [] } }),
      modern,
    ],
    [
      "a version that is a number",
      request({ _meta: { ...meta, [metaKeys.protocolVersion]: 2026 } }),
      modern,
    ],
    [
      "client info without a version",
      request({ _meta: { ...meta, [metaKeys.clientInfo]: { name: "x" } } }),
      modern,
    ],
    [
      "a log level that is none",
      request({ _meta: { ...meta, [metaKeys.logLevel]: "loud" } }),
      modern,
    ],
    [
      "a header for another version",
      request({ _meta: { ...meta, [metaKeys.protocolVersion]: "v999.0.0" } }),
      modern,
    ],
    [
      "an envelope of the handshake era under a modern header",
      request({ _meta: { ...meta, [metaKeys.protocolVersion]: "2025-11-25" } }),
      modern,
    ],
    ["another Mcp-Method", request({ _meta: meta }), { ...modern, "mcp-method": "tools/call" }],
    [
      "Mcp-Method in another case",
      request({ _meta: meta }),
      { ...modern, "mcp-method": "Tools/List" },
    ],
    [
      "a notification with a modern header",
      { jsonrpc: "2.0", method: "notifications/x" },
      { "mcp-protocol-version": "2026-07-28" },
    ],
    [
      "a notification with another Mcp-Method",
      { jsonrpc: "2.0", method: "notifications/x", params: { _meta: meta } },
      modern,
    ],
    ["a legacy notification", { jsonrpc: "2.0", method: "notifications/initialized" }, {}],
    ["no JSON-RPC at all", { hello: "world" }, modern],
    ["another JSON-RPC version", { ...request({ _meta: meta }), jsonrpc: "1.0" }, modern],
    ["a null id", { ...request({ _meta: meta }), id: null }, modern],
    ["a fractional id", { ...request({ _meta: meta }), id: 1.5 }, modern],
    ["params that are a list", { jsonrpc: "2.0", id: 1, method: "tools/list", params: [] }, modern],
    ["an empty batch", [], modern],
    ["a batch of modern requests", [request({ _meta: meta })], modern],
    ["a string", "hello", modern],
    ["null", null, modern],
  ];
  test.each(agreed)("%s is judged as the official package does", (_title, body, headers) => {
    expect(ours(body, headers)).toBe(theirs(body, headers));
  });

  test("a version nobody serves is told so, whatever else its envelope lacks", () => {
    const params = { _meta: { [metaKeys.protocolVersion]: "v999.0.0" } };
    expect(ours(request(params), { ...modern, "mcp-protocol-version": "v999.0.0" })).toBe(
      "400 -32022",
    );
  });

  test.each([null, 1.5, {}])("a progress token %j is a malformed envelope", (progressToken) => {
    expect(ours(request({ _meta: { ...meta, progressToken } }), modern)).toBe("400 -32602");
  });

  test("a posted response is no request", () => {
    expect(ours({ jsonrpc: "2.0", id: 1, result: {} }, modern)).toBe("400 -32600");
  });

  test("a request needs both standard headers", () => {
    expect(ours(request({ _meta: meta }), { "mcp-method": "tools/list" })).toBe("400 -32020");
    expect(ours(request({ _meta: meta }), { "mcp-protocol-version": "2026-07-28" })).toBe(
      "400 -32020",
    );
  });

  test("a header sent twice names no version", () => {
    const headers = { ...modern, "mcp-protocol-version": "2026-07-28, 2026-07-28" };
    expect(ours(request({ _meta: meta }), headers)).toBe("400 -32020");
  });
});

describe("the refusal of a legacy request", () => {
  const refusalOf = (body: object, headers: Headers) => {
    const inbound = admit(readMessage(body as never), headers);
    if (inbound.kind !== "legacy") throw new Error("not legacy");
    return legacyRefusal(inbound);
  };

  test("names the version of an initialize and what is served", () => {
    const error = refusalOf(request({ protocolVersion: "2025-06-18" }, "initialize"), {});
    expect(error.code).toBe("UNSUPPORTED_VERSION");
    expect(error.data).toEqual({ supported: ["2026-07-28"], requested: "2025-06-18" });
  });

  test("names the header's version of any other request", () => {
    const error = refusalOf(request({}), { "mcp-protocol-version": "2025-11-25" });
    expect(error.data).toEqual({ supported: ["2026-07-28"], requested: "2025-11-25" });
  });

  test("of a request that names no version says that the header is missing", () => {
    expect(refusalOf(request({}), {}).code).toBe("HEADER_MISMATCH");
  });
});

test("the keys of _meta are the official ones", () => {
  expect(metaKeys).toMatchObject({
    protocolVersion: PROTOCOL_VERSION_META_KEY,
    clientInfo: CLIENT_INFO_META_KEY,
    clientCapabilities: CLIENT_CAPABILITIES_META_KEY,
    logLevel: LOG_LEVEL_META_KEY,
    serverInfo: SERVER_INFO_META_KEY,
  });
});
