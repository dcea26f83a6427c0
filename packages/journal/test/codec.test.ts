import { isDeepStrictEqual } from "node:util";
import { decodeValue, encodeValue } from "@reprise/journal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seed } from "../../../test/support/config.ts";

const through = (value: unknown): unknown => decodeValue(encodeValue(value, 'step "s"'));

describe("values that can be journaled", () => {
  const samples: readonly (readonly [name: string, value: unknown])[] = [
    ["text", 'a "quoted" text with a lone \ud800 surrogate'],
    ["numbers", [0, -1.5, 1e300, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER]],
    ["negative zero", -0],
    ["booleans and null", [true, false, null]],
    ["undefined at the top", undefined],
    ["undefined inside", { kept: undefined, list: [undefined, 1] }],
    ["a bigint beyond the safe range", -(2n ** 80n)],
    ["a date", { at: new Date(1_767_225_600_123) }],
    ["the extreme dates", [new Date(-8.64e15), new Date(8.64e15)]],
    ["bytes", new Uint8Array([0, 255, 128])],
    ["no bytes", new Uint8Array(0)],
    ["nesting", { a: [{ b: [[]] }, {}] }],
  ];

  test.each(samples)("C1: %s come back as they were", (_name, value) => {
    expect(through(value)).toStrictEqual(value);
  });

  test("C1: a Buffer comes back as plain bytes, and only the part that it shows", () => {
    const shown = Buffer.from("abcdef").subarray(2, 4);
    expect(through(shown)).toStrictEqual(new Uint8Array([99, 100]));
  });

  test("an object without a prototype comes back as a plain object", () => {
    const bare = Object.assign(Object.create(null) as object, { a: 1 });
    expect(through(bare)).toEqual({ a: 1 });
  });

  test("the same object at two places is no cycle", () => {
    const shared = { x: 1 };
    expect(through([shared, shared])).toStrictEqual([{ x: 1 }, { x: 1 }]);
  });

  test("the text of format 1 is what older releases wrote", () => {
    const value = {
      text: "t",
      none: undefined,
      when: new Date(5),
      big: 7n,
      raw: new Uint8Array([1, 2]),
      zero: -0,
      $ref: 1,
    };
    const written =
      '{"$object":{"text":"t","none":{"$undefined":true},"when":{"$date":5},"big":{"$bigint":"7"},"raw":{"$bytes":"AQI="},"zero":{"$number":"-0"},"$ref":1}}';
    expect(encodeValue(value, "x")).toBe(written);
    expect(decodeValue(written)).toStrictEqual(value);
  });
});

describe("every value that is accepted", () => {
  const leaf = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined),
    fc.bigInt(),
    fc.date({ noInvalidDate: true }),
    fc.uint8Array({ maxLength: 20 }),
  );
  const name = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "$date",
      "$object",
      "$undefined",
      "$",
      "__proto__",
      "constructor",
      "toJSON",
      "0",
    ),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      leaf,
      fc.array(tie("value"), { maxLength: 4 }),
      fc
        .array(fc.tuple(name, tie("value")), { maxLength: 4 })
        .map((members) => Object.fromEntries(members)),
    ),
  }));

  test("C1: comes back equal, whatever its members are called", () => {
    fc.assert(
      fc.property(value, (given) => {
        // Node's own comparison: vitest's goes by a member called "constructor".
        expect(isDeepStrictEqual(through(given), given)).toBe(true);
      }),
      { seed },
    );
  });

  test("C1: has a text that gives the same text again", () => {
    fc.assert(
      fc.property(value, (given) => {
        const text = encodeValue(given, "x");
        expect(encodeValue(decodeValue(text), "x")).toBe(text);
      }),
      { seed },
    );
  });
});
