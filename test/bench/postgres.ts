/**
 * A private PostgreSQL cluster for DBOS: in a folder of its own, on a free loopback port, under an account without rights.
 *
 * PostgreSQL refuses to run as root; there the account `postgres`, which Debian's package makes, is taken.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { freePorts } from "./freePort.ts";
import { pinned } from "./pinning.ts";

/** A running cluster. */
export interface Postgres {
  /** As `postgres --version` gives it. */
  readonly version: string;
  readonly pid: number;
  /** The URL of a new database; with `asyncCommit` its commits are acknowledged before they are flushed. */
  createDatabase(name: string, asyncCommit: boolean): string;
  stop(): Promise<void>;
}

interface Account {
  readonly uid: number;
  readonly gid: number;
}

const startTimeoutSeconds = "60";

/** Starts a cluster with PostgreSQL's defaults but for the memory, on the servers' core. */
export async function startPostgres(sharedBuffers = "512MB"): Promise<Postgres> {
  const binaries = findBinaries();
  const account = accountToRunAs();
  const directory = await mkdtemp(join(tmpdir(), "reprise-postgres-"));
  if (account !== undefined) await chown(directory, account.uid, account.gid);
  const data = join(directory, "data");
  const run = (name: string, args: readonly string[]): string => {
    const [command = "", ...rest] = pinned("server", [join(binaries, name), ...args]);

    const done = spawnSync(command, rest, { cwd: directory, encoding: "utf8", ...account });
    if (done.status !== 0) throw new Error(`${name} failed: ${done.stderr}${done.stdout}`);
    return done.stdout;
  };
  const stop = async (): Promise<void> => {
    if (existsSync(join(data, "postmaster.pid"))) run("pg_ctl", ["stop", "-D", data, "-m", "fast"]);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    run("initdb", ["-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C"]);
    const [port] = await freePorts(1);
    const options = `-h 127.0.0.1 -p ${port} -k ${directory} -c shared_buffers=${sharedBuffers}`;
    const log = join(directory, "log");
    run("pg_ctl", ["start", "-D", data, "-w", "-t", startTimeoutSeconds, "-l", log, "-o", options]);
    const [pid = ""] = (await readFile(join(data, "postmaster.pid"), "utf8")).split("\n");
    const sql = (text: string): string =>
      run("psql", ["-h", "127.0.0.1", "-p", `${port}`, "-U", "bench", "postgres", "-c", text]);
    return {
      version: run("postgres", ["--version"]).trim(),
      pid: Number(pid),
      createDatabase(name, asyncCommit) {
        sql(`CREATE DATABASE ${name}`);
        if (asyncCommit) sql(`ALTER DATABASE ${name} SET synchronous_commit = off`);
        return `postgresql://bench@127.0.0.1:${port}/${name}`;
      },
      stop,
    };
  } catch (failure) {
    await stop();
    throw failure;
  }
}

/** The newest release's folder under Debian's, which is on nobody's PATH. */
function findBinaries(): string {
  const releases = "/usr/lib/postgresql";
  const [newest] = existsSync(releases)
    ? readdirSync(releases).toSorted((a, b) => Number(b) - Number(a))
    : [];
  const folder = join(releases, newest ?? "", "bin");
  if (newest === undefined || !existsSync(join(folder, "initdb"))) {
    throw new Error("DBOS needs PostgreSQL: apt-get install postgresql");
  }
  return folder;
}

function accountToRunAs(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(spawnSync("id", [flag, "postgres"]).stdout);
  return { uid: id("-u"), gid: id("-g") };
}
