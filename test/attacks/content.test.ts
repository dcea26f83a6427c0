/**
 * What handlers and schemas do with a caller's content, and what callers see of handlers: bombs for validators, URLs, texts that look like
 * events or headers, failures.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { defineServer, isRepriseError, type ServerDefinition, serve, tool } from "reprise";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { capturedLog } from "../support/capturedLog.ts";
import { RawClient, type RawMessage } from "../support/rawMcp.ts";
import { serveForTest, temporaryFolder } from "../support/temporary.ts";
import { openSession } from "./support/handshake.ts";

type Tool = NonNullable<ServerDefinition["tools"]>[number];

const serverOf = (...tools: readonly Tool[]): ServerDefinition =>
  defineServer({ name: "content", tools });

const quick: Tool = tool({
  name: "quick",
  description: "d",
  effects: "repeatable",
  handler: () => "ok",
});

async function start(...tools: readonly Tool[]) {
  const log = capturedLog();
  const { url } = await serveForTest(serverOf(quick, ...tools), { logger: log.logger });
  const client = new RawClient();
  onTestFinished(() => client.close());
  const call = (name: string, args: unknown = {}, more: object = {}): Promise<RawMessage> =>
    client.call(url, { params: { name, arguments: args, ...more } });
  return { url, client, call, log };
}

describe("schemas that can take for ever", () => {
  const evil = /^(a+)+$/;
  const bomb = `${"a".repeat(60)}!`;

  test("keep no caller waiting for another's bomb, and enter no handler", async () => {
    let entered = 0;
    const { call, log } = await start(
      tool({
        name: "evil",
        description: "d",
        input: { type: "object", properties: { text: { type: "string", pattern: evil.source } } },
        handler() {
          entered += 1;
          return "entered";
        },
      }),
    );
    const bombs = Array.from({ length: 4 }, () => call("evil", { text: bomb }));
    expect((await call("quick")).result?.content?.[0]?.text).toBe("ok");
    for (const { result } of await Promise.all(bombs)) {
      expect(result?.isError).toBe(true);
      expect(result?.content?.[0]?.text).toContain("checking this takes more than");
    }
    expect(entered).toBe(0);
    expect(log.entries.map(({ fields }) => fields["event"])).toContain("schema_may_be_slow");
  });

  test("in a form refuse its answer: the question is asked again", async () => {
    const { call } = await start(
      tool({
        name: "form",
        description: "d",
        effects: "repeatable",
        async handler(_args, ctx) {
          const { action } = await ctx.elicit("Which?", z.object({ text: z.string().regex(evil) }));
          return action;
        },
      }),
    );
    const answer = (text: string) => ({ elicit: { action: "accept", content: { text } } });
    const asked = await call("form");
    const { requestState } = asked.result ?? {};
    const again = await call("form", {}, { requestState, inputResponses: answer(bomb) });
    expect(again.result?.resultType).toBe("input_required");
    const taken = await call("form", {}, { requestState, inputResponses: answer("aaa") });
    expect(taken.result?.content?.[0]?.text).toBe("accept");
  });

  test("with references to other places are an error at start, and nothing is fetched", async () => {
    const fetched: unknown[] = [];
    const listener = createServer((request, response) => {
      fetched.push(request.url);
      response.end('{"type":"string"}');
    });
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      listener.closeAllConnections();
      listener.close();
    });
    const { port } = listener.address() as AddressInfo;
    const here = `http://127.0.0.1:${port}/schema.json`;
    for (const input of [
      { type: "object", properties: { a: { $ref: here } } },
      { type: "object", $id: here, properties: { a: { $ref: "other.json" } } },
      { type: "object", $schema: here },
      { type: "object", properties: { a: { $dynamicRef: `${here}#a` } } },
    ]) {
      const dataDir = await temporaryFolder();
      const server = serverOf(tool({ name: "far", description: "d", input, handler: () => "ok" }));
      const outcome = await serve(server, { port: 0, dataDir }).catch((error: unknown) => error);
      expect(isRepriseError(outcome, "DEFINITION_INVALID"), JSON.stringify(input)).toBe(true);
    }
    expect(fetched).toEqual([]);
  });
});

describe("a page to send a person to", () => {
  test.each([
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "file:///etc/passwd",
    "vbscript:x",
    "http://shop.example/pay",
    "http://127.0.0.1.evil.example/pay",
    "http://localhost.evil.example/pay",
    "https://user@shop.example/pay",
    "https://user:secret@shop.example/pay",
    "https://shop.example@evil.example/pay",
    "//evil.example/pay",
    "/pay",
    "pay",
    "",
  ])("%s is refused before anything is asked", async (page) => {
    const { call } = await start(
      tool({
        name: "visit",
        description: "d",
        async handler(_args, ctx) {
          return JSON.stringify(await ctx.elicitUrl("Go there", page));
        },
      }),
    );
    const { result } = await call("visit");
    expect(result?.isError).toBe(true);
    expect(result?.resultType).not.toBe("input_required");
    expect(result?.inputRequests).toBeUndefined();
  });

  test.each(["https://shop.example/pay", "http://127.0.0.1:3001/pay", "http://localhost/pay"])(
    "%s is asked",
    async (page) => {
      const { call } = await start(
        tool({
          name: "visit",
          description: "d",
          async handler(_args, ctx) {
            return JSON.stringify(await ctx.elicitUrl("Go there", page));
          },
        }),
      );
      expect((await call("visit")).result?.resultType).toBe("input_required");
    },
  );
});

describe("text that looks like something else", () => {
  const eventText =
    'x\r\n\r\nevent: message\ndata: {"jsonrpc":"2.0","id":1,"result":{"evil":1}}\n\nid: 9\r:';

  const talker: Tool = tool({
    name: "talk",
    description: "d",
    effects: "repeatable",
    input: z.object({ text: z.string() }),
    async handler({ text }, ctx) {
      ctx.progress(1, 2, text);
      ctx.log("warning", text, text);
      await ctx.read("once", () => text);
      return text;
    },
  });

  test("makes no event, comment or id of its own in a stream of 2026-07-28", async () => {
    const { url, client } = await start(talker);
    const meta = { progressToken: eventText, "io.modelcontextprotocol/logLevel": "debug" };
    const { body } = await client.send(url, {
      params: { name: "talk", arguments: { text: eventText } },
      meta,
    });
    const lines = body.split(/\r\n|\n|\r/).filter((line) => line !== "");
    expect(lines.every((line) => line === "event: message" || line.startsWith("data: {"))).toBe(
      true,
    );
    const messages = lines.flatMap((line) =>
      line.startsWith("data: ") ? [JSON.parse(line.slice(6)) as RawMessage] : [],
    );
    expect(messages).toHaveLength(3);
    expect(messages.at(-1)?.result?.content?.[0]?.text).toBe(eventText);
  });

  test.each(["2025-11-25", "2025-06-18", "2025-03-26"])("nor in one of %s", async (revision) => {
    const { url } = await start(talker);
    const session = await openSession(url, revision);
    const { body } = await session.request(
      "tools/call",
      { name: "talk", arguments: { text: eventText }, _meta: { progressToken: eventText } },
      eventText,
    );
    const fields = body.split(/\r\n|\n|\r/).filter((line) => line !== "" && !line.startsWith(":"));
    for (const field of fields)
      expect(field).toMatch(/^(event: message|id: [\w.-]+|retry: \d+|data:.*)$/);
    const texts = fields.filter((field) => field.startsWith("data: {"));
    expect(texts.map((text) => (JSON.parse(text.slice(6)) as RawMessage).id)).toContain(eventText);
    expect(body).not.toContain('"result":{"evil":1}');
  });

  test("reaches no header and no other log line", async () => {
    const { url, log } = await start();
    const before = log.entries.length;
    const response = await fetch(url, {
      method: "POST",
      headers: { origin: "https://evil.example%0d%0aSet-Cookie:x=1", "content-type": "text/plain" },
      body: "\r\nHTTP/1.1 200 OK\r\n\r\n",
    });
    expect(response.status).toBe(403);
    expect(response.headers.get("set-cookie")).toBeNull();
    const [line, ...others] = log.entries.slice(before);
    expect(others).toEqual([]);
    // Values are fields, never parts of the message.
    expect(line?.message).not.toContain("evil");
  });
});

describe("a failing handler", () => {
  const marker = "MARKER-inside-4711";
  const failures: Readonly<Record<string, () => unknown>> = {
    "an error with a path": () => {
      throw Object.assign(new Error(`${marker} at /srv/app/secret.ts:1`), { code: "ENOENT" });
    },
    text: () => {
      throw marker as unknown as Error;
    },
    "an object": () => {
      throw { message: marker, stack: marker } as unknown as Error;
    },
    "an error with a cause": () => {
      throw new TypeError(marker, { cause: new Error(marker) });
    },
    "a rejected promise": () => Promise.reject(new Error(marker)),
    "what looks like an error of ours": () => {
      throw Object.assign(new Error(marker), { code: "BUSY", name: "RepriseError" });
    },
    "an object whose message can't be read": () => {
      throw Object.defineProperty({}, "message", {
        get() {
          throw new Error(marker);
        },
      }) as Error;
    },
  };

  test("whose value can't become JSON tells nothing of the value", async () => {
    const { call } = await start(
      tool({
        name: "fail",
        description: "d",
        handler: () => ({ [marker]: 1n, self: () => marker }) as never,
      }),
    );
    const reply = await call("fail");
    expect(reply.result?.isError).toBe(true);
    expect(JSON.stringify(reply)).not.toContain(marker);
  });

  test.each(Object.keys(failures))(
    "that throws %s tells nothing of it, in any era",
    async (name) => {
      const { url, client, log } = await start(
        tool({
          name: "fail",
          description: "d",
          handler: () => failures[name]?.() as string,
        }),
      );
      const modern = await client.send(url, { params: { name: "fail", arguments: {} } });
      const session = await openSession(url, "2025-11-25");
      const legacy = await session.request("tools/call", { name: "fail", arguments: {} });
      for (const { status, body } of [modern, legacy]) {
        expect(status).toBe(200);
        expect(body).not.toContain(marker);
        expect(body).not.toMatch(/secret\.ts|\bat .*:\d+:\d+/);
        expect(
          (JSON.parse(body.replace(/^[\s\S]*?data: (?=\{)/, "").trim()) as RawMessage).result
            ?.isError ?? true,
        ).toBe(true);
      }
      expect(log.entries.some(({ level }) => level === "error" || level === "warn")).toBe(true);
    },
  );
});
