import {
  contentFromJson,
  type Field,
  formProblems,
  initialContent,
  parseSavedCall,
  printableLine,
  printableText,
  readTyped,
  reviewUrl,
} from "@reprise/client";
import { isRepriseError } from "@reprise/errors";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { seed } from "../../../test/support/config.ts";

const base = { label: "x", required: true } as const;
const text = (rest: object = {}): Field => ({ ...base, name: "t", type: "text", ...rest });

test("no control, bidirectional, invisible or unpaired character gets to the terminal", () => {
  const hostile =
    "\u001b[2J\u001b]52;c;aGk=\u0007\r\u0008\u007f\u009b31m\u202e\u2066\u200b\u200d\ufeff\u2028\u061c\u034f\u3164\udc00\u{e0041}";
  expect(printableLine(`a${hostile}b\nc`)).toMatch(/^[\x20-\x7e]+$/);
  expect(printableText("a\r\nb\tc\rd")).toBe("a\nb\tc\\u{d}d");
  expect(printableText("Zoë 世界 😀")).toBe("Zoë 世界 😀");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (any) => {
      expect(printableLine(any)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      expect(printableText(any)).not.toMatch(/[^\P{Cc}\n\t]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
    { seed },
  );
});

test("an https page may be opened, http only on this machine, and the address shown is the one that is opened", () => {
  for (const url of [
    "https://example.com/a?b#c",
    "http://localhost:3000/x",
    "http://127.0.0.1/",
    "http://[::1]:8/",
  ]) {
    expect(reviewUrl(url)).toMatchObject({ href: new URL(url).href, warnings: [] });
    expect(reviewUrl(url)).not.toHaveProperty("refusal");
  }
  expect(reviewUrl("https://example.com/a?b#c").parts).toEqual({
    before: "https://",
    host: "example.com",
    after: "/a?b#c",
  });
});

test("other schemes, foreign http, userinfo and what is no URL are refused", () => {
  for (const url of [
    "http://example.com/",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "data:text/html,hi",
    "https://bank.example@evil.example/",
    "https://user:pw@evil.example/",
    "https://:pw@evil.example/",
    "//example.com",
    "not a url",
    "",
    "http://127.0.0.1.evil.example/",
    "http://localhost.evil.example/",
  ]) {
    expect(reviewUrl(url).refusal, url).toBeTypeOf("string");
  }
  // The host that is highlighted is the real one, also where the user name repeats it.
  expect(reviewUrl("https://evil.example:x@evil.example/").parts.before).toBe(
    "https://evil.example:x@",
  );
});

test("punycode, mixed scripts, bare numbers, odd ports and odd spellings are warned of", () => {
  const warned = (url: string): string => reviewUrl(url).warnings.join(" ");
  expect(warned("https://xn--pple-43d.com/")).toMatch(/punycode.*mixes/);
  expect(warned("https://аррӏе.com/")).toMatch(/punycode/);
  expect(reviewUrl("https://аррӏе.com/").href).toBe(
    "https://xn--80ak6aa4i.com/".replace(
      "xn--80ak6aa4i",
      new URL("https://аррӏе.com").hostname.split(".")[0] ?? "",
    ),
  );
  expect(warned("https://203.0.113.7/")).toMatch(/number/);
  expect(warned("https://0xcb007107/")).toMatch(/number.*another way/);
  expect(warned("https://example.com:8443/")).toMatch(/port 8443/);
  expect(warned("https:\\\\example.com\\x")).toMatch(/another way/);
  expect(warned("https://exa\tmple.com/")).toMatch(/another way/);
  expect(warned("https://example.com./")).toMatch(/dot/);
});

test("a value fits its field, or the problem says what is wanted", () => {
  const cases: readonly (readonly [Field, unknown, boolean])[] = [
    [text({ minLength: 2, maxLength: 3 }), "😀😀", true],
    [text({ minLength: 2 }), "😀", false],
    [text({ maxLength: 1 }), "ab", false],
    [text({ format: "email" }), "a@b.example", true],
    [text({ format: "email" }), "a b@c", false],
    [text({ format: "email" }), "a@b@c", false],
    [text({ format: "uri" }), "https://x.example/", true],
    [text({ format: "uri" }), "x.example", false],
    [text({ format: "date" }), "2024-02-29", true],
    [text({ format: "date" }), "2023-02-29", false],
    [text({ format: "date-time" }), "2024-02-29T12:00:00Z", true],
    [text({ format: "date-time" }), "2024-02-30T12:00:00Z", false],
    [text({ format: "date-time" }), "2024-02-29 12:00", false],
    [text(), 5, false],
    [{ ...base, name: "t", type: "number", integer: true, minimum: 1, maximum: 3 }, 3, true],
    [{ ...base, name: "t", type: "number", integer: true }, 1.5, false],
    [{ ...base, name: "t", type: "number", integer: false, maximum: 3 }, 3.1, false],
    [{ ...base, name: "t", type: "number", integer: false, minimum: 1 }, 0, false],
    [{ ...base, name: "t", type: "boolean" }, false, true],
    [{ ...base, name: "t", type: "boolean" }, "true", false],
    [{ ...base, name: "t", type: "choice", options: [{ value: "a", title: "A" }] }, "a", true],
    [{ ...base, name: "t", type: "choice", options: [{ value: "a", title: "A" }] }, "A", false],
    [
      { ...base, name: "t", type: "choices", options: [{ value: "a", title: "A" }], minItems: 1 },
      [],
      false,
    ],
    [
      { ...base, name: "t", type: "choices", options: [{ value: "a", title: "A" }] },
      ["a", "a"],
      false,
    ],
    [
      { ...base, name: "t", type: "choices", options: [{ value: "a", title: "A" }], maxItems: 1 },
      ["a"],
      true,
    ],
  ];
  for (const [field, value, fits] of cases) {
    const { problems } = contentFromJson([field], { t: value });
    expect(problems.length === 0, `${JSON.stringify(field)} ${JSON.stringify(value)}`).toBe(fits);
  }
  expect(formProblems([text()], new Map())).toEqual(["t: a value is required"]);
});

test("defaults that fit are filled in, for fields that an answer leaves out too, and others are not", () => {
  const fields: Field[] = [
    text({ initial: "hello" }),
    { ...base, name: "n", type: "number", integer: true, initial: 1.5 },
    { ...base, name: "c", type: "choices", options: [{ value: "a", title: "A" }], initial: ["a"] },
    { ...base, name: "o", type: "boolean", required: false },
  ];
  expect(Object.fromEntries(initialContent(fields))).toEqual({ t: "hello", c: ["a"] });
  expect(Object.fromEntries(contentFromJson(fields, { n: 2 }).content)).toEqual({
    t: "hello",
    n: 2,
    c: ["a"],
  });
});

test("typed text is read as the field's value, and an ambiguous or empty one is none", () => {
  const options = [
    { value: "2", title: "Two" },
    { value: "1", title: "One" },
  ];
  const choice: Field = { ...base, name: "t", type: "choice", options };
  const choices: Field = { ...base, name: "t", type: "choices", options };
  const number: Field = { ...base, name: "t", type: "number", integer: false };
  const boolean: Field = { ...base, name: "t", type: "boolean" };
  expect(readTyped(choice, "One")).toEqual({ value: "1" });
  // "1" is the value of one option and the number of the other.
  expect(readTyped(choice, "1")).toHaveProperty("problem");
  expect(readTyped(choices, "One, Two")).toEqual({ value: ["1", "2"] });
  expect(readTyped(choices, "One,One")).toHaveProperty("problem");
  expect(readTyped(boolean, " Yes ")).toEqual({ value: true });
  expect(readTyped(boolean, "N")).toEqual({ value: false });
  for (const nothing of ["", "maybe", "ye"])
    expect(readTyped(boolean, nothing)).toHaveProperty("problem");
  expect(readTyped(number, "-1.5e3")).toEqual({ value: -1500 });
  for (const nothing of ["", "0x10", "1,5", "Infinity", "NaN", "1 2"])
    expect(readTyped(number, nothing)).toHaveProperty("problem");
});

test("a saved call is read back as it was, and anything else is refused with a code", () => {
  const call = {
    format: "reprise.call",
    version: 1,
    url: "http://127.0.0.1:3000/mcp",
    request: { method: "tools/call", params: { name: "t", arguments: { a: [1] } } },
    idempotencyKey: "0123456789012345678901",
    round: 1,
    pending: {
      inputRequests: { k: {} },
      requestState: "\ud800",
      answers: { k: { action: "decline" } },
      answerBefore: "2026-01-01T00:00:00.000Z",
    },
  };
  expect(parseSavedCall(JSON.stringify(call))).toEqual(call);
  const codeOf = (json: string): unknown => {
    try {
      return parseSavedCall(json);
    } catch (error) {
      return isRepriseError(error) ? error.code : error;
    }
  };
  expect(codeOf(JSON.stringify({ ...call, version: 2 }))).toBe("FORMAT_UNKNOWN");
  for (const broken of [
    "",
    "null",
    "[]",
    "{}",
    JSON.stringify({ ...call, url: "x" }),
    JSON.stringify({ ...call, request: { method: "tools/list", params: {} } }),
    JSON.stringify({ ...call, request: { method: "resources/read", params: { name: "t" } } }),
    JSON.stringify({ ...call, idempotencyKey: "short" }),
    JSON.stringify({ ...call, round: -1 }),
    JSON.stringify({ ...call, pending: { inputRequests: {}, answers: { k: 1 } } }),
    JSON.stringify({ ...call, pending: { inputRequests: {}, answers: {}, requestState: 1 } }),
  ]) {
    expect(codeOf(broken), broken).toBe("SAVED_CALL_INVALID");
  }
});
