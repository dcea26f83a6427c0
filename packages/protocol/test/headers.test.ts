import {
  checkNameHeader,
  checkParamHeaders,
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderParamRule,
} from "@reprise/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seed } from "../../../test/support/config.ts";

const mismatch = expect.objectContaining({ code: "HEADER_MISMATCH" });

describe("header values", () => {
  test.each([
    ["us-west1", "us-west1"],
    ["Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="],
    [" padded ", "=?base64?IHBhZGRlZCA=?="],
    ["line1\nline2", "=?base64?bGluZTEKbGluZTI=?="],
    ["=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="],
    ["", ""],
  ])("%j is written as the specification's table says", (value, header) => {
    expect(encodeHeaderValue(value)).toBe(header);
    expect(decodeHeaderValue(header)).toBe(value);
  });

  test("every string survives writing and reading", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (value) => {
        expect(decodeHeaderValue(encodeHeaderValue(value))).toBe(value.toWellFormed());
      }),
      { seed },
    );
  });

  test.each([
    ["padding missing", "=?base64?SGVsbG8?="],
    ["padding too long", "=?base64?SGVsbG8===?="],
    ["padding inside", "=?base64?SGVs=bG8=?="],
    ["bits left over", "=?base64?SGVsbG9=?="],
    ["the URL alphabet", "=?base64?8J-YgA==?="],
    ["a space inside", "=?base64?SGVs bG8=?="],
    ["a stray character", "=?base64?SGVs!bG8=?="],
    ["bytes that are no UTF-8", "=?base64?/w==?="],
    ["an unmarked character outside ASCII", "caf\u00e9"],
    ["a control character", "a\u0001b"],
  ])("%s is malformed", (_title, header) => {
    expect(decodeHeaderValue(header)).toBeUndefined();
  });

  test.each(["=?BASE64?SGVsbG8=?=", "=?base64?=", "=?base64?SGVsbG8=", "SGVsbG8=?="])(
    "%s is literal text, because its marks are not exactly those of the protocol",
    (header) => {
      expect(decodeHeaderValue(header)).toBe(header);
    },
  );

  test("space and tabs around a value are not part of it", () => {
    expect(decodeHeaderValue(" \tplain\t ")).toBe("plain");
  });
});

describe("Mcp-Name", () => {
  test("matches plain and encoded", () => {
    checkNameHeader({ "mcp-name": " greet " }, "greet");
    checkNameHeader({ "mcp-name": encodeHeaderValue("grüßen") }, "grüßen");
  });

  test.each([
    ["missing", {}],
    ["another name", { "mcp-name": "other" }],
    ["another case", { "mcp-name": "Greet" }],
    ["sent twice", { "mcp-name": "greet, greet" }],
    ["malformed", { "mcp-name": "=?base64?Z3JlZXQ?=" }],
  ])("%s is a mismatch", (_title, headers) => {
    expect(() => checkNameHeader(headers, "greet")).toThrow(mismatch);
  });

  test("raw bytes equal to the body are refused all the same: they have to be encoded", () => {
    expect(() => checkNameHeader({ "mcp-name": "caf\u00e9" }, "caf\u00e9")).toThrow(mismatch);
  });

  test("a name that looks encoded is not taken literally", () => {
    const name = "=?base64?Z3JlZXQ=?=";
    expect(() => checkNameHeader({ "mcp-name": name }, name)).toThrow(mismatch);
    checkNameHeader({ "mcp-name": encodeHeaderValue(name) }, name);
  });
});

describe("Mcp-Param-*", () => {
  const rules: HeaderParamRule[] = [
    { header: "Region", path: ["region"], type: "string" },
    { header: "Limit", path: ["page", "limit"], type: "integer" },
    { header: "Dry", path: ["dry"], type: "boolean" },
  ];
  const check = (headers: Record<string, string>, args: object): void =>
    checkParamHeaders(headers, rules, args as Record<string, never>);

  test("mirrors strings, integers and booleans at any depth", () => {
    check(
      { "mcp-param-region": "eu", "mcp-param-limit": "42", "mcp-param-dry": "true" },
      { region: "eu", page: { limit: 42 }, dry: true },
    );
  });

  test("an absent or null argument expects no header", () => {
    check({}, { region: null });
    check({}, {});
  });

  test("integers are compared as numbers", () => {
    check({ "mcp-param-limit": "42.0" }, { page: { limit: 42 } });
    check({ "mcp-param-limit": "-7" }, { page: { limit: -7 } });
  });

  test.each([
    ["missing header", {}, { region: "eu" }],
    ["other string", { "mcp-param-region": "us" }, { region: "eu" }],
    ["header without a value in the body", { "mcp-param-region": "eu" }, {}],
    ["header for a null", { "mcp-param-region": "eu" }, { region: null }],
    ["header for an object", { "mcp-param-region": "eu" }, { region: { a: 1 } }],
    ["malformed header", { "mcp-param-region": "=?base64?!?=" }, { region: "eu" }],
    ["malformed header and no value", { "mcp-param-region": "=?base64?!?=" }, {}],
    ["boolean in another case", { "mcp-param-dry": "True" }, { dry: true }],
    ["hexadecimal", { "mcp-param-limit": "0x2a" }, { page: { limit: 42 } }],
    ["exponent", { "mcp-param-limit": "4.2e1" }, { page: { limit: 42 } }],
    ["empty", { "mcp-param-limit": "" }, { page: { limit: 0 } }],
    [
      "two integers that are the same double",
      { "mcp-param-limit": "9007199254740993" },
      { page: { limit: 9007199254740992 } },
    ],
  ])("%s is a mismatch", (_title, headers, args) => {
    expect(() => check(headers as Record<string, string>, args)).toThrow(mismatch);
  });

  test("a path never leads into a prototype", () => {
    const rule: HeaderParamRule = { header: "X", path: ["constructor", "name"], type: "string" };
    checkParamHeaders({}, [rule], {});
  });
});
