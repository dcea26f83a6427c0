import { runInNewContext } from "node:vm";
import { decodeValue, encodeValue } from "@reprise/journal";
import { describe, expect, test } from "vitest";

const refusal = (path: string): object =>
  expect.objectContaining({
    code: "VALUE_UNSUPPORTED",
    data: { owner: 'step "charge"', path },
    message: expect.stringContaining('step "charge"'),
  }) as object;

const refused = (value: unknown): unknown => {
  try {
    return encodeValue(value, 'step "charge"');
  } catch (error) {
    return error;
  }
};

class Money {
  amount = 1;
}

const boom = (): never => {
  throw new Error("user code was called");
};

describe("values that would come back as something else", () => {
  const cases: readonly (readonly [name: string, value: unknown, path: string])[] = [
    ["a Map", { rates: new Map([["a", 1]]) }, "rates"],
    ["a Set", [new Set([1])], "[0]"],
    ["a class instance", { total: [new Money()] }, "total[0]"],
    ["an error", { cause: new Error("x") }, "cause"],
    ["a function", { next: { call: boom } }, "next.call"],
    ["a symbol", Symbol("s"), ""],
    ["a symbol member", { a: { [Symbol("s")]: 1 } }, "a"],
    ["NaN", { n: Number.NaN }, "n"],
    ["infinity", [[Number.NEGATIVE_INFINITY]], "[0][0]"],
    ["an invalid date", { at: new Date(Number.NaN) }, "at"],
    ["a hole in an array", { list: Array(2) }, "list[0]"],
    ["an array with more than items", Object.assign([1], { total: 1 }), ""],
    ["an array with a symbol member", Object.assign([1], { [Symbol("s")]: 1 }), ""],
    ["other typed arrays", { f: new Float64Array(1) }, "f"],
    ["a bare ArrayBuffer", new ArrayBuffer(1), ""],
    ["a boxed number", { n: Object(1) as unknown }, "n"],
    ["an object over a prototype of its own", Object.create({ inherited: 1 }), ""],
    ["an object over a bare prototype", Object.create(Object.create(null) as object), ""],
    [
      "a chain of bare prototypes",
      Object.create(Object.create(Object.create(null) as object) as object),
      "",
    ],
    ["a promise", { later: Promise.resolve(1) }, "later"],
    ["a RegExp", /x/, ""],
  ];

  test.each(cases)("C4: %s is refused with its path", (_name, value, path) => {
    expect(refused(value)).toEqual(refusal(path));
  });

  test("C4: a cycle is refused where it closes", () => {
    const order: Record<string, unknown> = { id: 1 };
    order["lines"] = [{ order }];
    expect(refused(order)).toEqual(refusal("lines[0].order"));
  });

  test("C4: nesting beyond what a later attempt could decode is refused, and what is accepted decodes", () => {
    const nested = (levels: number): unknown => {
      let value: unknown = 1;
      for (let level = 0; level < levels; level += 1) value = [value];
      return value;
    };
    expect(refused(nested(100_000))).toEqual(
      expect.objectContaining({ code: "VALUE_UNSUPPORTED" }),
    );
    expect(decodeValue(encodeValue(nested(500), "x"))).toEqual(nested(500));
  });
});

describe("values that bring code along", () => {
  test("C2: no getter is called, in objects and in arrays", () => {
    expect(
      refused({
        get total() {
          return boom();
        },
      }),
    ).toEqual(refusal("total"));
    const list = Object.defineProperty([1], 0, { get: boom, enumerable: true });
    expect(refused(list)).toEqual(refusal("[0]"));
  });

  test("C2: no toJSON is called; a function member is refused like any other", () => {
    expect(refused({ toJSON: boom })).toEqual(refusal("toJSON"));
  });

  test("C2: a date's own methods are not called", () => {
    const date = Object.assign(new Date(5), { getTime: boom, toJSON: boom, valueOf: boom });
    expect(refused(date)).toBe('{"$date":5}');
  });

  test("C2: no trap of a Proxy is called, whatever it stands for", () => {
    const traps = new Proxy({}, { get: () => boom });
    for (const target of [{}, [], new Date(5)]) {
      expect(refused({ p: new Proxy(target, traps) })).toEqual(refusal("p"));
    }
  });

  test("C2: the name of a class is shown without calling its constructor property", () => {
    const proto = Object.defineProperty({ method: boom }, "constructor", { get: boom });
    expect(refused(Object.create(proto))).toEqual(refusal(""));
    expect((refused(new Money()) as Error).message).toContain("an instance of Money");
  });

  test("C2: a fake date is refused and not asked for its time", () => {
    expect(refused(Object.create(Date.prototype))).toEqual(refusal(""));
  });
});

describe("members that look like the codec's own", () => {
  test.each([
    { $date: 5 },
    { $bytes: "AA==" },
    { $object: { $date: 5 } },
    { $undefined: true },
    { $unknown: 1 },
    { $date: 5, other: 1 },
    { deep: [{ $bigint: "1" }] },
  ])("C3: %j comes back as the plain object that it was", (value) => {
    expect(decodeValue(encodeValue(value, "x"))).toStrictEqual(value);
  });

  test("C3: a member called __proto__ stays a member", () => {
    const value = JSON.parse('{"__proto__":{"admin":true},"$a":{"__proto__":1}}') as object;
    const back = decodeValue(encodeValue(value, "x")) as object;
    expect(back).toStrictEqual(value);
    expect(Object.getPrototypeOf(back)).toBe(Object.prototype);
    expect("admin" in back).toBe(false);
  });
});

describe("values of elsewhere", () => {
  test("plain objects and arrays of another realm are accepted, its dates and bytes too", () => {
    const foreign: unknown = runInNewContext(
      '({ list: [1, { a: "b" }], at: new Date(5), raw: new Uint8Array([7]) })',
    );
    expect(decodeValue(encodeValue(foreign, "x"))).toStrictEqual({
      list: [1, { a: "b" }],
      at: new Date(5),
      raw: new Uint8Array([7]),
    });
  });

  test("a tag of a newer release is FORMAT_UNKNOWN and names it", () => {
    expect(() => decodeValue('{"a":{"$decimal":"1.0"}}')).toThrow(
      expect.objectContaining({
        code: "FORMAT_UNKNOWN",
        message: expect.stringContaining("$decimal") as string,
      }) as Error,
    );
  });
});
