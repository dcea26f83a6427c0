/** What may stand in the body of a legacy POST. */
import {
  isLegacyOnly,
  type JsonValue,
  type LegacyRevision,
  legacyRevisions,
  maxBatch,
  parseBody,
  readLegacyBody,
} from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const read = (text: string, revision?: LegacyRevision) =>
  readLegacyBody(parseBody(Buffer.from(text)), revision);
const refused = expect.objectContaining({ code: "INVALID_REQUEST" });
const ping = (id: JsonValue) => ({ jsonrpc: "2.0", id, method: "ping" });
const answer = (id: JsonValue) => ({ jsonrpc: "2.0", id, result: { action: "accept" } });

describe.each(legacyRevisions)("one message on %s", (revision) => {
  test("a request, a notification, a result and an error come in", () => {
    expect(readLegacyBody(ping("a"), revision)).toEqual({
      kind: "calls",
      isBatch: false,
      messages: [{ kind: "request", id: "a", method: "ping", params: undefined }],
    });
    expect(
      readLegacyBody({ jsonrpc: "2.0", method: "notifications/initialized" }, revision),
    ).toMatchObject({ kind: "calls", messages: [{ kind: "notification" }] });
    expect(readLegacyBody(answer("run.ask.1"), revision)).toEqual({
      kind: "responses",
      isBatch: false,
      messages: [{ kind: "response", id: "run.ask.1", result: { action: "accept" } }],
    });
    expect(
      read('{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":[1]}}', revision),
    ).toMatchObject({
      kind: "responses",
      messages: [{ id: 1, error: { code: -1, message: "no" } }],
    });
  });

  test.each([
    [
      "both a result and an error",
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
    ],
    ["a result beside a null error", '{"jsonrpc":"2.0","id":1,"result":{},"error":null}'],
    ["no id", '{"jsonrpc":"2.0","result":{}}'],
    ["a null id", '{"jsonrpc":"2.0","id":null,"result":{}}'],
    ["an id that JSON.parse changes", '{"jsonrpc":"2.0","id":9007199254740993,"result":{}}'],
    ["a float as id", '{"jsonrpc":"2.0","id":1.5,"result":{}}'],
    ["a result that is a list", '{"jsonrpc":"2.0","id":1,"result":[]}'],
    ["a result that is null", '{"jsonrpc":"2.0","id":1,"result":null}'],
    ["an error that is text", '{"jsonrpc":"2.0","id":1,"error":"no"}'],
    ["an error without a code", '{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}'],
    [
      "an error with a code of half",
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1.5,"message":"no"}}',
    ],
    ["an error without a message", '{"jsonrpc":"2.0","id":1,"error":{"code":-1}}'],
    ["another version of JSON-RPC", '{"jsonrpc":"1.0","id":1,"result":{}}'],
    ["neither method nor result", '{"jsonrpc":"2.0","id":1}'],
    ["a method and a result", '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}'],
    ["a method that is no text", '{"jsonrpc":"2.0","id":1,"method":7}'],
    ["params as a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'],
    ["nothing", "null"],
    ["text", '"ping"'],
  ])("a message with %s is refused", (_title, text) => {
    expect(() => read(text, revision)).toThrow(refused);
  });
});

describe("batches", () => {
  test("2025-03-26 takes requests and notifications together, in their order", () => {
    const body = [ping(1), { jsonrpc: "2.0", method: "notifications/initialized" }, ping("1")];
    expect(readLegacyBody(body as JsonValue, "2025-03-26")).toMatchObject({
      kind: "calls",
      isBatch: true,
      messages: [{ id: 1 }, { kind: "notification" }, { id: "1" }],
    });
  });

  test("2025-03-26 takes several responses", () => {
    expect(readLegacyBody([answer("a"), answer("b")] as JsonValue, "2025-03-26")).toMatchObject({
      kind: "responses",
      isBatch: true,
      messages: [{ id: "a" }, { id: "b" }],
    });
  });

  test.each(["2025-11-25", "2025-06-18", undefined] as const)(
    "with revision %s there are none",
    (revision) => {
      expect(() => readLegacyBody([ping(1)] as JsonValue, revision)).toThrow(refused);
    },
  );

  test.each<[string, unknown[]]>([
    ["nothing in it", []],
    ["initialize in it", [{ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }]],
    ["requests and responses mixed", [ping(1), answer("a")]],
    ["a batch in it", [[ping(1)]]],
    ["an id twice", [ping(1), ping(2), ping(1)]],
    ["a response twice", [answer("a"), answer("a")]],
    ["one message that is none", [ping(1), 7]],
    ["one null", [ping(1), null]],
    [`more than ${maxBatch} messages`, Array.from({ length: maxBatch + 1 }, (_, id) => ping(id))],
  ])("a batch with %s is refused as a whole", (_title, body) => {
    expect(() => readLegacyBody(body as JsonValue, "2025-03-26")).toThrow(refused);
  });

  test(`a batch of ${maxBatch} is fine`, () => {
    const body = Array.from({ length: maxBatch }, (_, id) => ping(id));
    expect(readLegacyBody(body as JsonValue, "2025-03-26").messages).toHaveLength(maxBatch);
  });
});

describe("hostile bodies", () => {
  test("a result keeps members named like those of prototypes as plain members", () => {
    const body =
      '{"jsonrpc":"2.0","id":"toString","result":{"constructor":{"x":1},"hasOwnProperty":1}}';
    const { messages } = read(body, "2025-11-25");
    expect(messages).toEqual([
      { kind: "response", id: "toString", result: { constructor: { x: 1 }, hasOwnProperty: 1 } },
    ]);
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test("ids named like members of prototypes are not the same as each other", () => {
    const body = [ping("constructor"), ping("__proto__"), ping("toString")];
    expect(readLegacyBody(body as JsonValue, "2025-03-26").messages).toHaveLength(3);
  });

  test("a huge id is echoed by nobody here, and takes no longer than its bytes", () => {
    const id = "x".repeat(1_000_000);
    expect(read(JSON.stringify(answer(id)), "2025-11-25").messages[0]).toMatchObject({ id });
  });
});

describe("whether a body can only be legacy", () => {
  const modern = { "mcp-protocol-version": "2026-07-28" };
  const legacy = { "mcp-protocol-version": "2025-03-26" };

  test.each<[string, unknown, Record<string, string>, boolean]>([
    ["a response without a header", answer(1), {}, true],
    [
      "a response with a legacy header",
      answer(1),
      { "mcp-protocol-version": " 2025-11-25 " },
      true,
    ],
    ["a response with the modern header", answer(1), modern, false],
    ["an array without a header", [ping(1)], {}, true],
    ["an array with a legacy header", [], legacy, true],
    ["an array with the modern header", [ping(1)], modern, false],
    [
      "an array with a header that is no revision",
      [ping(1)],
      { "mcp-protocol-version": "x" },
      false,
    ],
    ["a request: its envelope tells", ping(1), {}, false],
    ["nothing", null, {}, false],
  ])("%s: %j", (_title, body, headers, expected) => {
    expect(isLegacyOnly(body as JsonValue, headers)).toBe(expected);
  });
});
