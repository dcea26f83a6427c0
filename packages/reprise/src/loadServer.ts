/**
 * Loads the file that an author serves: TypeScript without a build, whatever the Node.js release can do by itself.
 */
import { existsSync } from "node:fs";
import { register as registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { RepriseError } from "@reprise/errors";
import type { ListenOptions } from "@reprise/front";
import type { ServerDefinition } from "@reprise/runtime";

/** What a served file exports. */
export interface LoadedServer {
  /** The default export. */
  readonly server: ServerDefinition;
  /**
   * `export const authenticate`: who calls, for fronts that others can reach. `export const protectedResource`: what is
   * published beside. `createBearerAuth` gives both.
   */
  readonly exported: {
    readonly authenticate?: NonNullable<ListenOptions["authenticate"]>;
    readonly protectedResource?: NonNullable<ListenOptions["protectedResource"]>;
  };
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
export async function loadServer(file: string): Promise<LoadedServer> {
  const path = resolve(file);
  if (!existsSync(path)) throw new RepriseError("DEFINITION_INVALID", `There is no file ${path}.`);
  // A built file, as images have it, starts without the time and the memory of a compiler.
  if (/\.[cm]?tsx?$/.test(path)) await takeTypeScript();
  const url = pathToFileURL(path).href;
  let loaded: {
    readonly default?: unknown;
    readonly authenticate?: unknown;
    readonly protectedResource?: unknown;
  };
  try {
    loaded = (await import(url)) as typeof loaded;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RepriseError("DEFINITION_INVALID", `${file} can't be loaded: ${reason}`, { cause });
  }
  const { default: server, authenticate, protectedResource } = loaded;
  if (typeof server !== "object" || server === null || !("name" in server)) {
    throw new RepriseError(
      "DEFINITION_INVALID",
      `${file} has no server as its default export; write: export default defineServer({ ... })`,
    );
  }
  if (authenticate !== undefined && typeof authenticate !== "function") {
    throw new RepriseError(
      "DEFINITION_INVALID",
      `${file} exports authenticate, which must be a function`,
    );
  }
  const exported = {
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(protectedResource === undefined ? {} : { protectedResource }),
  };
  return {
    server: server as ServerDefinition,
    // Members are checked by the front, as those of any caller are.
    exported: exported as LoadedServer["exported"],
  };
}

async function takeTypeScript(): Promise<void> {
  const { register } = await import("tsx/esm/api");
  register();
  // After tsx, so that it is asked first.
  registerHooks(`data:text/javascript,${encodeURIComponent(asModules)}`);
}
