/**
 * What author and caller wrote is in no answer of the dashboard before an operator reveals it, in no part of history that a store
 * keeps, in no span that goes to a collector, and in no figure: planted markers are searched, on the embedded store and on Redis.
 *
 * What was revealed, and the run's own record, show that the search would find them.
 */
import { randomBytes } from "node:crypto";
import path from "node:path";
import { defineServer, notDone, tool } from "reprise";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { dump } from "../../support/lmdbDump.ts";
import { type OtlpCollector, otlpCollector } from "../../support/otlpCollector.ts";
import { RawClient, type RawMessage } from "../../support/rawMcp.ts";
import { redisContents } from "../../support/redisContents.ts";
import { type RedisServer, startRedis } from "../../support/redisServer.ts";
import { serveForTest, temporaryFolder } from "../../support/temporary.ts";
import { openDeployment } from "./support/deployment.ts";
import { type Operator, operatorWith } from "./support/operator.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const mark = (what: string): string => `MARK-${what}-${randomBytes(12).toString("hex")}`;

const marks = {
  ...{ argument: mark("argument"), answer: mark("answer"), question: mark("question") },
  ...{ state: mark("state"), step: mark("step"), read: mark("read"), result: mark("result") },
  ...{ thrown: mark("thrown"), key: mark("key"), log: mark("log"), progress: mark("progress") },
};
const allMarks = Object.values(marks);
const marksIn = (text: string): readonly string[] => allMarks.filter((one) => text.includes(one));

const server = defineServer({
  name: "teller",
  tools: [
    tool({
      name: "tell",
      description: "Tells a word",
      input: z.object({ about: z.string(), key: z.string(), fails: z.boolean() }),
      idempotency: { key: ({ key }) => key, scope: "tool" },
      async handler({ fails }, ctx) {
        ctx.progress(1, 2, marks.progress);
        ctx.log("warning", marks.log);
        const told = await ctx.elicit(marks.question, z.object({ word: z.string() }));
        ctx.state.set("word", marks.state);
        await ctx.read("find", () => marks.read);
        await ctx.step("act", () => marks.step);
        if (fails) {
          const failing = (): never => {
            throw notDone(new Error(marks.thrown));
          };
          await ctx.step("fail", failing, { retry: { tries: 1 } });
        }
        if (!(await ctx.confirm(`Tell ${marks.question}?`))) return "Not told.";
        return told.action === "accept" ? marks.result : "Nothing told.";
      },
    }),
  ],
});

/** What a stage is after its end: history as the store keeps it, and all the rest. */
interface Kept {
  readonly history: string;
  readonly rest: string;
}

interface Stage {
  readonly operator: Operator;
  /** Ends in `/ops/`. */
  readonly opsUrl: string;
  /** Where MCP is. */
  readonly url: string;
  /** Ends it; what its store holds then. */
  close(): Promise<Kept>;
}

const stages: Readonly<Record<string, (collector: OtlpCollector) => Promise<Stage>>> = {
  async "the embedded store"(collector) {
    const dataDir = await temporaryFolder();
    const options = { dataDir, otlpEndpoint: collector.url, ops: { print: () => undefined } };
    const served = await serveForTest(server, options);
    const link = served.newOpsLink?.() ?? "";
    return {
      operator: await operatorWith(link),
      opsUrl: new URL("/ops/", link).href,
      url: served.url,
      async close() {
        await served.close();
        const entries = Object.entries(await dump(path.join(dataDir, "store")));
        return keptIn(entries, /^history\//);
      },
    };
  },
  async "Redis, with a worker"(collector) {
    const env = { REPRISE_OTLP_ENDPOINT: collector.url };
    const deployment = await openDeployment(redis, server, env);
    return {
      ...deployment,
      async close() {
        await deployment.close();
        const { namespace } = deployment.settings;
        const entries = [...(await redisContents(redis.url))].filter(([key]) =>
          key.includes(`${namespace}:`),
        );
        return keptIn(entries, /:(history:\d+|operators)\}/);
      },
    };
  },
};

function keptIn(entries: readonly (readonly [string, string])[], ofHistory: RegExp): Kept {
  const textOf = (isHistory: boolean): string =>
    entries
      .filter(([key]) => ofHistory.test(key) === isHistory)
      .flat()
      .join("\n");
  return { history: textOf(true), rest: textOf(false) };
}

/** Two runs: one that goes on to its second question, and one that fails after its first. */
async function talk(url: string): Promise<void> {
  const client = new RawClient();
  const call = async (fails: boolean, more: object = {}): Promise<RawMessage["result"]> => {
    const key = `${marks.key}-${fails}`;
    const params = { name: "tell", arguments: { about: marks.argument, key, fails }, ...more };
    return (await client.call(url, { params })).result;
  };
  const content = { word: marks.answer };
  for (const fails of [false, true]) {
    const { requestState } = (await call(fails)) ?? {};
    const inputResponses = { elicit: { action: "accept", content } };
    const next = await call(fails, { requestState, inputResponses });
    if (fails) expect(next?.isError).toBe(true);
    else expect(next?.resultType).toBe("input_required");
  }
  client.close();
}

interface Page {
  readonly runs: readonly { readonly runId: string; readonly status: string }[];
}

describe.each(Object.entries(stages))("on %s", (_name, open) => {
  test("markers are in nothing that an operator has not revealed", async () => {
    const collector = await otlpCollector();
    const { operator, opsUrl, url, close } = await open(collector);
    await talk(url);
    const { runs } = await operator.until<Page>(
      "runs",
      (page) =>
        page.runs
          .map(({ status }) => status)
          .toSorted()
          .join() === "failed,waiting",
    );
    const looked = async (place: string): Promise<string> => {
      const headers = { cookie: operator.cookie };
      return await (await fetch(new URL(place, opsUrl), { headers })).text();
    };
    const places = [
      ...["me", "overview", "instances", "queues", "keys", "audit", "runs"],
      ...["waiting", "failed", "attention"].map((status) => `runs?status=${status}`),
      ...runs.map(({ runId }) => `runs/${runId}`),
    ].map((place) => `api/${place}`);
    const board = "board/api/queues?activeQueue=default&status=latest&page=1&jobsPerPage=10";
    const all = [...places, board, new URL("/metrics", url).href];
    for (const place of all) expect(marksIn(await looked(place)), place).toEqual([]);
    expect(marksIn(await firstPulse(operator, opsUrl))).toEqual([]);

    const [waiting] = runs.filter(({ status }) => status === "waiting");
    const revealing = operator.post(`runs/${waiting?.runId}/reveal`, { part: "all" });
    const revealed = JSON.stringify(await revealing);
    for (const what of ["argument", "answer", "question", "state", "step", "read"] as const) {
      expect(revealed, what).toContain(marks[what]);
    }
    // Seen by whoever asked, and by no one who looks afterwards.
    for (const place of all) expect(marksIn(await looked(place)), place).toEqual([]);
    expect(await looked("api/audit")).toContain('"reveal"');

    const { history, rest } = await close();
    expect(history).toContain(waiting?.runId);
    expect(history).toContain('"act"');
    expect(marksIn(history)).toEqual([]);
    expect(marksIn(rest)).toEqual(expect.arrayContaining([marks.argument, marks.step]));
    expect(collector.received()).toContain(waiting?.runId);
    expect(marksIn(collector.received())).toEqual([]);
  });
});

/** What the stream of changes says first. */
async function firstPulse({ cookie }: Operator, opsUrl: string): Promise<string> {
  const aborted = new AbortController();
  const stream = await fetch(new URL("api/live", opsUrl), {
    headers: { cookie },
    signal: aborted.signal,
  });
  const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("event: pulse")) text += (await reader?.read())?.value ?? "";
  aborted.abort();
  return text;
}
