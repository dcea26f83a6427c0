import { maxDepth, parseBody, readMessage, requestIdOf } from "@reprise/protocol";
import { describe, expect, test } from "vitest";

const parse = (text: string) => parseBody(Buffer.from(text));
const code = (expected: string) => expect.objectContaining({ code: expected });

describe("bodies that must not come in", () => {
  test.each([
    ["nothing", ""],
    ["half an object", '{"jsonrpc":"2.0"'],
    ["two objects", "{}{}"],
    ["a second byte order mark", "\ufeff\ufeff{}"],
    ["NaN", '{"id":NaN}'],
  ])("%s is not JSON", (_title, text) => {
    expect(() => parse(text)).toThrow(code("PARSE_ERROR"));
  });

  test("a byte order mark in front is no reason to refuse what follows", () => {
    expect(parse('\ufeff{"id":1}')).toEqual({ id: 1 });
  });

  test("bytes that are no UTF-8 are refused instead of replaced", () => {
    const body = Buffer.concat([
      Buffer.from('{"a":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    expect(() => parseBody(body)).toThrow(code("PARSE_ERROR"));
  });

  test("the refusal quotes nothing of the body", () => {
    expect(() => parse('{"password": hunter2}')).toThrow(
      expect.objectContaining({ message: "The body is not JSON." }),
    );
  });

  test.each([
    '{"__proto__":{"admin":true}}',
    '{"a":[{"\\u005f_proto__":1}]}',
    '{"__\\u0070roto__":1}',
  ])("a member named __proto__ is refused however it is spelled: %s", (text) => {
    expect(() => parse(text)).toThrow(code("INVALID_REQUEST"));
  });

  test("text that only mentions __proto__ is harmless", () => {
    expect(parse('{"text":"{\\"__proto__\\": 1}"}')).toEqual({ text: '{"__proto__": 1}' });
  });

  test("a member named constructor stays a plain member", () => {
    expect(parse('{"constructor":{"prototype":{"x":1}}}')).toEqual({
      constructor: { prototype: { x: 1 } },
    });
    expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
  });

  test.each([
    ["lists", "[", "]"],
    ["objects", '{"a":', "}"],
  ])("a bomb of nested %s is refused before it is parsed", (_title, open, close) => {
    const bomb = open.repeat(200_000) + (open === "[" ? "" : "1") + close.repeat(200_000);
    expect(() => parse(bomb)).toThrow(code("INVALID_REQUEST"));
  });

  test.each([
    '{"a":1e400}',
    '{"a":[-1E+309]}',
    `{"a":${"9".repeat(400)}}`,
    '{"a":0.1e999999999999}',
    "1e309",
  ])("a number that no double can hold is refused, not made infinite: %s", (text) => {
    expect(() => parse(text)).toThrow(code("INVALID_REQUEST"));
  });

  test.each(['{"a":1e308}', '{"a":"1e400"}', `{"a":"${"9".repeat(400)}"}`, '{"a":1e-400}'])(
    "a number that is only long or small, or text, is none: %s",
    (text) => {
      expect(() => parse(text)).not.toThrow();
    },
  );

  test("nesting up to the limit is fine, and brackets in strings do not count", () => {
    expect(() => parse("[".repeat(maxDepth) + "]".repeat(maxDepth))).not.toThrow();
    expect(() => parse("[".repeat(maxDepth + 1) + "]".repeat(maxDepth + 1))).toThrow(
      code("INVALID_REQUEST"),
    );
    expect(() => parse(JSON.stringify({ text: '\\"['.repeat(5_000) }))).not.toThrow();
  });

  test("of two members with one name the last counts, for headers and handler alike", () => {
    expect(parse('{"name":"a","name":"b"}')).toEqual({ name: "b" });
  });
});

describe("ids", () => {
  const message = (id: string) => parse(`{"jsonrpc":"2.0","id":${id},"method":"x"}`);

  test.each(["null", "1.5", "true", "[]", "{}", "12345678901234567890", "9007199254740993"])(
    "%s can't be echoed exactly and is refused without an id",
    (id) => {
      expect(() => readMessage(message(id))).toThrow(code("INVALID_REQUEST"));
      expect(requestIdOf(message(id))).toBeUndefined();
    },
  );

  test.each(["0", "-1", "9007199254740991", '""', '"a\\"b"', '"\\u0000"'])("%s is an id", (id) => {
    expect(readMessage(message(id))).toMatchObject({ kind: "request", id: JSON.parse(id) });
  });

  test("a message with a method and a result is neither request nor response", () => {
    expect(() => readMessage(parse('{"jsonrpc":"2.0","id":1,"method":"x","result":{}}'))).toThrow(
      code("INVALID_REQUEST"),
    );
  });
});
