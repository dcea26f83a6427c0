/**
 * Request states that were changed, moved or outlived, over real HTTP: none is accepted, all get one and the same
 * answer, no handler is entered, and each is one event in the log.
 *
 * The genuine tokens come from two servers that share data and keys but seal with different ones, so that the
 * alterations have two kids to swap. What is altered was genuine for the very request that it is sent with, unless
 * said otherwise: nothing but the seal stands between it and the handler.
 */
import { defineServer, prompt, type ServeOptions, type ServerDefinition, tool } from "reprise";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { capturedLog } from "../support/capturedLog.ts";
import { movableClock, serveComposed } from "../support/composed.ts";
import { longRun, seed } from "../support/config.ts";
import { accepted, RawClient, type RawReply, type RawRequest } from "../support/rawMcp.ts";
import { alterTokens } from "../support/tamper.ts";
import { serveForTest, temporaryFolder } from "../support/temporary.ts";

const alterations = longRun ? 100_000 : 5_000;

const keyA = "key A of this test, which is long enough to be one";
const keyB = "key B of this test, which is long enough to be one";

const item = z.object({ item: z.string() });

/** A server, and how often its handlers were entered. */
function vault(name = "vault"): { server: ServerDefinition; entered: () => number } {
  let entries = 0;
  const asking = (toolName: string, effects: "once" | "repeatable", reads: boolean) =>
    tool({
      name: toolName,
      description: "Asks once",
      input: item,
      effects,
      async handler(args, ctx) {
        entries += 1;
        if (reads) await ctx.read("secret", () => "what only the server knows");
        return (await ctx.confirm(`Take ${args.item}?`)) ? "Taken." : "Left.";
      },
    });
  const server = defineServer({
    name,
    tools: [
      asking("once", "once", false),
      asking("other", "once", false),
      asking("plain", "repeatable", false),
      asking("sealed", "repeatable", true),
    ],
    prompts: [
      prompt({
        name: "once",
        description: "Asks once, as the tool of the same name",
        input: item,
        effects: "once",
        async handler(args, ctx) {
          entries += 1;
          return (await ctx.confirm(`Take ${args.item}?`)) ? "Taken." : "Left.";
        },
      }),
    ],
  });
  return { server, entered: () => entries };
}

const request = (name: string, more: object = {}): RawRequest => ({
  params: { name, arguments: { item: "gold" }, ...more },
});

/** The same request as a retry with an answer. */
const retry = (first: RawRequest, requestState: unknown): RawRequest => ({
  ...first,
  params: { ...first.params, requestState, inputResponses: { confirm: accepted } },
});

function rawClient(): RawClient {
  const client = new RawClient();
  onTestFinished(() => client.close());
  return client;
}

/** All of a reply that must be the same for every refusal: everything but the id, the date and the length. */
function alike({ status, rawHeaders, body }: RawReply, id: number): string {
  const headers: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? "";
    if (!/^(date|content-length)$/i.test(name)) headers.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  return [status, ...headers, body.replace(`"id":${id},`, '"id":<id>,')].join("\n");
}

const refusalBody =
  '{"jsonrpc":"2.0","id":<id>,"error":{"code":-32602,"message":"the requestState is not valid"}}';

/** Sends one request and gives what must be alike. */
async function refusalOf(client: RawClient, url: string, sent: RawRequest): Promise<string> {
  const id = client.nextId();
  return alike(await client.send(url, { ...sent, id }), id);
}

/** Believes what the header says. */
const byHeader: NonNullable<ServeOptions["authenticate"]> = ({ headers }) => {
  const person = String(headers["x-principal"]);
  return { caller: { principal: person, person, scopes: [], claims: {} } };
};

// promise P5.28
test(`none of ${alterations} changed states is accepted, and all get one answer`, async () => {
  const { server, entered } = vault();
  const log = capturedLog();
  const dataDir = await temporaryFolder();
  const settings = { dataDir, logger: log.logger, sweep: false };
  const first = await serveForTest(server, { ...settings, requestStateKey: [keyA, keyB] });
  const second = await serveForTest(server, { ...settings, requestStateKey: [keyB, keyA] });
  const client = rawClient();

  const names = ["once", "plain", "sealed"] as const;
  const tokens: Record<string, string[]> = {};
  for (const name of names) {
    tokens[name] = await Promise.all(
      [first, second, first, second].map(({ url }) => client.ask(url, request(name))),
    );
  }
  const kinds = Object.values(tokens)
    .flat()
    .map((token) => token.split(".").length);
  expect(new Set(kinds)).toEqual(new Set([3, 5]));

  // A fourth part each with one form's own tokens, and with all of them mixed for any request.
  const share = alterations / 4;
  const altered = function* (): Generator<{ kind: string; sent: RawRequest }> {
    for (const [at, name] of names.entries()) {
      const own = { seed: seed + at, count: share, tokens: tokens[name] ?? [] };
      for (const { kind, token } of alterTokens(own))
        yield { kind, sent: retry(request(name), token) };
    }
    const mixed = { seed: seed + 3, count: share, tokens: Object.values(tokens).flat() };
    let turn = 0;
    for (const { kind, token } of alterTokens(mixed)) {
      turn += 1;
      yield { kind, sent: retry(request(names[turn % names.length] ?? "once"), token) };
    }
  };

  const before = entered();
  const logged = log.entries.length;
  const answers = new Map<string, { kind: string; times: number }>();
  const source = altered();
  let sent = 0;
  const sender = async (): Promise<void> => {
    for (let next = source.next(); next.done !== true; next = source.next()) {
      const { kind } = next.value;
      sent += 1;
      const answer = await refusalOf(client, first.url, next.value.sent);
      const known = answers.get(answer) ?? { kind, times: 0 };
      known.times += 1;
      answers.set(answer, known);
    }
  };
  await Promise.all(Array.from({ length: 16 }, sender));

  expect(sent, `seed ${seed}`).toBe(alterations);
  expect(
    [...answers.values()].map(({ times }) => times),
    `seed ${seed}`,
  ).toEqual([alterations]);
  const [answer = ""] = answers.keys();
  expect(answer.split("\n")[0]).toBe("200");
  expect(answer.split("\n").at(-1)).toBe(refusalBody);
  expect(entered()).toBe(before);
  const events = log.entries.slice(logged).map(({ fields }) => fields["event"]);
  expect(events.filter((event) => event === "request_state_refused")).toHaveLength(alterations);

  // The genuine ones are as good as ever: they were refused for what was changed in them.
  for (const name of names) {
    for (const token of tokens[name] ?? []) {
      const { result } = await client.call(first.url, retry(request(name), token));
      expect(result?.content?.[0]?.text).toBe("Taken.");
    }
  }
});

describe("a genuine state is refused with the same answer, and enters no handler", () => {
  /** Serves, takes a state from it, brings `moved` what it makes of it, and compares with the answer to nonsense. */
  async function refuses(
    options: ServeOptions,
    moved: (state: string, url: string, client: RawClient) => Promise<string>,
    headers: Readonly<Record<string, string>> = {},
    name = "once",
  ): Promise<void> {
    const { server, entered } = vault();
    const { url } = await serveForTest(server, { requestStateKey: keyA, ...options });
    const client = rawClient();
    const state = await client.ask(url, { ...request(name), headers });
    const before = entered();
    const nonsense = await refusalOf(client, url, {
      ...retry(request(name), "nonsense"),
      headers,
    });
    expect(nonsense.split("\n").at(-1)).toBe(refusalBody);
    expect(await moved(state, url, client)).toBe(nonsense);
    expect(entered()).toBe(before);
    const { result } = await client.call(url, { ...retry(request(name), state), headers });
    expect(result?.content?.[0]?.text).toBe("Taken.");
  }

  // promise P5.4
  test.each(["once", "plain", "sealed"])("with another tool's name (%s)", async (name) => {
    await refuses(
      {},
      (state, url, client) => refusalOf(client, url, retry(request("other"), state)),
      {},
      name,
    );
  });

  // promise P5.4
  test("with another method", async () => {
    await refuses({}, (state, url, client) =>
      refusalOf(client, url, { ...retry(request("once"), state), method: "prompts/get" }),
    );
  });

  test.each([
    ["with other arguments", { arguments: { item: "silver" } }],
    ["with an argument more", { arguments: { item: "gold", weight: 1 } }],
    ["with a parameter more", { unheardOf: true }],
  ])("%s", async (_, more) => {
    await refuses({}, (state, url, client) =>
      refusalOf(client, url, retry(request("once", more), state)),
    );
  });

  // promise P5.6
  test("from another person, and from the same person through another client", async () => {
    const options: ServeOptions = { authenticate: byHeader, rateLimit: "none" };
    for (const principal of ["ann with client 2", "bob with client 1", "anonymous"]) {
      await refuses(
        options,
        (state, url, client) =>
          refusalOf(client, url, {
            ...retry(request("once"), state),
            headers: { "x-principal": principal },
          }),
        { "x-principal": "ann with client 1" },
      );
    }
  });

  test.each([
    ["of another server under the same key", "other vault", {}],
    ["of another namespace under the same key", "vault", { namespace: "staging" }],
    ["of another process without a store", "vault", { store: "none" }],
    ["of a server with another key", "vault", { requestStateKey: keyB }],
  ] as const)("%s", async (_, name, theirs) => {
    const foreign = vault(name);
    const withKey = "store" in theirs ? {} : { requestStateKey: keyA };
    const { url: theirUrl } = await serveForTest(foreign.server, { ...withKey, ...theirs });
    for (const toolName of ["once", "plain", "sealed"]) {
      await refuses({}, async (_state, url, client) => {
        const theirState = await client.ask(theirUrl, request(toolName));
        return await refusalOf(client, url, retry(request(toolName), theirState));
      });
    }
  });

  test("of a once run, at a server without a store", async () => {
    const { server } = vault();
    const { url: stored } = await serveForTest(server, { requestStateKey: keyA });
    await refuses({ store: "none" }, async (_state, url, client) =>
      refusalOf(client, url, retry(request("once"), await client.ask(stored, request("once")))),
    );
  });

  test.each([
    ["null", null],
    ["a number", 7],
    ["a list", ["x"]],
    ["an object", {}],
    ["an empty text", ""],
    ["a text of 33 KiB", "A".repeat(33 * 1024)],
    ["a text of 2 MiB", "A".repeat(2 * 1024 * 1024)],
  ])("that is %s", async (_, state) => {
    await refuses({}, (_state, url, client) =>
      refusalOf(client, url, retry(request("once"), state)),
    );
  });

  test.each(["once", "plain", "sealed"])("that has expired (%s)", async (name) => {
    const { server, entered } = vault();
    const clock = movableClock();
    const url = await serveComposed(server, { requestStateKey: keyA, clock });
    const client = rawClient();
    const state = await client.ask(url, request(name));
    const before = entered();
    clock.advance(24 * 3_600_000);
    const nonsense = await refusalOf(client, url, retry(request(name), "nonsense"));
    expect(await refusalOf(client, url, retry(request(name), state))).toBe(nonsense);
    expect(entered()).toBe(before);
    // Time was all that was wrong with it.
    clock.advance(-2 * 3_600_000);
    const { result } = await client.call(url, retry(request(name), state));
    expect(result?.content?.[0]?.text).toBe("Taken.");
  });
});
