/**
 * DBOS as the suite `peers` runs it: an application process on a PostgreSQL cluster of its own.
 */
import { join } from "node:path";
import { peersFolder } from "./peerPackages.ts";
import { startPostgres } from "./postgres.ts";
import { startNode } from "./processes.ts";
import { joined, type System } from "./systems.ts";

/** A DBOS application that takes calls. */
export interface Dbos extends System {
  /** Of its database. */
  readonly postgres: string;
}

/** Starts both. Without `fsync` commits are acknowledged before they are flushed. */
export async function startDbos(fsync: boolean): Promise<Dbos> {
  const postgres = await startPostgres();
  try {
    const args = [postgres.createDatabase("bench", !fsync)];
    const entry = [join(peersFolder, "dbosApplication.mjs")];
    const application = await startNode("dbosApplication", entry, { args });
    const database = { pids: [postgres.pid], stop: () => postgres.stop() };
    return { ...joined(application, database), postgres: postgres.version };
  } catch (failure) {
    await postgres.stop();
    throw failure;
  }
}
