/**
 * `reprise front`, `reprise worker` and `reprise ops`, and the entries of the images: settings, the served file, the role, signals.
 */
import process from "node:process";
import { isRepriseError, RepriseError } from "@reprise/errors";
import pino from "pino";
import { readSettings } from "./config.ts";
import { listenForDrain } from "./drainNotices.ts";
import { loadServer } from "./loadServer.ts";
import { portTaken } from "./portHolder.ts";
import { serveFront } from "./serveFront.ts";
import { serveOps } from "./serveOps.ts";
import { serveWorker } from "./serveWorker.ts";
import { type Settings, variableOf } from "./settings.ts";
import { stopSignal } from "./stopSignal.ts";

/** What a role's command is told. */
export interface RoleCommand {
  /** The file whose default export is served; without it the setting `serverFile`. */
  readonly file?: string | undefined;
  /** The configuration file; without it `REPRISE_CONFIG`. */
  readonly configFile?: string | undefined;
}

type Print = (text: string) => void;

/** Serves the HTTP front until a signal comes. Resolves when everything is closed. */
export async function runFront(command: RoleCommand, print: Print = printLine): Promise<void> {
  const { settings, server, logger, exported } = await begin(command);
  const front = await serveFront(server, settings, { logger, ...exported }).catch(
    (error: unknown) => named(error, settings.port, "port"),
  );
  // Before the first line: who reads it may send a signal at once.
  const stopped = stopSignal();
  print(`${server.name} ${server.version ?? ""}`.trimEnd());
  print(`  handlers  ${settings.dispatch === "pool" ? "on workers" : "in this process"}`);
  print(`  MCP       ${front.url}`);
  await stopped;
  await front.close();
}

/** Runs handlers until a signal comes. Resolves when everything is closed. */
export async function runWorker(command: RoleCommand, print: Print = printLine): Promise<void> {
  const { settings, server, logger } = await begin(command);
  const worker = await serveWorker(server, settings, { logger }).catch((error: unknown) =>
    named(error, settings.probePort, "probePort"),
  );
  // Before the first line: who reads it may send a signal at once.
  const stopped = stopSignal();
  print(`${server.name} ${server.version ?? ""}`.trimEnd());
  print(`  probes    ${worker.probesUrl}`);
  print(`  queues    ${worker.queues.join(", ")}`);
  // An operator's word ends it as a signal does; whoever started it may start the next one.
  const { asked } = await listenForDrain(worker.runtime.shared).catch((error: unknown) => {
    logger.warn({ err: error }, "this worker can't be drained from the dashboard");
    return { asked: stopped };
  });
  await Promise.race([stopped, asked]);
  await worker.close();
}

/** Serves the dashboard until a signal comes. Resolves when everything is closed. */
export async function runOps(command: RoleCommand, print: Print = printLine): Promise<void> {
  const { settings, server, logger } = await begin(command);
  const printLink = (link: string): void => print(`  opens once  ${link}`);
  const ops = await serveOps(server, settings, { logger, print: printLink }).catch(
    (error: unknown) => named(error, settings.opsPort, "opsPort"),
  );
  // Before the first line: who reads it may send a signal at once.
  const stopped = stopSignal();
  print(`${server.name} ${server.version ?? ""}`.trimEnd());
  // At once: who reads the address finds the link beside it.
  const link = ops.newLink === undefined ? "" : `\n  opens once  ${ops.newLink()}`;
  print(`  dashboard   ${ops.url}${link}`);
  await stopped;
  await ops.close();
}

/** Runs a role as a process of its own: says what is wrong in one line, and ends with exit code 1 then. */
export async function asProgram(run: (command: RoleCommand) => Promise<void>): Promise<void> {
  try {
    await run({ file: process.argv[2] });
  } catch (error) {
    const text = isRepriseError(error) ? `${error.code}: ${error.message}` : stackOf(error);
    process.stderr.write(`${text}\n`);
    process.exitCode = 1;
  }
}

interface Begun extends Awaited<ReturnType<typeof loadServer>> {
  readonly settings: Settings;
  readonly logger: pino.Logger;
}

async function begin({ file, configFile }: RoleCommand): Promise<Begun> {
  const settings = readSettings(configFile);
  const path = file ?? settings.serverFile;
  if (path === undefined) {
    throw new RepriseError(
      "CONFIG_INVALID",
      `name the file to serve, or set ${variableOf("serverFile")}`,
    );
  }
  // Written at once: the line before a crash is the one that is looked for.
  const destination = pino.destination({ dest: 2, sync: true });
  return {
    settings,
    logger: pino({ level: settings.logLevel }, destination),
    ...(await loadServer(path)),
  };
}

function named(error: unknown, port: number, name: "port" | "probePort" | "opsPort"): never {
  throw isRepriseError(error, "PORT_IN_USE") ? portTaken(port, variableOf(name), error) : error;
}

function printLine(text: string): void {
  process.stdout.write(`${text}\n`);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
