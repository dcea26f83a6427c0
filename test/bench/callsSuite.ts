/**
 * Suite `calls`: a tool call and a whole confirm flow, beside bare fastify and the official SDK.
 */

import { confirmOnce, confirmRepeatable, echoCall } from "./calls.ts";
import type { Sample } from "./loadProcess.ts";
import { type Case, type Measured, measure } from "./measure.ts";
import type { OperationSpec } from "./operations.ts";
import { type ServerProcess, startServer } from "./processes.ts";
import { pairedRatio } from "./stats.ts";
import { type Ratio, type SuiteContext, type SuiteResult, samplesOf } from "./suite.ts";

const concurrencies = [1, 64] as const;
/** Measures the suite. */
export async function callsSuite(context: SuiteContext): Promise<SuiteResult> {
  const servers: ServerProcess[] = [];
  const start = async (name: string): Promise<ServerProcess> => {
    const server = await startServer(context.code, name);
    servers.push(server);
    return server;
  };
  try {
    const bare = await start("bare");
    const sdk = await start("sdk");
    const reprise = await start("reprise");
    const cases = concurrencies.flatMap((concurrency) => [
      oneCase("fastify call", bare, bare.url, echoCall, concurrency),
      oneCase("sdk call", sdk, sdk.url, echoCall, concurrency),
      oneCase("reprise call", reprise, reprise.url, echoCall, concurrency),
      oneCase(
        "sdk confirm",
        sdk,
        new URL("/confirm", sdk.url).href,
        confirmRepeatable,
        concurrency,
      ),
      oneCase("reprise confirm repeatable", reprise, reprise.url, confirmRepeatable, concurrency),
      oneCase("reprise confirm once", reprise, reprise.url, confirmOnce, concurrency),
    ]);
    const measured = await measure(cases, context.load, context.timing, context.onProgress);
    return { suite: "calls", ratios: ratiosOf(measured), measured, limits };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const limits = [
  "one server process, one machine, loopback, no TLS, no auth, requests of about 1 KB",
  "at concurrency 64 the latencies are those of a queue: 64 divided by the throughput",
  "a confirm flow is two requests; its figures are per flow",
];

function oneCase(
  name: string,
  server: ServerProcess,
  url: string,
  operation: OperationSpec,
  concurrency: number,
): Case {
  return { name: nameAt(name, concurrency), server, url, operation, concurrency };
}

function nameAt(name: string, concurrency: number): string {
  return `${name} c${concurrency}`;
}

function ratiosOf(measured: readonly Measured[]): Ratio[] {
  const perSecond = (sample: Sample): number => sample.operations / sample.elapsedMs;
  const perCpu = (sample: Sample): number => sample.operations / sample.serverCpuMs;
  const ratio = (
    of: string,
    to: string,
    concurrency: number,
    target?: NonNullable<Ratio["target"]>,
  ): Ratio[] => {
    const ours = samplesOf(measured, nameAt(of, concurrency));
    const theirs = samplesOf(measured, nameAt(to, concurrency));
    const name = `${of} / ${to}, c${concurrency}`;
    return [
      {
        name: `${name}, per second`,
        value: pairedRatio(ours.map(perSecond), theirs.map(perSecond)),
        ...(target === undefined ? {} : { target }),
      },
      {
        name: `${name}, per CPU second of the server`,
        value: pairedRatio(ours.map(perCpu), theirs.map(perCpu)),
      },
    ];
  };
  return [
    ...ratio("reprise call", "fastify call", 64, { atLeast: 0.6 }),
    ...ratio("reprise call", "fastify call", 1, { atLeast: 0.5 }),
    ...ratio("reprise call", "sdk call", 64, { atLeast: 8 }),
    ...ratio("reprise call", "sdk call", 1),
    ...ratio("reprise confirm repeatable", "sdk confirm", 64, { atLeast: 5 }),
    ...ratio("reprise confirm repeatable", "sdk confirm", 1, { atLeast: 5 }),
    ...ratio("reprise confirm once", "sdk confirm", 64),
    ...ratio("reprise confirm once", "sdk confirm", 1),
  ];
}
