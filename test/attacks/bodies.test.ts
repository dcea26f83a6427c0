/**
 * Bodies that no client should send, in both eras: text that is no JSON, JSON that is a bomb, names of the prototype, ids of odd types,
 * batches without end, answers that are none.
 */
import { describe, expect, test } from "vitest";
import { accepted } from "../support/rawMcp.ts";
import { eras, legacyText, modernHeaders, modernText, senderOf, textOf } from "./support/eras.ts";
import { openSession, postBody } from "./support/handshake.ts";
import { echo, expectRefusal, sharedTarget } from "./support/target.ts";

const served = sharedTarget();

const bytes = (...parts: readonly (string | readonly number[])[]): Buffer =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe.each(eras)("in %s", (era) => {
  const good = textOf(era)("{}");
  const args = textOf(era);

  test("what the attacks below are made of is a good call", async () => {
    const target = served();
    const { messages } = await (await senderOf(target, era))(good);
    expect(messages[0]?.result?.content?.[0]?.text).toBe("{}");
  });

  const broken: readonly (readonly [string, string | Buffer])[] = [
    ["nothing", ""],
    ["white space", " \n\t"],
    ["half of a message", good.slice(0, good.length / 2)],
    ["a message without its last character", good.slice(0, -1)],
    ["garbage behind a message", `${good}x`],
    ["two messages", `${good}${good}`],
    ["a NUL behind a message", `${good}\0`],
    ["single quotes", good.replaceAll('"', "'")],
    ["a comment", `/* hi */${good}`],
    ["a trailing comma", good.replace(/}$/, ",}")],
    ["NaN", args("NaN")],
    ["a leading zero", args('{"a":01}')],
    ["an octal escape", args('{"a":"\\101"}')],
    ["a raw line break in a string", args('{"a":"\n"}')],
    ["bytes that are no UTF-8", bytes(good.slice(0, -1), [0xff, 0xfe], "}")],
    ["an overlong encoding", bytes('{"a":"', [0xc0, 0xaf], '"}')],
    ["a surrogate in UTF-8", bytes('{"a":"', [0xed, 0xa0, 0x80], '"}')],
    ["half a character at the end", bytes('{"a":"', [0xe2, 0x82], '"}')],
    ["UTF-16", Buffer.from(good, "utf16le")],
    ["two byte order marks", `\ufeff\ufeff${good}`],
    ["a hundred thousand lists", args("[".repeat(100_000) + "]".repeat(100_000))],
    ["a hundred thousand objects", args(`${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`)],
    ["a hundred thousand open lists", "[".repeat(100_000)],
    ["a number beyond every double", args('{"a":1e400}')],
    ["a number of a million digits", args(`{"a":${"9".repeat(1_000_000)}}`)],
    ["an exponent of a million digits", args(`{"a":1e${"9".repeat(1_000_000)}}`)],
    ["a member named __proto__", args('{"__proto__":{"isAdmin":true}}')],
    ["the same, written with an escape", args('{"\\u005f_proto__":{"isAdmin":true}}')],
    ["the same, deep inside", args('{"a":[{"b":{"__proto__":1}}]}')],
    ["null", "null"],
    ["a string", '"tools/call"'],
    ["a number", "7"],
    ["no version of JSON-RPC", good.replace('"jsonrpc":"2.0",', "")],
    ["another version of JSON-RPC", good.replace('"2.0"', '"1.0"')],
    ["params that are a list", '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}'],
    ["a method that is none", good.replace('"tools/call"', '{"a":1}')],
    ["a method with a result", good.replace(/}$/, ',"result":{}}')],
    ["arguments that are a list", args("[]")],
    ["arguments that are text", args('"all"')],
  ];
  test.each(broken)("%s is refused", async (_title, body) => {
    const target = served();
    const reply = await (await senderOf(target, era))(body);
    expectRefusal(reply);
    expect(target.entered()).toBe(0);
    await target.serves();
  });

  test.each(["null", "1.5", "9007199254740993", "true", "[1]", '{"a":1}'])(
    "an id of %s is refused, and not echoed",
    async (id) => {
      const target = served();
      const body = good.replace('"id":7', `"id":${id}`);
      const reply = await (await senderOf(target, era))(body);
      expectRefusal(reply);
      expect(reply.messages[0]).not.toHaveProperty("id");
      expect(target.entered()).toBe(0);
      await target.serves();
    },
  );

  test.each([
    ["a megabyte of text", "a".repeat(1_000_000)],
    ["line breaks", "1\r\n\r\ndata: {}\n\nid: 9\n"],
    ["the name of a prototype", "__proto__"],
    ["nothing", ""],
  ])("an id of %s is echoed as it is", async (_title, id) => {
    const target = served();
    const body = good.replace('"id":7', `"id":${JSON.stringify(id)}`);
    const { messages } = await (await senderOf(target, era))(body);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.id).toBe(id);
    expect(messages[0]?.result?.content?.[0]?.text).toBe("{}");
  });

  test("names of prototypes are plain names in arguments, and no way to anything", async () => {
    const target = served();
    const odd = '{"constructor":{"prototype":{"polluted":1}},"toString":"x","hasOwnProperty":1}';
    const { messages } = await (await senderOf(target, era))(args(odd));
    expect(messages[0]?.result?.content?.[0]?.text).toBe(odd);
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
    await target.serves();
  });

  test("of two members with one name the last counts everywhere", async () => {
    const target = served();
    const send = await senderOf(target, era);
    const twice = good.replace('"name":"echo"', '"name":"echo","name":"ask"');
    const reply = await send(twice);
    // 2026-07-28: the header names the first one. Before that there is no header; `ask` refuses the arguments.
    expectRefusal(reply);
    expect(target.entered()).toBe(0);
    expect((await send(args('{"a":1,"a":2}'))).messages[0]?.result?.content?.[0]?.text).toBe(
      '{"a":2}',
    );
  });
});

describe("batches", () => {
  const many = (count: number): string =>
    `[${Array.from({ length: count }, (_, at) => legacyText("{}").replace('"id":7', `"id":${at}`)).join(",")}]`;

  test("of more messages than a batch may have are refused before any is looked at", async () => {
    const target = served();
    const session = await openSession(target.url, "2025-03-26");
    for (const body of [many(101), many(20_000), `[${"[],".repeat(50_000)}[]]`, "[]"]) {
      expectRefusal(await session.send(body));
    }
    expect(target.entered()).toBe(0);
    await target.serves();
  });

  test.each(["2026-07-28", "2025-11-25", "2025-06-18"])("are no part of %s", async (era) => {
    const target = served();
    const reply = await (await senderOf(target, era))(many(2));
    expectRefusal(reply);
    expect(reply.messages[0]?.error?.code).toBe(-32600);
    expect(target.entered()).toBe(0);
  });

  test("as bombs at the same time leave room for others", async () => {
    const target = served();
    const session = await openSession(target.url, "2025-03-26");
    const bombs = Array.from({ length: 8 }, () => session.send(many(20_000)));
    await target.serves();
    for (const reply of await Promise.all(bombs)) expectRefusal(reply);
    expect(target.entered()).toBe(0);
  });
});

describe("answers", () => {
  const first = { params: { name: "form", arguments: {} } };

  test.each([
    ["a list", []],
    ["text", "accept"],
    ["a number", 7],
  ])("that are %s are refused", async (_title, inputResponses) => {
    const target = served();
    const requestState = await target.client.ask(target.url, first);
    const reply = await target.client.send(target.url, {
      params: { ...first.params, requestState, inputResponses },
    });
    expectRefusal(reply);
    expect(target.entered()).toBe(1);
  });

  test.each([
    ["names of prototypes", '{"constructor":{"action":"accept"},"toString":{"action":"accept"}}'],
    ["forty thousand keys", JSON.stringify(manyKeys(40_000))],
    [
      "content with names of prototypes",
      '{"elicit":{"action":"accept","content":{"constructor":1}}}',
    ],
    ["no action", '{"elicit":{"content":{"word":"x"}}}'],
    ["an action of the prototype", '{"elicit":{"action":"toString","content":{"word":"x"}}}'],
  ])("with %s answer nothing: the question is asked again", async (_title, inputResponses) => {
    const target = served();
    const requestState = await target.client.ask(target.url, first);
    const again = await target.client.call(target.url, {
      params: {
        ...first.params,
        requestState,
        inputResponses: JSON.parse(inputResponses) as unknown,
      },
    });
    expect(again.result?.resultType).toBe("input_required");
    expect(Object.keys(again.result?.inputRequests ?? {})).toEqual(["elicit"]);
    await target.serves();
  });

  test("named __proto__ are refused", async () => {
    const target = served();
    const requestState = await target.client.ask(target.url, first);
    const body = modernText("{}")
      .replace('"echo"', '"form"')
      .replace(
        '"arguments"',
        `"requestState":${JSON.stringify(requestState)},"inputResponses":{"__proto__":{"action":"accept"}},"arguments"`,
      );
    const reply = await postBody(target.url, body, { ...modernHeaders, "mcp-name": "form" });
    expectRefusal(reply);
    expect(reply.status).toBe(400);
    expect(target.entered()).toBe(1);
  });

  test("of a megabyte are taken whole or refused, and the next call is served", async () => {
    const target = served();
    const requestState = await target.client.ask(target.url, first);
    const content = { word: "x".repeat(1_000_000) };
    const { result } = await target.client.call(target.url, {
      params: {
        ...first.params,
        requestState,
        inputResponses: { elicit: { action: "accept", content } },
      },
    });
    expect(result?.content?.[0]?.text).toBe(content.word);
    await target.serves();
  });

  function manyKeys(count: number): Record<string, unknown> {
    return Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, accepted]));
  }
});

test("arguments of four megabytes are served, and more are refused by their length", async () => {
  const target = served();
  const { result } = await target.client.call(target.url, echo({ text: "x".repeat(4_000_000) }));
  expect(result?.content?.[0]?.text).toHaveLength(4_000_011);
  expect((await target.client.send(target.url, echo({ text: "x".repeat(4_200_000) }))).status).toBe(
    413,
  );
  await target.serves();
});
