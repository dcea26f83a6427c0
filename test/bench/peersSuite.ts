/**
 * Suite `peers`: whole once runs, inline on the Redis store, beside Restate and DBOS. Runs only when named: it installs them.
 *
 * Two groups of systems that promise alike: with fsync (Redis AOF always, Restate as it comes, DBOS with synchronous commit)
 * and without (AOF everysec, Restate without fsync of its logs, DBOS with asynchronous commit). Within a group the rounds are
 * interleaved, and the processes of those that are not loaded stand still.
 */
import { confirmKeyed, confirmOnce, keyedStepsCall, stepsCall } from "./calls.ts";
import { type Case, type Measured, measure } from "./measure.ts";
import type { OperationSpec } from "./operations.ts";
import { startDbos } from "./peerDbos.ts";
import { installPeers, peerVersion } from "./peerPackages.ts";
import { startRestate } from "./peerRestate.ts";
import { startFront, startPinnedRedis } from "./redisSystem.ts";
import { pairedRatio } from "./stats.ts";
import { type Ratio, type SuiteContext, type SuiteResult, samplesOf } from "./suite.ts";
import { joined, type System, stopAll } from "./systems.ts";
import { confirmedText, stepsText } from "./workload.ts";

const concurrencies = [1, 64] as const;
const target = { atLeast: 10 } as const;

/** What is loaded, by row and system. */
interface Row {
  readonly name: string;
  readonly reprise: OperationSpec;
  /** Under a key of its own; printed beside. */
  readonly keyed?: OperationSpec;
  readonly restate: (questionsPort: number) => { path: string; operation: OperationSpec };
  readonly dbos: { readonly path: string; readonly operation: OperationSpec };
}

const rows: readonly Row[] = [
  // Without a key a run without steps leaves nothing in the store, and the peers record it.
  { ...stepsRow(0), reprise: keyedStepsCall(0) },
  { ...stepsRow(1), keyed: keyedStepsCall(1) },
  { ...stepsRow(5), keyed: keyedStepsCall(5) },
  {
    name: "ask and answer",
    reprise: confirmOnce,
    keyed: confirmKeyed,
    restate: (questionsPort) => ({
      path: "/bench/ask",
      operation: { kind: "awakeable", questionsPort, text: JSON.stringify(confirmedText) },
    }),
    dbos: { path: "/ask", operation: { kind: "postTwice", text: confirmedText } },
  },
];

interface Group {
  readonly fsync: boolean;
  readonly names: { readonly reprise: string; readonly restate: string; readonly dbos: string };
}

const groups: readonly Group[] = [
  {
    fsync: true,
    names: { reprise: "reprise always", restate: "restate fsync", dbos: "dbos sync-commit" },
  },
  {
    fsync: false,
    names: { reprise: "reprise everysec", restate: "restate no-fsync", dbos: "dbos async-commit" },
  },
];

/** Measures the suite. */
export async function peersSuite(context: SuiteContext): Promise<SuiteResult> {
  installPeers();
  const measured: Measured[] = [];
  const limits: string[] = [];
  for (const group of groups) {
    const systems: System[] = [];
    const started = async <S extends System>(starting: Promise<S>): Promise<S> => {
      const system = await starting;
      systems.push(system);
      return system;
    };
    try {
      context.onProgress(`starting ${Object.values(group.names).join(", ")}`);
      const reprise = await started(startReprise(context, group.fsync));
      const restate = await started(startRestate(group.fsync));
      const dbos = await started(startDbos(group.fsync));
      const systemsOf = { reprise, restate, dbos };
      const cases = casesOf(group, systemsOf, restate.questionsPort);
      const { load, timing, onProgress } = context;
      measured.push(...(await measure(cases, load, timing, onProgress, { freezeIdle: true })));
      limits.push(versionsOf(group, reprise.redisVersion, dbos.postgres));
    } finally {
      await stopAll(systems);
    }
  }
  return {
    suite: "peers",
    ratios: groups.flatMap((group) => ratiosOf(group, measured)),
    measured,
    limits: [...limits, ...generalLimits],
  };
}

const generalLimits = [
  "each system whole on the servers' core: server, database and handlers; default settings but for ports and fsync",
  "runs of 1 and 5 steps and ask and answer without an idempotency key on either side; `keyed`: with one; 0 steps: Reprise with one, or nothing would be recorded",
  "a step returns 256 bytes; ask and answer: Reprise and DBOS two requests; Restate a held call, the id of its awakeable told in a `ctx.run`, and a request that resolves it",
  "Reprise speaks MCP; the peers are called by plain HTTP (Restate's ingress, a bare node:http server in front of DBOS)",
];

interface Reprise extends System {
  readonly redisVersion: string;
}

async function startReprise({ code }: SuiteContext, fsync: boolean): Promise<Reprise> {
  const redis = await startPinnedRedis(fsync ? "always" : "everysec");
  try {
    const front = await startFront(code, redis, "inline");
    return { ...joined(front, redis), redisVersion: redis.version };
  } catch (failure) {
    await redis.stop();
    throw failure;
  }
}

function stepsRow(count: number): Row {
  const text = stepsText(count);
  return {
    name: `${count} steps`,
    reprise: stepsCall(count),
    restate: () => ({
      path: `/bench/steps${count}`,
      operation: { kind: "post", text: JSON.stringify(text) },
    }),
    dbos: { path: `/steps/${count}`, operation: { kind: "post", text } },
  };
}

function casesOf(
  { names }: Group,
  { reprise, restate, dbos }: { reprise: System; restate: System; dbos: System },
  questionsPort: number,
): Case[] {
  return concurrencies.flatMap((concurrency) =>
    rows.flatMap((row): Case[] => {
      const at = (name: string, server: System, path: string, operation: OperationSpec): Case => ({
        name: caseName(name, row, concurrency),
        server,
        url: path === "" ? server.url : new URL(path, server.url).href,
        operation,
        concurrency,
      });
      const ofRestate = row.restate(questionsPort);
      return [
        at(names.reprise, reprise, "", row.reprise),
        at(names.restate, restate, ofRestate.path, ofRestate.operation),
        at(names.dbos, dbos, row.dbos.path, row.dbos.operation),
        ...(row.keyed === undefined ? [] : [at(`${names.reprise} keyed`, reprise, "", row.keyed)]),
      ];
    }),
  );
}

function ratiosOf({ fsync, names }: Group, measured: readonly Measured[]): Ratio[] {
  return concurrencies.toReversed().flatMap((concurrency) =>
    rows.flatMap((row) => {
      const rates = (name: string): number[] =>
        samplesOf(measured, caseName(name, row, concurrency)).map(
          ({ operations, elapsedMs }) => operations / elapsedMs,
        );
      const restate = rates(names.restate);
      const better = rates(names.dbos).map((rate, round) => Math.max(rate, restate[round] ?? 0));
      const ratio = (name: string, isAimedAt: boolean): Ratio => ({
        name: `${name} / the better of ${names.restate} and ${names.dbos}, ${row.name} c${concurrency}`,
        value: pairedRatio(rates(name), better),
        ...(isAimedAt ? { target } : {}),
      });
      return [
        ratio(names.reprise, fsync && concurrency === 64),
        ...(row.keyed === undefined ? [] : [ratio(`${names.reprise} keyed`, false)]),
      ];
    }),
  );
}

function caseName(system: string, { name }: Row, concurrency: number): string {
  return `${system}, ${name} c${concurrency}`;
}

function versionsOf({ fsync, names }: Group, redis: string, postgres: string): string {
  const sdk = peerVersion("@restatedev/restate-sdk");
  return [
    `${fsync ? "with" : "without"} fsync before the reply:`,
    `${names.reprise}: Redis ${redis}, appendfsync ${fsync ? "always" : "everysec"};`,
    `${names.restate}: server ${peerVersion("@restatedev/restate-server")}, SDK ${sdk}, rocksdb-disable-wal-fsync ${!fsync};`,
    `${names.dbos}: SDK ${peerVersion("@dbos-inc/dbos-sdk")}, ${postgres}, synchronous_commit ${fsync ? "on" : "off"}`,
  ].join(" ");
}
