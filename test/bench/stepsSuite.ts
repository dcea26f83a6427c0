/**
 * Suite `steps`: what a recorded step costs on the embedded store, beside bare durable commits.
 *
 * Both sides are an HTTP request that does 0, 1 or 5 of them one after the other, at concurrency 1. The cost of
 * one is (latency of 5 - latency of 1) / 4: the request, the load's time and what a run costs once (its record is made
 * before the first step, its end is recorded after the last: two commits) cancel out. What a run costs once is told apart.
 */
import { commitsPost, stepsCall } from "./calls.ts";
import { type Case, type Measured, measure } from "./measure.ts";
import { type ServerProcess, startServer } from "./processes.ts";
import { pairedRatio } from "./stats.ts";
import { type Ratio, type SuiteContext, type SuiteResult, samplesOf } from "./suite.ts";
import { commitBytes, stepCounts } from "./workload.ts";

/** Measures the suite. */
export async function stepsSuite(context: SuiteContext): Promise<SuiteResult> {
  const servers: ServerProcess[] = [];
  const start = async (name: string): Promise<ServerProcess> => {
    const server = await startServer(context.code, name);
    servers.push(server);
    return server;
  };
  try {
    const commits = await start("commits");
    const reprise = await start("reprise");
    const cases = stepCounts.flatMap((count): Case[] => [
      {
        name: commitsCase(count),
        server: commits,
        url: new URL(`/commits/${count}`, commits.url).href,
        operation: commitsPost(count),
        concurrency: 1,
      },
      {
        name: stepsCase(count),
        server: reprise,
        url: reprise.url,
        operation: stepsCall(count),
        concurrency: 1,
      },
    ]);
    const measured = await measure(cases, context.load, context.timing, context.onProgress);
    return { suite: "steps", ratios: ratiosOf(measured), measured, limits };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const limits = [
  `a bare commit writes ${commitBytes} bytes under a key of its own and waits until it is flushed`,
  "the file system of the temporary directory decides what a flush costs",
  "a run with steps makes its record before the first and records its end: two commits, in every figure from 0",
];

function commitsCase(count: number): string {
  return `bare, ${count} commits c1`;
}

function stepsCase(count: number): string {
  return `reprise, ${count} steps c1`;
}

function ratiosOf(measured: readonly Measured[]): Ratio[] {
  const p50s = (name: string): number[] => samplesOf(measured, name).map(({ p50Ms }) => p50Ms);
  const costs = (name: (count: number) => string, from: number, to: number): number[] => {
    const base = p50s(name(from));
    return p50s(name(to)).map((ms, round) => (ms - (base[round] ?? Number.NaN)) / (to - from));
  };
  const ratio = (from: number, to: number): ReturnType<typeof pairedRatio> =>
    pairedRatio(costs(stepsCase, from, to), costs(commitsCase, from, to));
  return [
    {
      name: "one recorded step / one bare durable commit, from 5 and 1",
      value: ratio(1, 5),
      target: { atMost: 1.3 },
    },
    {
      name: "a run of 5 steps, its record and end included, / 5 bare durable commits, from 5 and 0",
      value: ratio(0, 5),
    },
    {
      name: "a run of 1 step, its record and end included, / 1 bare durable commit, from 1 and 0",
      value: ratio(0, 1),
    },
  ];
}
