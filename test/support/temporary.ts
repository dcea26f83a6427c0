/**
 * Temporary folders and servers of one test: made when asked for, gone when the test is over.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type ServedServer, type ServeOptions, type ServerDefinition, serve } from "reprise";
import { onTestFinished } from "vitest";

/** A new folder, removed with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), "reprise-e2e-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Serves a definition on a free port, closed with the test; without `dataDir` on a folder of its own. */
export async function serveForTest(
  server: ServerDefinition,
  options: ServeOptions = {},
): Promise<ServedServer> {
  const dataDir =
    options.dataDir ?? (options.store === "none" ? undefined : await temporaryFolder());
  const served = await serve(server, {
    port: 0,
    ...options,
    ...(dataDir === undefined ? {} : { dataDir }),
  });
  // Hooks run last to first: the server closes before its folder goes.
  onTestFinished(() => served.close());
  return served;
}
