/**
 * What belongs to one person in the hands of another: states, sessions, calls, asks, events, keys, pages. Whatever a stranger brings is
 * refused as if it had been made up, byte for byte but for ids, so that nobody learns that it exists; and its owner goes on.
 */
import { randomBytes } from "node:crypto";
import {
  type Context,
  defineServer,
  isRepriseError,
  prompt,
  type ServeOptions,
  tool,
} from "reprise";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { accepted, RawClient, type RawReply, type RawRequest } from "../support/rawMcp.ts";
import { serveForTest } from "../support/temporary.ts";
import { openSession, sessionOf } from "./support/handshake.ts";

/** Believes what the header says. */
const byHeader: NonNullable<ServeOptions["authenticate"]> = ({ headers }) => {
  const person = String(headers["x-person"]);
  return { caller: { principal: person, person, scopes: [], claims: {} } };
};
const ann = { "x-person": "ann" };
const eve = { "x-person": "eve" };

interface Vault {
  readonly url: string;
  readonly client: RawClient;
  /** Persons whose handler was entered, in order. */
  readonly entered: string[];
  /** Effects, in order. */
  readonly taken: string[];
  /** Ids of URL asks, in order. */
  readonly pages: string[];
  complete(id: string, person: string): Promise<boolean>;
}

async function startVault(): Promise<Vault> {
  const entered: string[] = [];
  const taken: string[] = [];
  const pages: string[] = [];
  const take = async (ctx: Context, item: string): Promise<string> => {
    entered.push(ctx.caller.principal);
    if (!(await ctx.confirm(`Take ${item}?`))) return "Left.";
    return await ctx.step("take", () => {
      taken.push(`${item} by ${ctx.caller.principal}`);
      return `${item} taken by ${ctx.caller.principal}`;
    });
  };
  const input = z.object({ item: z.string() });
  const server = defineServer({
    name: "vault",
    tools: [
      tool({ name: "take", description: "d", input, handler: ({ item }, ctx) => take(ctx, item) }),
      tool({
        name: "takeOnce",
        description: "d",
        input,
        idempotency: { key: ({ item }) => item, scope: "tool" },
        handler: ({ item }, ctx) => take(ctx, item),
      }),
      tool({
        name: "visit",
        description: "d",
        async handler(_args, ctx) {
          const visit = await ctx.elicitUrl(
            "Go there",
            ({ id }) => {
              pages.push(id);
              return `https://shop.example/pay?ask=${id}`;
            },
            { waitMs: 0 },
          );
          return JSON.stringify(visit);
        },
      }),
    ],
    prompts: [
      prompt({
        name: "letter",
        description: "d",
        input: z.object({ to: z.string() }),
        complete: { to: (_value, { caller }) => [`friend of ${caller.principal}`] },
        handler: ({ to }) => `Dear ${to}`,
      }),
    ],
  });
  const { url } = await serveForTest(server, {
    requestStateKey: "a key of this test, which is long enough to be one",
    authenticate: byHeader,
    rateLimit: "none",
  });
  const client = new RawClient();
  onTestFinished(() => client.close());
  return {
    url,
    client,
    entered,
    taken,
    pages,
    complete: (id, principal) => server.elicitations.complete(id, { principal }),
  };
}

const call = (name: string, more: object = {}): RawRequest => ({
  params: { name, arguments: name === "visit" ? {} : { item: "gold" }, ...more },
});

const clientKey = (key: string) => ({ "reprise/idempotencyKey": key });

/** All of a reply that must be the same whatever was tried: everything but date, length and the request's id. */
function alike({ status, rawHeaders, body }: RawReply): string {
  const headers = rawHeaders.flatMap((name, at) =>
    at % 2 === 1 || /^(date|content-length)$/i.test(name) ? [] : [`${name}: ${rawHeaders[at + 1]}`],
  );
  return [status, ...headers, body.replace(/"id":\d+,/, '"id":<id>,')].join("\n");
}

/** The same of an answer to `fetch`. */
async function alikeFetched(response: Response): Promise<string> {
  const headers = [...response.headers].filter(([name]) => !/^(date|content-length)$/.test(name));
  return [response.status, ...headers.map(String), await response.text()].join("\n");
}

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** The text with the character at a position replaced by the next one of the alphabet. */
function alteredAt(text: string, at: number): string {
  const index = alphabet.indexOf(text[at] ?? "");
  return `${text.slice(0, at)}${alphabet[(index + 1) % alphabet.length]}${text.slice(at + 1)}`;
}

describe("a request state", () => {
  // promise P5.28
  test("altered at any of its characters, or made up, gets one answer, and its owner goes on", async () => {
    const { client, url, entered } = await startVault();
    const state = await client.ask(url, { ...call("take"), headers: ann });
    const send = async (requestState: string, headers: Readonly<Record<string, string>>) => {
      const more = { requestState, inputResponses: { confirm: accepted } };
      return await client.send(url, { ...call("take", more), headers });
    };
    const madeUp = alike(await send("made up", ann));
    const altered = [...state].map((_, at) => alteredAt(state, at));
    const answers = new Set<string>();
    for (const one of altered) answers.add(alike(await send(one, ann)));
    answers.add(alike(await send(state, eve)));
    expect([...answers]).toEqual([madeUp]);
    expect(entered).toEqual(["ann"]);
    expect((await send(state, ann)).body).toContain("gold taken by ann");
  });
});

describe("a session", () => {
  test("altered at any of its characters, made up, or another's gets one answer", async () => {
    const { url } = await startVault();
    const { id } = await openSession(url, "2025-11-25", ann);
    const ping = async (session: string, own: Readonly<Record<string, string>>) => {
      const { status, headers, body } = await sessionOf(url, session, "2025-11-25", own).request(
        "ping",
      );
      return [status, headers.get("content-type"), body].join("\n");
    };
    const madeUp = await ping("made up", ann);
    expect(madeUp).toMatch(/^404\n/);
    const answers = new Set<string>();
    for (let at = 0; at < id.length; at++) answers.add(await ping(alteredAt(id, at), ann));
    answers.add(await ping(id, eve));
    expect([...answers]).toEqual([madeUp]);
    expect(await ping(id, ann)).toMatch(/^200\n/);
  });

  test("of another can't be ended, listened to or read again", async () => {
    const { url } = await startVault();
    const session = await openSession(url, "2025-11-25", ann);
    const madeUp = { ...session.headers, "mcp-session-id": "made up" };
    for (const [method, more] of [
      ["DELETE", {}],
      ["GET", { accept: "text/event-stream" }],
      ["GET", { accept: "text/event-stream", "last-event-id": "0-0" }],
    ] as const) {
      const asked = (headers: Readonly<Record<string, string>>) =>
        fetch(url, { method, headers: { ...headers, ...more } }).then(alikeFetched);
      expect(await asked({ ...session.headers, ...eve })).toBe(await asked({ ...madeUp, ...eve }));
    }
    expect((await session.request("ping")).status).toBe(200);
  });
});

describe("a call of the handshake era", () => {
  /** Ann's call, which waits for an answer: the id of its ask, and what its stream gives in the end. */
  async function waiting(url: string) {
    const session = await openSession(url, "2025-11-25", ann);
    const body = { jsonrpc: "2.0", id: 5, method: "tools/call", params: call("take").params };
    const response = await fetch(url, {
      method: "POST",
      headers: {
        ...session.headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(body),
    });
    const reader = (response.body ?? new ReadableStream<Uint8Array>()).getReader();
    onTestFinished(() => reader.cancel());
    let text = "";
    const until = async (pattern: RegExp): Promise<RegExpExecArray> => {
      for (let found = pattern.exec(text); ; found = pattern.exec(text)) {
        if (found !== null) return found;
        const { value, done } = await reader.read();
        if (done) throw new Error(`the stream ended: ${text}`);
        text += Buffer.from(value).toString();
      }
    };
    const [, askId = ""] = await until(/"id":"([^"]+)","method":"elicitation\/create"/);
    const [, eventId = ""] = await until(/^id: (\S+)\ndata: ?\{/m).catch(() => ["", ""]);
    return { session, askId, eventId, until };
  }

  test("is answered by its own session alone: what a stranger says is taken for nothing", async () => {
    const { url, taken } = await startVault();
    const { session, askId, until } = await waiting(url);
    const stranger = await openSession(url, "2025-11-25", eve);
    const annToo = await openSession(url, "2025-11-25", ann);
    const answer = (id: string) => JSON.stringify({ jsonrpc: "2.0", id, result: accepted });
    for (const other of [stranger, annToo]) {
      const tried = await other.send(answer(askId));
      const madeUp = await other.send(answer(alteredAt(askId, 3)));
      expect([tried.status, tried.body]).toEqual([madeUp.status, madeUp.body]);
    }
    expect(taken).toEqual([]);
    expect((await session.send(answer(askId))).status).toBe(202);
    await until(/gold taken by ann/);
    expect(taken).toEqual(["gold by ann"]);
  });

  test("is cancelled by its own session alone", async () => {
    const { url, taken } = await startVault();
    const { session, askId, until } = await waiting(url);
    const cancel = JSON.stringify({
      ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
      params: { requestId: 5 },
    });
    for (const own of [eve, ann]) {
      expect((await (await openSession(url, "2025-11-25", own)).send(cancel)).status).toBe(202);
    }
    await session.send(JSON.stringify({ jsonrpc: "2.0", id: askId, result: accepted }));
    await until(/gold taken by ann/);
    expect(taken).toEqual(["gold by ann"]);
  });

  test("has its events read again by its own session alone", async () => {
    const { url } = await startVault();
    const { eventId } = await waiting(url);
    expect(eventId).not.toBe("");
    for (const own of [eve, ann]) {
      const { headers } = await openSession(url, "2025-11-25", own);
      const resume = (id: string) =>
        fetch(url, {
          headers: { ...headers, accept: "text/event-stream", "last-event-id": id },
        }).then(alikeFetched);
      const tried = await resume(eventId);
      expect(tried).toBe(await resume(alteredAt(eventId, 3)));
      expect(tried).toMatch(/^400\n/);
    }
  });
});

describe("an idempotency key", () => {
  test("of one caller's client joins nothing of another: both have runs of their own", async () => {
    const { client, url, entered } = await startVault();
    const meta = clientKey(randomBytes(24).toString("base64url"));
    for (const headers of [ann, eve]) await client.ask(url, { ...call("take"), meta, headers });
    await client.ask(url, { ...call("take"), meta, headers: ann });
    // Ann's second call asks again without a handler: it joined.
    expect(entered.filter((person) => person === "eve")).toHaveLength(1);
  });

  // promise P4.3.15
  test("of a tool tells another caller that it is taken, and nothing of the run or its result", async () => {
    const { client, url } = await startVault();
    const requestState = await client.ask(url, { ...call("takeOnce"), headers: ann });
    const { error: running } = await client.call(url, { ...call("takeOnce"), headers: eve });
    expect(running?.data?.code).toBe("ALREADY_RUNNING");
    const more = { requestState, inputResponses: { confirm: accepted } };
    await client.call(url, { ...call("takeOnce", more), headers: ann });
    const { error: done } = await client.call(url, { ...call("takeOnce"), headers: eve });
    expect(done?.data?.code).toBe("ALREADY_DONE");
    expect(JSON.stringify([running, done])).not.toMatch(/ann|gold/);
  });
});

describe("a page", () => {
  test("is completed for the person who was asked alone; another id or person gets one refusal", async () => {
    const vault = await startVault();
    const { client, url, pages } = vault;
    const requestState = await client.ask(url, { ...call("visit"), headers: ann });
    const id = pages[0] ?? "";
    const refusalOf = async (wanted: string, person: string): Promise<string> => {
      const outcome = await vault.complete(wanted, person).catch((error: unknown) => error);
      return isRepriseError(outcome, "ELICITATION_REFUSED") ? outcome.message : "it was taken";
    };
    expect(await refusalOf(id, "eve")).toBe(await refusalOf(alteredAt(id, 3), "eve"));
    expect(await refusalOf(id, "eve")).not.toBe("it was taken");
    const retry = {
      ...call("visit", { requestState, inputResponses: { elicitUrl: { action: "accept" } } }),
      headers: ann,
    };
    expect((await client.call(url, retry)).result?.resultType).toBe("input_required");
    expect(await vault.complete(id, "ann")).toBe(true);
    expect((await client.call(url, retry)).result?.content?.[0]?.text).toContain(
      '"completed":true',
    );
  });
});

describe("completions", () => {
  test("are made for who asks, never for who asked before", async () => {
    const { client, url } = await startVault();
    const params = {
      ref: { type: "ref/prompt", name: "letter" },
      argument: { name: "to", value: "f" },
    };
    for (const person of ["ann", "eve"]) {
      const { body } = await client.send(url, {
        ...{ method: "completion/complete", params },
        headers: { "x-person": person },
      });
      expect(body).toContain(`friend of ${person}`);
    }
  });

  test.each(["__proto__", "constructor", "toString"])("of %s are none", async (name) => {
    const { client, url } = await startVault();
    const ask = (ref: object, argument: string) =>
      client.send(url, {
        method: "completion/complete",
        params: { ref, argument: { name: argument, value: "x" } },
        headers: ann,
      });
    const letter = await ask({ type: "ref/prompt", name: "letter" }, name);
    expect(letter.body).toContain('"values":[]');
    expect((await ask({ type: "ref/prompt", name }, "to")).body).toContain("-32602");
  });
});
