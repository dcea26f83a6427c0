/**
 * A deployment on Redis as somebody sees it who reads all that goes there, and as somebody floods it who makes up keys.
 *
 * Everything is under keys of its own (`recordEncryptionKey`, `jobEncryptionKey`, `keyEncryptionKey`). What was planted is searched in
 * every command that Redis is sent, in what it then holds, in log lines, in metrics, and in what other callers are told.
 */
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createConnection } from "node:net";
import { inspect } from "node:util";
import { type Context, defineServer, tool } from "reprise";
import { parseSettings, type Settings, serveFront, serveWorker } from "reprise/roles";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { capturedLog } from "../support/capturedLog.ts";
import { accepted, RawClient, type RawRequest } from "../support/rawMcp.ts";
import { redisContents } from "../support/redisContents.ts";
import { type RedisServer, startRedis } from "../support/redisServer.ts";
import { openSession } from "./support/handshake.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const secret = (): string => randomBytes(32).toString("base64url");
const mark = (what: string): string => `MARK-${what}-${randomBytes(9).toString("hex")}`;

let spaces = 0;
function settingsOf(env: Readonly<Record<string, string>>): Settings {
  spaces += 1;
  return parseSettings({
    env: {
      REPRISE_REDIS_URL: redis.url,
      REPRISE_NAMESPACE: `attack-${spaces}`,
      REPRISE_PORT: "0",
      REPRISE_PROBE_PORT: "0",
      ...env,
    },
    readSecretFile: () => "",
  });
}

/** Every command and argument that Redis was sent since the call. Plain text: a client library would read it as replies. */
async function overheard(): Promise<() => string> {
  const listener = createConnection(redis.socket);
  onTestFinished(() => {
    listener.destroy();
  });
  const commands: string[] = [];
  listener.setEncoding("latin1").on("data", (text: string) => commands.push(text));
  listener.write("MONITOR\r\n");
  await once(listener, "data");
  return () => commands.join("");
}

/** All that Redis holds, as text. */
async function held(): Promise<string> {
  return [...(await redisContents(redis.url))].flat().join("\n");
}

/** Where a mark is readable: as it is, or in base64 of any of three alignments. */
function marksIn(text: string, marks: readonly string[]): readonly string[] {
  return marks.filter((one) =>
    [one, ...[0, 1, 2].map((shift) => base64Middle(one, shift))].some((form) =>
      text.includes(form),
    ),
  );
}

function base64Middle(text: string, shift: number): string {
  const encoded = Buffer.from(`${"x".repeat(shift)}${text}`).toString("base64url");
  return encoded.slice(4, -4);
}

describe("what is planted in a call", () => {
  const word = z.object({ word: z.string() });

  test.each(["once", "repeatable"] as const)(
    "is nowhere in Redis, logs, metrics or others' errors (%s)",
    async (effects) => {
      const marks = {
        ...{ argument: mark("argument"), answer: mark("answer"), state: mark("state") },
        ...{ step: mark("step"), read: mark("read"), result: mark("result") },
        ...{ token: mark("token"), progress: mark("progress"), log: mark("log") },
        ...{ thrown: mark("thrown"), idempotency: mark("idempotency").padEnd(60, "k") },
      };
      const keys = { record: secret(), job: secret(), ring: secret() };
      const tell = async (ctx: Context): Promise<string> => {
        ctx.progress(1, 2, marks.progress);
        ctx.log("warning", marks.log);
        const told = await ctx.elicit("Which word?", word);
        ctx.state.set("word", marks.state);
        await ctx.read("find", () => marks.read);
        await ctx.step("act", () => marks.step);
        return told.action === "accept" && told.content.word === marks.answer ? marks.result : "?";
      };
      const server = defineServer({
        name: "teller",
        tools: [
          tool({
            name: "tell",
            description: "d",
            input: z.object({ about: z.string() }),
            effects,
            handler: (_args, ctx) => tell(ctx),
          }),
        ],
      });
      const settings = settingsOf({
        REPRISE_RECORD_ENCRYPTION_KEY: keys.record,
        REPRISE_JOB_ENCRYPTION_KEY: keys.job,
        REPRISE_KEY_ENCRYPTION_KEY: keys.ring,
        REPRISE_ENCRYPT_REQUEST_STATE: "true",
        REPRISE_LOG_LEVEL: "debug",
      });
      const log = capturedLog();
      const sent = await overheard();
      const front = await serveFront(server, settings, {
        logger: log.logger,
        authenticate: ({ headers }) => {
          const person = String(headers.authorization).startsWith("Bearer MARK") ? "ann" : "eve";
          return { caller: { principal: person, person, scopes: [], claims: {} } };
        },
      });
      onTestFinished(() => front.close());
      const worker = await serveWorker(server, settings, { logger: log.logger });
      onTestFinished(() => worker.close());
      const client = new RawClient();
      onTestFinished(() => client.close());

      const headers = { authorization: `Bearer ${marks.token}` };
      const meta = {
        progressToken: 1,
        "io.modelcontextprotocol/logLevel": "debug",
        ...(effects === "once" ? { "reprise/idempotencyKey": marks.idempotency } : {}),
      };
      const first: RawRequest = {
        params: { name: "tell", arguments: { about: marks.argument } },
        ...{ headers, meta },
      };
      const { body } = await client.send(front.url, first);
      expect(body).toContain(marks.progress);
      const [, requestState] = /"requestState":"([^"]+)"/.exec(body) ?? [];
      const inputResponses = {
        elicit: { action: "accept", content: { word: marks.answer } },
      };
      const retry = { ...first, params: { ...first.params, requestState, inputResponses } };
      const stranger = await client.send(front.url, {
        ...retry,
        headers: { authorization: "Bearer eve" },
      });
      const { body: last } = await client.send(front.url, retry);
      expect(last).toContain(marks.result);

      const planted = Object.values(marks);
      const secrets = [...Object.values(keys)];
      expect(marksIn(stranger.body, planted)).toEqual([]);
      const metrics = await (await fetch(new URL("/metrics", front.url))).text();
      const probes = await (await fetch(new URL("/metrics", worker.probesUrl))).text();
      expect(marksIn(metrics + probes, [...planted, ...secrets])).toEqual([]);
      const logged = inspect(log.entries, {
        depth: 20,
        maxStringLength: null,
        maxArrayLength: null,
      });
      expect(marksIn(logged, [...planted, ...secrets])).toEqual([]);
      expect(marksIn(sent(), [...planted, ...secrets])).toEqual([]);
      expect(marksIn(await held(), [...planted, ...secrets])).toEqual([]);
    },
  );

  test("is nowhere in Redis of a call of the handshake era either", async () => {
    const marks = { argument: mark("argument"), answer: mark("answer"), result: mark("result") };
    const server = defineServer({
      name: "teller",
      tools: [
        tool({
          name: "tell",
          description: "d",
          input: z.object({ about: z.string() }),
          async handler(_args, ctx) {
            ctx.log("warning", marks.result);
            const { action } = await ctx.elicit("Which word?", word);
            return await ctx.step("act", () => `${marks.result} ${action}`);
          },
        }),
      ],
    });
    const settings = settingsOf({
      REPRISE_RECORD_ENCRYPTION_KEY: secret(),
      REPRISE_JOB_ENCRYPTION_KEY: secret(),
      REPRISE_KEY_ENCRYPTION_KEY: secret(),
    });
    const sent = await overheard();
    const front = await serveFront(server, settings);
    onTestFinished(() => front.close());
    const worker = await serveWorker(server, settings);
    onTestFinished(() => worker.close());
    const session = await openSession(front.url, "2025-11-25");
    const response = await fetch(front.url, {
      method: "POST",
      headers: {
        ...session.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "tell", arguments: { about: marks.argument } },
      }),
    });
    let text = "";
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk as Uint8Array).toString();
      const [, id] = /"id":"([^"]+)","method":"elicitation\/create"/.exec(text) ?? [];
      if (text.includes(marks.result) && text.includes(" accept")) break;
      if (id === undefined || text.includes("answered")) continue;
      text += "answered";
      const result = { action: "accept", content: { word: marks.answer } };
      await session.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    expect(text).toContain(`${marks.result} accept`);
    expect(marksIn(sent(), Object.values(marks))).toEqual([]);
    expect(marksIn(await held(), Object.values(marks))).toEqual([]);
  });

  test("is found by the search where nothing is encrypted: it can fail", async () => {
    const argument = mark("argument");
    const server = defineServer({
      name: "open",
      tools: [
        tool({
          name: "tell",
          description: "d",
          input: z.object({ about: z.string() }),
          handler: async ({ about }, ctx) => String((await ctx.confirm("Tell?")) && about),
        }),
      ],
    });
    const front = await serveFront(server, settingsOf({ REPRISE_DISPATCH: "inline" }));
    onTestFinished(() => front.close());
    const client = new RawClient();
    onTestFinished(() => client.close());
    await client.ask(front.url, { params: { name: "tell", arguments: { about: argument } } });
    expect(marksIn(await held(), [argument])).toEqual([argument]);
  });
});

describe("made-up keys by the thousand", () => {
  // promise P5.20
  test("cost Redis a look a second, are all refused alike, and keep no good call waiting", async () => {
    const server = defineServer({
      name: "ring",
      tools: [
        tool({
          name: "ask",
          description: "d",
          handler: async (_args, ctx) => ((await ctx.confirm("Go?")) ? "Gone." : "Stayed."),
        }),
      ],
    });
    const front = await serveFront(server, settingsOf({ REPRISE_DISPATCH: "inline" }));
    onTestFinished(() => front.close());
    const client = new RawClient(1_000);
    onTestFinished(() => client.close());
    const first: RawRequest = { params: { name: "ask", arguments: {} } };
    const state = await client.ask(front.url, first);
    const withState = (requestState: string): RawRequest => ({
      params: { ...first.params, requestState, inputResponses: { confirm: accepted } },
    });
    const [header = "", ...rest] = state.split(".");
    const members = JSON.parse(Buffer.from(header, "base64url").toString()) as { kid: string };
    const made = Array.from({ length: 2_000 }, () => {
      const kid = randomBytes(Buffer.from(members.kid, "base64url").length).toString("base64url");
      const forged = Buffer.from(JSON.stringify({ ...members, kid })).toString("base64url");
      return [forged, ...rest].join(".");
    });
    const sent = await overheard();
    const before = sent().length;
    const begun = performance.now();
    const flood = made.map((one) => client.send(front.url, withState(one)));
    const bodies = new Set(
      (await Promise.all(flood)).map(({ body }) => body.replace(/"id":\d+/, '"id":<id>')),
    );
    const seconds = (performance.now() - begun) / 1_000;
    const looks = sent()
      .slice(before)
      .split("\n")
      .filter((line) => /"evalsha" .*keyring/i.test(line));
    expect([...bodies]).toEqual([
      '{"jsonrpc":"2.0","id":<id>,"error":{"code":-32602,"message":"the requestState is not valid"}}',
    ]);
    expect(looks.length).toBeGreaterThan(0);
    expect(looks.length).toBeLessThanOrEqual(Math.ceil(seconds) + 2);
    const { result } = await client.call(front.url, withState(state));
    expect(result?.content?.[0]?.text).toBe("Gone.");
  });
});
