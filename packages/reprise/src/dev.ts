/**
 * `reprise dev FILE`: one process, embedded store, no account, no second server.
 */
import { isRepriseError } from "@reprise/errors";
import type { ServerDefinition } from "@reprise/runtime";
import pino from "pino";
import { readEnvironment } from "./config.ts";
import { effectsTable, keylessStepTools } from "./effectsTable.ts";
import { frontAuth } from "./frontAuth.ts";
import { type LoadedServer, loadServer } from "./loadServer.ts";
import { isLoopback } from "./opsEmbedded.ts";
import { portTaken } from "./portHolder.ts";
import { readableLog } from "./readableLog.ts";
import { type ServedServer, serve } from "./serve.ts";
import { stopSignal } from "./stopSignal.ts";

/** Options of `reprise dev`. */
export interface DevOptions {
  readonly port: number;
  readonly host: string | undefined;
  readonly data: string;
  readonly store: "none" | undefined;
  readonly logLevel: string;
}

/** Serves the default export of a file until a signal comes. Resolves when everything is closed. */
export async function dev(
  file: string,
  options: DevOptions,
  print: (text: string) => void,
): Promise<void> {
  const { server, exported } = await loadServer(file);
  const served = await start(server, exported, options, print);
  // Before the first line: who reads it may send a signal at once.
  const stopped = stopSignal();
  const { catalog } = served.runtime;
  print(`${server.name} ${server.version ?? ""}`.trimEnd());
  print(`  MCP   ${served.url}`);
  if (served.newOpsLink !== undefined) print(`  ops   ${served.newOpsLink()}  (opens once)`);
  print(
    served.dataDir === undefined
      ? "  data  none: every run is repeatable, code before an ask must be safe to repeat"
      : `  data  ${served.dataDir}`,
  );
  print("");
  print(effectsTable(catalog).trimEnd());
  for (const name of keylessStepTools(server, catalog)) {
    print(
      `  ! ${name} has steps and no idempotency key: a first call that is sent twice runs twice`,
    );
  }
  await stopped;
  await served.close();
}

async function start(
  server: ServerDefinition,
  exported: LoadedServer["exported"],
  options: DevOptions,
  print: (text: string) => void,
): Promise<ServedServer> {
  const { port, host, data, store, logLevel } = options;
  const logger = pino({ level: logLevel }, readableLog());
  const environment = readEnvironment();
  const { otlpEndpoint } = environment;
  const auth = frontAuth(environment, exported, logger);
  try {
    return await serve(server, {
      port,
      dataDir: data,
      listTtlMs: 0,
      // Who tries a tool out looks for its run.
      repeatableHistory: true,
      logger,
      ...(host === undefined ? {} : { host }),
      // Elsewhere than on loopback a link proves nothing; that takes `reprise ops`.
      ...(host === undefined || isLoopback(host)
        ? { ops: { print: (link: string) => print(`  ops   ${link}  (opens once)`) } }
        : {}),
      ...auth,
      ...(otlpEndpoint === undefined ? {} : { otlpEndpoint }),
      ...(store === undefined ? {} : { store }),
    });
  } catch (error) {
    if (!isRepriseError(error, "PORT_IN_USE")) throw error;
    throw portTaken(port, "--port", error);
  }
}
