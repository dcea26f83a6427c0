/**
 * `reprise doctor`: looks at everything that a deployment stands on and says what to do about each finding.
 *
 * The command line calls it. It changes nothing: it joins no ring, publishes no key, executes and sweeps nothing.
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { HistoryStore, RunStore } from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";
import { connectRedis, openKeyRingAdmin, openRedisStore } from "@reprise/store-redis";
import { readOperatorSettings } from "./config.ts";
import {
  definitionFindings,
  type Finding,
  failureFinding,
  frontFindings,
  healthFindings,
  instanceFindings,
  keyFindings,
  redisFindings,
  runFindings,
} from "./doctorChecks.ts";
import { loadServer } from "./loadServer.ts";
import { operatorExitCodes } from "./operatorExitCodes.ts";
import type { PlaceFlags } from "./runsPlace.ts";
import { redisOptions, storeOptions } from "./shared.ts";

/** What the command is told. */
export interface DoctorFlags extends PlaceFlags {
  /** Fronts to ask whether they are ready. */
  readonly front: readonly string[];
  readonly json?: true;
}

/** Looks and prints. Gives the exit code: 1 when a finding is serious. @throws RepriseError CONFIG_INVALID */
export async function runDoctor(
  file: string | undefined,
  flags: DoctorFlags,
  print: (text: string) => void,
): Promise<number> {
  const findings = [
    { subject: "node", severity: "ok", text: `Node.js ${process.versions.node}.` } as const,
    ...(await (flags.data === undefined ? redisPlace(flags) : dataPlace(flags.data))),
    ...(file === undefined ? [] : await guarded("tools", () => definition(file))),
    ...(await Promise.all(flags.front.map(frontFindings))).flat(),
  ];
  print(flags.json === true ? JSON.stringify({ findings }, undefined, 2) : textOf(findings));
  const isIll = findings.some(({ severity }) => severity === "serious");
  return isIll ? operatorExitCodes.failed : operatorExitCodes.done;
}

async function definition(file: string): Promise<readonly Finding[]> {
  const { server } = await loadServer(file);
  return definitionFindings(server);
}

async function redisPlace(flags: DoctorFlags): Promise<readonly Finding[]> {
  const settings = readOperatorSettings(flags);
  const redis = flags.redis === undefined ? redisOptions(settings) : { url: flags.redis };
  const namespace = flags.namespace ?? settings.namespace;
  return guarded("redis", async () => {
    const connection = await connectRedis(redis);
    try {
      const store = await openRedisStore({ connection, ...storeOptions(settings), namespace });
      try {
        const ring = async (): Promise<readonly Finding[]> =>
          settings.requestStateKey.length > 0
            ? []
            : keyFindings(await openKeyRingAdmin({ connection, namespace }).list(), Date.now());
        return [
          ...redisFindings(connection.durability, connection.warnings),
          ...(await storeFindings(store)),
          ...(await guarded("keys", ring)),
        ];
      } finally {
        await store.close();
      }
    } finally {
      await connection.close();
    }
  });
}

async function dataPlace(data: string): Promise<readonly Finding[]> {
  const directory = join(resolve(data), "store");
  if (!existsSync(directory)) {
    const text = `There is no store in ${resolve(data)}: give the --data of the reprise dev that serves it.`;
    return [{ subject: "store", severity: "serious", text }];
  }
  return guarded("store", async () => {
    const store = await openLmdbStore({ directory });
    try {
      return await storeFindings(store);
    } finally {
      await store.close();
    }
  });
}

async function storeFindings(
  store: RunStore & { readonly history: HistoryStore },
): Promise<readonly Finding[]> {
  const { history } = store;
  return [
    ...(await guarded("store", async () => healthFindings(await store.health()))),
    ...(await guarded("instances", async () => instanceFindings(await history.instances()))),
    ...(await guarded("runs", async () => runFindings(await history.counts()))),
  ];
}

async function guarded(
  subject: string,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await look();
  } catch (error) {
    return [failureFinding(subject, error)];
  }
}

const marks = { ok: "ok     ", warning: "warning", serious: "SERIOUS" } as const;

function textOf(findings: readonly Finding[]): string {
  return findings
    .map(({ subject, severity, text }) => `${marks[severity]}  ${subject}: ${text}`)
    .join("\n");
}
