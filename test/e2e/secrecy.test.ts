/**
 * What stays with the server: values of steps, reads and ctx.state, answers and arguments are in no token of a once run,
 * in no token at all with `encryptRequestState`, in no log line of any level, and in no error reply.
 */
import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import {
  type Context,
  defineServer,
  type Effects,
  type ServeOptions,
  type ServerDefinition,
  tool,
} from "reprise";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { type CapturedLog, capturedLog } from "../support/capturedLog.ts";
import { readableMarkers } from "../support/decodeToken.ts";
import { accepted, RawClient, type RawMessage, type RawRequest } from "../support/rawMcp.ts";
import { serveForTest, temporaryFolder } from "../support/temporary.ts";

const mark = (what: string): string => `MARK-${what}-${randomBytes(12).toString("hex")}`;

const marks = {
  argument: mark("argument"),
  answer: mark("answer"),
  state: mark("state"),
  step: mark("step"),
  read: mark("read"),
};
const allMarks = Object.values(marks);
const word = z.object({ word: z.string() });
const key = "a key of this test, which is long enough to be one";

interface Shape {
  readonly effects: Effects;
  /** Without them a repeatable run's token is only signed. */
  readonly withValues?: boolean;
  readonly step?: string;
}

/** Asks three times, with all markers in hand after the first answer. `end` is what the handler does then. */
function teller(
  { effects, withValues = true, step = "look" }: Shape,
  end: (ctx: Context) => Promise<string> | string = () => "Told.",
): ServerDefinition {
  return defineServer({
    name: "teller",
    tools: [
      tool({
        name: "tell",
        description: "Asks three times",
        input: z.object({ about: z.string() }),
        effects,
        async handler(_args, ctx) {
          await ctx.elicit("Which word?", word, { key: "word" });
          ctx.state.set("word", marks.state);
          if (withValues) {
            await ctx.read("find", () => ({ deep: [marks.read] }));
            await ctx.step(step, () => ({ found: marks.step }));
          }
          await ctx.elicit("Which other word?", word, { key: "other" });
          if (!(await ctx.confirm("Tell?"))) return "Not told.";
          return await end(ctx);
        },
      }),
    ],
  });
}

const first: RawRequest = { params: { name: "tell", arguments: { about: marks.argument } } };
const answerOf: Readonly<Record<string, unknown>> = {
  word: { action: "accept", content: { word: marks.answer } },
  other: { action: "accept", content: { word: `${marks.answer} again` } },
  confirm: accepted,
};

interface Told {
  readonly tokens: readonly string[];
  readonly last: RawMessage;
}

/** Runs the dialogue for so many rounds of answers, repeating each retry once, and gives all tokens. */
async function dialogue(client: RawClient, url: string, rounds = 3): Promise<Told> {
  const tokens: string[] = [];
  let last = await client.call(url, first);
  for (let round = 0; round < rounds; round += 1) {
    const { inputRequests = {}, requestState } = last.result ?? {};
    if (requestState === undefined) throw new Error(`no question came: ${JSON.stringify(last)}`);
    tokens.push(requestState);
    const inputResponses = Object.fromEntries(
      Object.keys(inputRequests).map((asked) => [asked, answerOf[asked]]),
    );
    const retry = { ...first, params: { ...first.params, requestState, inputResponses } };
    last = await client.call(url, retry);
    const again = await client.call(url, retry);
    tokens.push(...[last, again].flatMap(({ result }) => result?.requestState ?? []));
  }
  return { tokens, last };
}

interface Talk {
  readonly client: RawClient;
  readonly url: string;
  readonly log: CapturedLog;
}

async function talk(server: ServerDefinition, options: ServeOptions = {}): Promise<Talk> {
  const log = capturedLog();
  const served = await serveForTest(server, {
    requestStateKey: key,
    logger: log.logger,
    ...options,
  });
  const client = new RawClient();
  onTestFinished(() => client.close());
  return { client, url: served.url, log };
}

/** Markers in what was logged, causes and stacks included. */
const logged = ({ entries }: CapturedLog): readonly string[] => {
  const text = inspect(entries, { depth: 20, maxStringLength: null, maxArrayLength: null });
  return allMarks.filter((marker) => text.includes(marker));
};

const replied = (message: RawMessage): readonly string[] =>
  allMarks.filter((marker) => JSON.stringify(message).includes(marker));

describe("tokens", () => {
  // promise P4.1.8
  test("of a once run show none of it, in any round", async () => {
    const { client, url, log } = await talk(teller({ effects: "once" }));
    const { tokens, last } = await dialogue(client, url);
    expect(last.result?.content?.[0]?.text).toBe("Told.");
    // Three questions, two of them answered to a repetition as well.
    expect(tokens).toHaveLength(7);
    expect(new Set(tokens.map((token) => token.split(".").length))).toEqual(new Set([3]));
    expect(readableMarkers(tokens, allMarks)).toEqual([]);
    expect(logged(log)).toEqual([]);
  });

  test.each([
    ["once", true],
    ["repeatable", true],
    ["repeatable", false],
  ] as const)(
    "show none of it with encryptRequestState (%s, values: %s)",
    async (effects, withValues) => {
      const { client, url, log } = await talk(teller({ effects, withValues }), {
        encryptRequestState: true,
      });
      const { tokens, last } = await dialogue(client, url);
      expect(last.result?.content?.[0]?.text).toBe("Told.");
      expect(new Set(tokens.map((token) => token.split(".").length))).toEqual(new Set([5]));
      expect(readableMarkers(tokens, allMarks)).toEqual([]);
      expect(logged(log)).toEqual([]);
    },
  );

  test("of a repeatable run are encrypted without being told, as soon as they hold a step or read", async () => {
    const { client, url } = await talk(teller({ effects: "repeatable" }));
    const { tokens } = await dialogue(client, url);
    const [signed, ...encrypted] = tokens;
    expect(signed?.split(".")).toHaveLength(3);
    expect(readableMarkers([signed ?? ""], allMarks)).toEqual([]);
    expect(new Set(encrypted.slice(1).map((token) => token.split(".").length))).toEqual(
      new Set([5]),
    );
    expect(readableMarkers(encrypted, [marks.step, marks.read])).toEqual([]);
  });

  test("of a repeatable run that are only signed show its answers and state: the search would find them", async () => {
    const { client, url } = await talk(teller({ effects: "repeatable", withValues: false }));
    const { tokens } = await dialogue(client, url);
    expect(readableMarkers(tokens, allMarks)).toEqual([marks.answer, marks.state]);
  });
});

describe("error replies and log lines", () => {
  test("show nothing of a handler's failure but that it failed", async () => {
    const secret = mark("thrown");
    const failing = teller({ effects: "once" }, () => {
      throw new Error(secret);
    });
    const { client, url, log } = await talk(failing);
    const { last } = await dialogue(client, url);
    expect(last.result?.isError).toBe(true);
    expect(JSON.stringify(last)).not.toContain(secret);
    expect(replied(last)).toEqual([]);
    expect(logged(log)).toEqual([]);
    // What the author's code threw is for the operator.
    expect(inspect(log.entries, { depth: 20 })).toContain(secret);
  });

  test.each([
    [
      "a step that fails",
      (ctx: Context) => ctx.step("fail", () => Promise.reject(new Error("no"))),
    ],
    [
      "a value that can't be journaled",
      (ctx: Context) => ctx.step("odd", () => ({ good: marks.step, odd: () => 1 }) as never),
    ],
    ["a name used twice", (ctx: Context) => ctx.step("look", () => marks.step)],
  ])("show nothing after %s", async (_, end) => {
    const { client, url, log } = await talk(
      teller({ effects: "once" }, async (ctx) => {
        await end(ctx);
        return "Told.";
      }),
    );
    const { last } = await dialogue(client, url);
    expect(last.error ?? last.result?.isError).toBeTruthy();
    expect(replied(last)).toEqual([]);
    expect(logged(log)).toEqual([]);
  });

  test("show nothing when an answer contradicts a settled one", async () => {
    const { client, url, log } = await talk(teller({ effects: "once" }));
    const { tokens } = await dialogue(client, url, 2);
    const inputResponses = { word: { action: "accept", content: { word: "another" } } };
    const contradiction = await client.call(url, {
      ...first,
      params: { ...first.params, requestState: tokens[0], inputResponses },
    });
    expect(contradiction.error?.data?.code).toBe("ANSWER_SETTLED");
    expect(replied(contradiction)).toEqual([]);
    expect(logged(log)).toEqual([]);
  });

  test("show nothing when a state is refused", async () => {
    const { client, url, log } = await talk(teller({ effects: "once" }));
    const { tokens } = await dialogue(client, url, 2);
    const requestState = `${tokens[1]}A`;
    const refused = await client.call(url, { ...first, params: { ...first.params, requestState } });
    expect(refused.error?.message).toBe("the requestState is not valid");
    expect(replied(refused)).toEqual([]);
    expect(log.entries.map(({ fields }) => fields["event"])).toContain("request_state_refused");
    expect(logged(log)).toEqual([]);
  });

  test("show nothing when the handler was changed under the run", async () => {
    const dataDir = await temporaryFolder();
    const old = await talk(teller({ effects: "once" }), { dataDir });
    const { tokens } = await dialogue(old.client, old.url, 2);
    const changed = await talk(teller({ effects: "once", step: "look elsewhere" }), {
      dataDir,
      replayStallMs: 200,
    });
    const mismatch = await changed.client.call(changed.url, {
      ...first,
      params: {
        ...first.params,
        requestState: tokens.at(-1),
        inputResponses: { confirm: accepted },
      },
    });
    expect(mismatch.error?.data?.code).toBe("JOURNAL_MISMATCH");
    expect(mismatch.error?.message).toContain("look elsewhere");
    expect(replied(mismatch)).toEqual([]);
    expect(logged(changed.log)).toEqual([]);
  });

  test("show nothing when a state is too large", async () => {
    const { client, url, log } = await talk(teller({ effects: "repeatable" }), {
      maxRequestStateBytes: 1024,
    });
    const asked = await client.call(url, first);
    const tooLarge = await client.call(url, {
      ...first,
      params: {
        ...first.params,
        requestState: asked.result?.requestState,
        inputResponses: { word: { action: "accept", content: { word: marks.answer.repeat(20) } } },
      },
    });
    expect(JSON.stringify(tooLarge)).toMatch(/maxRequestStateBytes|STATE_TOO_LARGE|sealed state/);
    expect(replied(tooLarge)).toEqual([]);
    expect(logged(log)).toEqual([]);
  });
});
