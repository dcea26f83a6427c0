/**
 * Suite `pool`: a call through the pool beside a bare BullMQ job, add to completed, on Redis with either fsync setting.
 *
 * Both sides are an HTTP request to a front that gives a job to a worker in another process and answers when it is done; front,
 * worker and Redis share the servers' core. The bare side is fastify and BullMQ's own events, awaited by job id.
 */
import { echoCall, jobPost, keyedStepsCall } from "./calls.ts";
import type { Sample } from "./loadProcess.ts";
import { type Case, type Measured, measure } from "./measure.ts";
import type { OperationSpec } from "./operations.ts";
import { startServer } from "./processes.ts";
import { type Fsync, startFront, startPinnedRedis, startPoolWorker } from "./redisSystem.ts";
import { pairedRatio } from "./stats.ts";
import { type Ratio, type SuiteContext, type SuiteResult, samplesOf } from "./suite.ts";
import { joined, type System, stopAll } from "./systems.ts";
import { workerConcurrency } from "./workload.ts";

const concurrencies = [1, 64] as const;
const settings: readonly Fsync[] = ["everysec", "always"];

/** Measures the suite. */
export async function poolSuite(context: SuiteContext): Promise<SuiteResult> {
  const measured: Measured[] = [];
  let redisVersion = "";
  for (const fsync of settings) {
    const systems: System[] = [];
    try {
      const bare = await startBare(context, fsync);
      systems.push(bare);
      const reprise = await startReprise(context, fsync);
      systems.push(reprise);
      redisVersion = reprise.redisVersion;
      const cases = concurrencies.flatMap((concurrency): Case[] => {
        const at = (name: string, server: System, operation: OperationSpec): Case => ({
          name: nameAt(name, fsync, concurrency),
          server,
          url: server.url,
          operation,
          concurrency,
        });
        return [
          at("bare job", bare, jobPost),
          at("pool call", reprise, echoCall),
          at("pool once run", reprise, keyedStepsCall(0)),
        ];
      });
      const { load, timing, onProgress } = context;
      measured.push(...(await measure(cases, load, timing, onProgress, { freezeIdle: true })));
    } finally {
      await stopAll(systems);
    }
  }
  return {
    suite: "pool",
    ratios: settings.flatMap((fsync) => ratiosOf(measured, fsync)),
    measured,
    limits: [
      `Redis ${redisVersion}, one for each side, its append-only file flushed as named; front, worker and Redis of a side share the servers' core`,
      `workers execute ${workerConcurrency} jobs at a time; results and jobs are removed when done`,
      "a pool call is a repeatable tool's, whose job carries request and reply; a once run is keyed and records its beginning and end besides",
      "at concurrency 64 the latencies are those of a queue: 64 divided by the throughput",
    ],
  };
}

async function startBare({ code }: SuiteContext, fsync: Fsync): Promise<System> {
  const redis = await startPinnedRedis(fsync);
  const started: Pick<System, "stop">[] = [redis];
  try {
    const args = [redis.redisUrl, String(workerConcurrency)];
    const worker = await startServer(code, "jobWorker", { args });
    started.unshift(worker);
    return joined(await startServer(code, "jobs", { args }), worker, redis);
  } catch (failure) {
    await stopAll(started);
    throw failure;
  }
}

async function startReprise(
  { code }: SuiteContext,
  fsync: Fsync,
): Promise<System & { readonly redisVersion: string }> {
  const redis = await startPinnedRedis(fsync);
  const started: Pick<System, "stop">[] = [redis];
  try {
    const worker = await startPoolWorker(code, redis, workerConcurrency);
    started.unshift(worker);
    const front = await startFront(code, redis, "pool");
    return { ...joined(front, worker, redis), redisVersion: redis.version };
  } catch (failure) {
    await stopAll(started);
    throw failure;
  }
}

function ratiosOf(measured: readonly Measured[], fsync: Fsync): Ratio[] {
  return concurrencies.flatMap((concurrency) => {
    const samples = (name: string): Measured["samples"] =>
      samplesOf(measured, nameAt(name, fsync, concurrency));
    const ratio = (
      of: string,
      what: string,
      value: (sample: Sample) => number,
      target?: NonNullable<Ratio["target"]>,
    ): Ratio => ({
      name: `${of} / bare job, ${fsync} c${concurrency}, ${what}`,
      value: pairedRatio(samples(of).map(value), samples("bare job").map(value)),
      ...(target === undefined ? {} : { target }),
    });
    const p50 = (sample: Sample): number => sample.p50Ms;
    const perSecond = (sample: Sample): number => sample.operations / sample.elapsedMs;
    return [
      ratio("pool call", "p50", p50, { atMost: 1.5 }),
      ratio("pool call", "per second", perSecond, { atLeast: 0.8 }),
      ratio("pool once run", "p50", p50),
      ratio("pool once run", "per second", perSecond),
    ];
  });
}

function nameAt(name: string, fsync: Fsync, concurrency: number): string {
  return `${name}, ${fsync} c${concurrency}`;
}
