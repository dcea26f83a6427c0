/**
 * `reprise dev FILE`: one process, embedded store, no account, no second server.
 */
import { existsSync } from "node:fs";
import { register as registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { ServerDefinition } from "@reprise/runtime";
import pino from "pino";
import { register } from "tsx/esm/api";
import { effectsTable, keylessStepTools } from "./effectsTable.ts";
import { portHolder } from "./portHolder.ts";
import { type ServedServer, serve } from "./serve.ts";

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
  const server = await loadServer(file);
  const served = await start(server, options);
  const { catalog } = served.runtime;
  print(`${server.name} ${server.version ?? ""}`.trimEnd());
  print(`  MCP   ${served.url}`);
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
  await stopSignal();
  await served.close();
}

async function start(server: ServerDefinition, options: DevOptions): Promise<ServedServer> {
  const { port, host, data, store, logLevel } = options;
  try {
    return await serve(server, {
      port,
      dataDir: data,
      listTtlMs: 0,
      logger: pino({ level: logLevel }, pino.destination({ dest: 2, sync: true })),
      ...(host === undefined ? {} : { host }),
      ...(store === undefined ? {} : { store }),
    });
  } catch (error) {
    if (!isRepriseError(error, "PORT_IN_USE")) throw error;
    const holder = portHolder(port);
    const who =
      holder === undefined
        ? "another process holds it"
        : `process ${holder.pid} holds it (${holder.command})`;
    throw new RepriseError(
      "PORT_IN_USE",
      `port ${port} is taken: ${who}. Stop that process, or choose another port with --port.`,
      {
        cause: error,
        data: { port, ...(holder === undefined ? {} : { pid: holder.pid }) },
      },
    );
  }
}

/**
 * Module hooks that take every TypeScript file of the author for an ES module. Without them the nearest
 * package.json decides, and npm makes one without "type" in an empty folder: the file becomes CommonJS, its
 * `import "reprise"` a require of a second copy of this package (or an error, Node 20 and 22), and errors,
 * brands and WeakMaps of the two copies don't meet.
 */
const asModules = `export async function resolve(specifier, context, next) {
  const found = await next(specifier, context);
  const isAuthors = /\\.tsx?(\\?|$)/.test(found.url) && !found.url.includes("/node_modules/");
  return isAuthors ? { ...found, format: "module" } : found;
}`;

/** The server that a file exports. @throws RepriseError DEFINITION_INVALID */
async function loadServer(file: string): Promise<ServerDefinition> {
  // TypeScript without a build, whatever the Node.js release can do by itself.
  register();
  // After tsx, so that it is asked first.
  registerHooks(`data:text/javascript,${encodeURIComponent(asModules)}`);
  const path = resolve(file);
  if (!existsSync(path)) throw new RepriseError("DEFINITION_INVALID", `There is no file ${path}.`);
  const url = pathToFileURL(path).href;
  let loaded: { readonly default?: unknown };
  try {
    loaded = (await import(url)) as { readonly default?: unknown };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RepriseError("DEFINITION_INVALID", `${file} can't be loaded: ${reason}`, { cause });
  }
  const server = loaded.default;
  if (typeof server !== "object" || server === null || !("name" in server)) {
    throw new RepriseError(
      "DEFINITION_INVALID",
      `${file} has no server as its default export; write: export default defineServer({ ... })`,
    );
  }
  return server as ServerDefinition;
}

function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(signal, () => resolve());
  });
}
