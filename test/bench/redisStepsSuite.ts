/**
 * Suite `redisSteps`: what a recorded step costs on the Redis store, beside one bare EVALSHA that writes as many bytes; and
 * whether a step late in a long run costs more than an early one.
 *
 * As in `steps`, both sides are an HTTP request that does one or more of them one after the other; the cost of one is the
 * difference of two counts, so the request and what a run costs once cancel out. How many bytes a step writes is taken
 * from the growth of the append-only file.
 */
import type { Redis } from "ioredis";
import { scriptsPost, stepsCall } from "./calls.ts";
import { HttpConnection, openSocket } from "./httpConnection.ts";
import type { Sample } from "./loadProcess.ts";
import { type Case, type Measured, measure } from "./measure.ts";
import { type OperationSpec, textOf, toolRequest } from "./operations.ts";
import { startServer } from "./processes.ts";
import {
  type Fsync,
  infoNumber,
  type RedisPart,
  startFront,
  startPinnedRedis,
} from "./redisSystem.ts";
import { pairedRatio } from "./stats.ts";
import { type Ratio, type SuiteContext, type SuiteResult, samplesOf } from "./suite.ts";
import { joined, type System, stopAll } from "./systems.ts";
import {
  longRunSteps,
  longRunTool,
  longRunWindow,
  redisStepCounts,
  stepsTool,
} from "./workload.ts";

const concurrencies = [1, 64] as const;
const settings: readonly Fsync[] = ["everysec", "always"];
const [few, many] = redisStepCounts;

/** What `SET` of one value takes in the append-only file besides the value, about. */
const setBytes = 50;

interface OneSetting {
  readonly measured: readonly Measured[];
  readonly ratios: readonly Ratio[];
  readonly limit: string;
}

/** Measures the suite. */
export async function redisStepsSuite(context: SuiteContext): Promise<SuiteResult> {
  const all: OneSetting[] = [];
  for (const fsync of settings) all.push(await measureWith(fsync, context));
  return {
    suite: "redisSteps",
    ratios: all.flatMap(({ ratios }) => ratios),
    measured: all.flatMap(({ measured }) => measured),
    limits: [
      ...all.map(({ limit }) => limit),
      "front and Redis of either side share the servers' core; a step is `ctx.step` of a once run, all of Reprise included",
      `a run of ${longRunSteps} steps tells the median times of steps 10-${9 + longRunWindow} and of its last ${longRunWindow}; one run a round, after one that is not counted`,
    ],
  };
}

async function measureWith(fsync: Fsync, context: SuiteContext): Promise<OneSetting> {
  const { code, load, timing, onProgress } = context;
  const started: Pick<System, "stop">[] = [];
  const keep = async <S extends Pick<System, "stop">>(starting: Promise<S>): Promise<S> => {
    const system = await starting;
    started.unshift(system);
    return system;
  };
  try {
    const redis = await keep(startPinnedRedis(fsync));
    const front = await keep(startFront(code, redis, "inline"));
    const reprise = joined(front, redis);
    const bytes = await bytesOfStep(reprise, redis);
    const bareRedis = await keep(startPinnedRedis(fsync));
    const args = [bareRedis.redisUrl, String(bytes - setBytes)];
    const bare = joined(await keep(startServer(code, "scripts", { args })), bareRedis);
    const cases = concurrencies.flatMap((concurrency) =>
      redisStepCounts.flatMap((count): Case[] => {
        const at = (
          name: string,
          server: System,
          path: string,
          operation: OperationSpec,
        ): Case => ({
          name: caseName(name, count, fsync, concurrency),
          server,
          url: new URL(path, server.url).href,
          operation,
          concurrency,
        });
        return [
          at("bare scripts", bare, `/scripts/${count}`, scriptsPost(count)),
          at("steps", reprise, "", stepsCall(count)),
        ];
      }),
    );
    const measured = await measure(cases, load, timing, onProgress, { freezeIdle: true });
    onProgress(`runs of ${longRunSteps} steps, ${fsync}`);
    return {
      measured,
      ratios: [...stepRatios(measured, fsync), await longRunRatio(reprise, fsync, timing.rounds)],
      limit: `Redis ${redis.version}, appendfsync ${fsync}: a step writes ${bytes} bytes to the append-only file, and so does the bare script`,
    };
  } finally {
    await stopAll(started);
  }
}

/** From two runs, whose records and ends cancel out. */
async function bytesOfStep({ url }: System, redis: RedisPart): Promise<number> {
  const client = redis.connect();
  try {
    // What is made once, as an index, is made by the first.
    await growthOf(client, url, few);
    const base = await growthOf(client, url, few);
    return Math.round(((await growthOf(client, url, many)) - base) / (many - few));
  } finally {
    client.disconnect();
  }
}

async function growthOf(client: Redis, url: string, count: number): Promise<number> {
  const size = (): Promise<number> => infoNumber(client, "persistence", "aof_current_size");
  const before = await size();
  await callOnce(url, stepsTool(count));
  return (await size()) - before;
}

function stepRatios(measured: readonly Measured[], fsync: Fsync): Ratio[] {
  return concurrencies.flatMap((concurrency) => {
    const costs = (name: string, value: (sample: Sample) => number): number[] => {
      const of = (count: number): number[] =>
        samplesOf(measured, caseName(name, count, fsync, concurrency)).map(value);
      const base = of(few);
      return of(many).map((cost, round) => cost - (base[round] ?? Number.NaN));
    };
    const ratio = (
      what: string,
      value: (sample: Sample) => number,
      target?: NonNullable<Ratio["target"]>,
    ): Ratio => ({
      name: `one recorded step / one bare EVALSHA of as many bytes, ${fsync} c${concurrency}, ${what}`,
      value: pairedRatio(costs("steps", value), costs("bare scripts", value)),
      ...(target === undefined ? {} : { target }),
    });
    const cpu = ratio("CPU of the servers", (sample) => sample.serverCpuMs / sample.operations);
    return concurrency === 1
      ? [ratio("p50", (sample) => sample.p50Ms, { atMost: 1.3 }), cpu]
      : [ratio("time of the core", (sample) => sample.elapsedMs / sample.operations), cpu];
  });
}

async function longRunRatio({ url }: System, fsync: Fsync, rounds: number): Promise<Ratio> {
  const early: number[] = [];
  const late: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const text = await callOnce(url, longRunTool);
    const { earlyMs, lateMs } = JSON.parse(text) as { earlyMs: number; lateMs: number };
    if (round === 0) continue;
    early.push(earlyMs);
    late.push(lateMs);
  }
  return {
    name: `a step at the end of ${longRunSteps} / one after the tenth of the same run, ${fsync}`,
    value: pairedRatio(late, early),
    target: { atMost: 1.2 },
  };
}

async function callOnce(href: string, tool: string): Promise<string> {
  const url = new URL(href);
  const connection = new HttpConnection(await openSocket(Number(url.port), url.hostname));
  try {
    return textOf(await connection.send(toolRequest(url, { tool, args: {} }, {})(1, "")));
  } finally {
    connection.close();
  }
}

function caseName(name: string, count: number, fsync: Fsync, concurrency: number): string {
  return `${count} ${name}, ${fsync} c${concurrency}`;
}
