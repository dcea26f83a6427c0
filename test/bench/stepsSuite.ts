/**
 * Suite `steps`: what a recorded step costs on the embedded store, beside bare durable commits.
 *
 * Both sides are an HTTP request that does 0, 1 or 5 of them one after the other, at concurrency 1. The cost of
 * one is (latency of 5 - latency of 0) / 5, so the request itself, the run's own record and the load's time
 * cancel out on either side.
 */
import { commitsPost, stepsCall } from "./calls.ts";
import { type Case, type Measured, measure } from "./measure.ts";
import { type ServerProcess, startServer } from "./processes.ts";
import { pairedRatio } from "./stats.ts";
import { type Ratio, type SuiteContext, type SuiteResult, samplesOf } from "./suite.ts";
import { commitBytes, stepCounts } from "./workload.ts";

const least = 0;
const most = 5;

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
  "the first step of a run also makes the run's record; it is in the difference of 1 and 0 steps",
];

function commitsCase(count: number): string {
  return `bare, ${count} commits c1`;
}

function stepsCase(count: number): string {
  return `reprise, ${count} steps c1`;
}

function ratiosOf(measured: readonly Measured[]): Ratio[] {
  const p50s = (name: string): number[] => samplesOf(measured, name).map(({ p50Ms }) => p50Ms);
  const costs = (name: (count: number) => string, to: number): number[] => {
    const base = p50s(name(least));
    return p50s(name(to)).map((ms, round) => (ms - (base[round] ?? Number.NaN)) / (to - least));
  };
  return [
    {
      name: "one recorded step / one bare durable commit, from 5 and 0",
      value: pairedRatio(costs(stepsCase, most), costs(commitsCase, most)),
      target: { atMost: 1.3 },
    },
    {
      name: "the first recorded step / one bare durable commit, from 1 and 0",
      value: pairedRatio(costs(stepsCase, 1), costs(commitsCase, 1)),
    },
  ];
}
