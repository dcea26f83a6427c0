import {
  DiscoverResultSchema,
  JSONRPCErrorResponseSchema,
  JSONRPCNotificationSchema,
} from "@modelcontextprotocol/core";
import { errorCodes, errorSpecs, RepriseError } from "@reprise/errors";
import {
  completeResult,
  errorResponse,
  inputRequiredResult,
  logNotification,
  progressNotification,
  resultEnding,
  resultResponse,
  unsupportedVersion,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const info = { name: "fixture-server", version: "1.0.0" };
const ending = resultEnding(info);

describe("errors", () => {
  test.each(errorCodes)(
    "%s goes out with its row's status and code, as the schema wants",
    (code) => {
      const reply = errorResponse(new RepriseError(code, "what happened"), 7);
      expect(reply.status).toBe(errorSpecs[code].httpStatus);
      const body = JSON.parse(reply.body);
      expect(body).toMatchObject({
        jsonrpc: "2.0",
        id: 7,
        error: { code: errorSpecs[code].rpcCode },
      });
      expect(JSONRPCErrorResponseSchema.safeParse(body).success).toBe(true);
    },
  );

  test("our own codes carry their name beside what they bring", () => {
    const error = new RepriseError("IN_FLIGHT", "still running", { data: { retryAfterMs: 500 } });
    expect(JSON.parse(errorResponse(error, 1).body).error).toEqual({
      code: -31002,
      message: "still running",
      data: { retryAfterMs: 500, code: "IN_FLIGHT" },
    });
  });

  test("author errors are told apart by name, since they share -32603", () => {
    const { error } = JSON.parse(errorResponse(new RepriseError("NAME_REUSED", "x"), 1).body);
    expect(error).toMatchObject({ code: -32603, data: { code: "NAME_REUSED" } });
  });

  test("errors of the protocol carry its data and nothing else", () => {
    const version = JSON.parse(errorResponse(unsupportedVersion("v999"), 1).body);
    expect(version.error.data).toEqual({ supported: ["2026-07-28"], requested: "v999" });
    const header = JSON.parse(errorResponse(new RepriseError("HEADER_MISMATCH", "x"), 1).body);
    expect(header.error).not.toHaveProperty("data");
  });

  test("a refused request state tells nothing, whatever the error knew", () => {
    const one = new RepriseError("REQUEST_STATE_INVALID", "expired", { data: { why: "expired" } });
    const other = new RepriseError("REQUEST_STATE_INVALID", "the tag is wrong");
    expect(errorResponse(one, 1)).toEqual(errorResponse(other, 1));
    expect(errorResponse(one, 1).body).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"the requestState is not valid"}}',
    );
  });

  test("an id that could not be read is left out, not null", () => {
    expect(
      JSON.parse(errorResponse(new RepriseError("PARSE_ERROR", "x"), undefined).body),
    ).not.toHaveProperty("id");
  });
});

describe("results", () => {
  test("input_required has the members of the seed page in its order", () => {
    const text = resultResponse(
      1,
      inputRequiredResult({ confirm: { method: "roots/list" } }, "sealed", 0, info),
    );
    expect(text).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"inputRequests":{"confirm":{"method":"roots/list"}},"requestState":"sealed","resultType":"input_required","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"fixture-server","version":"1.0.0"},"reprise/answerBefore":"1970-01-01T00:00:00.000Z"}}}',
    );
  });

  test.each([{}, { content: [] }, { content: [{ type: "text", text: 'a"}' }], isError: true }])(
    "%j is completed by cutting text as it would be by copying",
    (result) => {
      expect(JSON.parse(completeResult(result, ending))).toEqual({
        ...result,
        resultType: "complete",
        _meta: { "io.modelcontextprotocol/serverInfo": info },
      });
    },
  );

  test("an author's _meta is kept, but names no other server and no other result type", () => {
    const result = {
      resultType: "input_required",
      _meta: { mine: 1, "io.modelcontextprotocol/serverInfo": { name: "impostor", version: "0" } },
    };
    expect(JSON.parse(completeResult(result, ending))).toEqual({
      resultType: "complete",
      _meta: { mine: 1, "io.modelcontextprotocol/serverInfo": info },
    });
  });

  test("cache hints of the server win over those in a result, and stand there once", () => {
    const hints = resultEnding(info, { ttlMs: 0, cacheScope: "private" });
    const text = completeResult({ contents: [], ttlMs: 9, cacheScope: "public" }, hints);
    expect(text.match(/ttlMs/g)).toHaveLength(1);
    expect(JSON.parse(text)).toMatchObject({ ttlMs: 0, cacheScope: "private" });
  });

  test("a discovery passes the official schema", () => {
    const hints = resultEnding(info, { ttlMs: 5, cacheScope: "public" });
    const text = completeResult({ supportedVersions: ["2026-07-28"], capabilities: {} }, hints);
    expect(DiscoverResultSchema.safeParse(JSON.parse(text)).success).toBe(true);
  });

  test.each(["plain", 'quote"', "line\nbreak", "\u2028"])(
    "a string id %j is echoed exactly",
    (id) => {
      expect(JSON.parse(resultResponse(id, "{}"))).toEqual({ jsonrpc: "2.0", id, result: {} });
    },
  );
});

test.each([
  progressNotification("t", 1, 2, "half"),
  progressNotification(1, 0.5, undefined, undefined),
  logNotification("info", { a: "b\nc" }, "shop"),
])("%s is a notification on one line", (text) => {
  expect(text).not.toContain("\n");
  expect(JSONRPCNotificationSchema.safeParse(JSON.parse(text)).success).toBe(true);
});
