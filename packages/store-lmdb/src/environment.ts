/**
 * The database of one directory, shared by all stores that this process opens on it.
 *
 * Called by `openLmdbStore`. It knows transactions and nothing of runs.
 *
 * E1 `transact` resolves only after the commit is on the disk (P1). `overlappingSync: false` makes lmdb flush before it
 *    lets go of the writer's lock. So whatever a write transaction reads, of whichever process, is flushed too: a
 *    joiner that reads an outcome inside a write transaction answers from a flushed outcome only. Outcomes of the
 *    same commit (lmdb-js puts the transactions of one turn of the event loop into one commit) are answered after it.
 * E2 A transaction whose function throws leaves nothing behind. Whoever decides throws before its first put (RunTable T1); a put
 *    that the database refuses spoils the commit it is in, and all transactions of that commit fail. Not child
 *    transactions, which could be aborted alone: LMDB's merge of a child into its parent was seen to fail an assertion
 *    under load, which ends the process.
 * E3 One database a process and directory: lmdb-js blocks the thread when it opens a database that this process is
 *    writing, and the write waits for that same thread. What other processes must not do meanwhile: gate.ts.
 * E4 A commit that takes longer than the limit is STORE_UNAVAILABLE: another process may be stopped while it holds the
 *    writer's lock. The transaction may still be made afterwards (P5).
 */
import { randomBytes } from "node:crypto";
import type { Server } from "node:net";
import { RepriseError } from "@reprise/errors";
import { open, type RootDatabase } from "lmdb";
import { checkDatabaseFile, databaseFile } from "./databaseFile.ts";
import { unusable } from "./fileSystem.ts";
import { join, type Pausing, whileAlone, whileQuiet } from "./gate.ts";
import { LAYOUT_FORMAT, layoutKey, stateSecretKey } from "./keys.ts";
import type { FileSystemProbe } from "./ports.ts";
import { asStoreError } from "./storeErrors.ts";

/** The database as the rest of this package sees it: text under text keys. */
export type TextDatabase = RootDatabase<string, string>;

/** Longest wait for one commit, in milliseconds. */
const COMMIT_LIMIT_MS = 20_000;
/** What the map may grow by over the store's own limit: pages that readers still hold. */
const MAP_SLACK_BYTES = 64 * 1024 * 1024;
const SECRET_BYTES = 32;
/** With less than this left a partial write means a full disk. */
const LOW_DISK_BYTES = 16 * 1024 * 1024;

/** An open database and who uses it. */
export class Environment implements Pausing {
  readonly directory: string;
  readonly database: TextDatabase;
  readonly #probe: FileSystemProbe;
  #users = 0;
  #member: Server | undefined;
  #commits = 0;
  #pauses = 0;
  #resumed: Promise<void> = Promise.resolve();
  #onResumed: () => void = () => {};
  readonly #onQuiet: (() => void)[] = [];
  #layoutChecked: Promise<void> | undefined;

  private constructor(directory: string, database: TextDatabase, probe: FileSystemProbe) {
    this.directory = directory;
    this.database = database;
    this.#probe = probe;
  }

  /** The database of `directory` (a real path); opened when this process has not opened it yet. */
  static async open(
    directory: string,
    maxBytes: number,
    probe: FileSystemProbe,
  ): Promise<Environment> {
    for (
      let closing = closings.get(directory);
      closing !== undefined;
      closing = closings.get(directory)
    ) {
      await closing;
    }
    let opening = environments.get(directory);
    if (opening === undefined) {
      opening = whileAlone(directory, () => Environment.#enter(directory, maxBytes, probe));
      environments.set(directory, opening);
      const forget = (): boolean => environments.delete(directory);
      opening.catch(forget);
    }
    const environment = await opening;
    environment.#users += 1;
    try {
      environment.#layoutChecked ??= environment.#checkLayout();
      await environment.#layoutChecked;
    } catch (failure) {
      await environment.release();
      throw failure;
    }
    return environment;
  }

  static async #enter(
    directory: string,
    maxBytes: number,
    probe: FileSystemProbe,
  ): Promise<Environment> {
    const database = await whileQuiet(directory, () => openDatabase(directory, maxBytes, probe));
    const environment = new Environment(directory, database, probe);
    try {
      environment.#member = await join(directory, environment);
    } catch (failure) {
      await database.close();
      throw failure;
    }
    return environment;
  }

  /** Begins no more commits; resolves when none is under way (gate.ts). */
  pause(): Promise<void> {
    if (this.#pauses === 0) {
      this.#resumed = new Promise((resolve) => {
        this.#onResumed = resolve;
      });
    }
    this.#pauses += 1;
    if (this.#commits === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onQuiet.push(resolve));
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#onResumed();
  }

  /** Runs `decide` in a write transaction; its value once that is on the disk. */
  async transact<Value>(decide: () => Value): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        const message = `the store did not commit within ${COMMIT_LIMIT_MS} ms`;
        reject(new RepriseError("STORE_UNAVAILABLE", message));
      }, COMMIT_LIMIT_MS);
    });
    try {
      return await Promise.race([this.#commit(decide), tooLate]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What went wrong, as an error of the port. */
  errorOf(failure: unknown): Promise<RepriseError> {
    return asStoreError(failure, () => this.#probe.freeBytes(this.directory) < LOW_DISK_BYTES);
  }

  /** Counts the commits of all processes. */
  lastCommit(): number {
    return numberOf(this.database.getStats(), "lastTxnId");
  }

  /** Bytes that stored values take up now; pages that are free for use again don't count. */
  usedBytes(): number {
    const stats: object = this.database.getStats();
    const pages =
      numberOf(stats, "treeBranchPageCount") +
      numberOf(stats, "treeLeafPageCount") +
      numberOf(stats, "overflowPages");
    return pages * numberOf(stats, "pageSize");
  }

  /** The secret of this directory, made by the first process that asks. */
  async stateSecret(): Promise<Uint8Array> {
    const text = await this.transact(() => {
      const known = this.database.get(stateSecretKey);
      if (known !== undefined) return known;
      const made = randomBytes(SECRET_BYTES).toString("base64url");
      void this.database.put(stateSecretKey, made);
      return made;
    });
    return new Uint8Array(Buffer.from(text, "base64url"));
  }

  /** One user less; the last one closes the database. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    environments.delete(this.directory);
    const closing = whileAlone(this.directory, async () => {
      await this.database.close();
      this.#member?.close();
    });
    closings.set(this.directory, closing);
    try {
      await closing;
    } finally {
      closings.delete(this.directory);
    }
  }

  /** Apart from the race, so that a failure that comes too late is looked at all the same. */
  async #commit<Value>(decide: () => Value): Promise<Value> {
    while (this.#pauses > 0) await this.#resumed;
    // A spoiled commit fails with an error of its own, which says less than the refused put.
    let refused: unknown;
    this.#commits += 1;
    try {
      return await this.database.transaction(() => {
        try {
          return decide();
        } catch (failure) {
          refused = failure;
          throw failure;
        }
      });
    } catch (failure) {
      throw await this.errorOf(refused ?? failure);
    } finally {
      this.#commits -= 1;
      if (this.#commits === 0) for (const tell of this.#onQuiet.splice(0)) tell();
    }
  }

  async #checkLayout(): Promise<void> {
    const known = await this.transact(() => {
      const text = this.database.get(layoutKey);
      if (text === undefined) void this.database.put(layoutKey, String(LAYOUT_FORMAT));
      return text;
    });
    if (known !== undefined && known !== String(LAYOUT_FORMAT)) {
      throw unusable(
        this.directory,
        `its layout is ${JSON.stringify(known.slice(0, 20))} and this release knows ${LAYOUT_FORMAT}; run the release that wrote it, or a newer one`,
      );
    }
  }
}

const environments = new Map<string, Promise<Environment>>();
const closings = new Map<string, Promise<void>>();

function openDatabase(directory: string, maxBytes: number, probe: FileSystemProbe): TextDatabase {
  checkDatabaseFile(directory, () => probe.freeBytes(directory));
  const options = {
    path: databaseFile(directory),
    noSubdir: true,
    encoding: "string" as const,
    overlappingSync: false,
    // Batching by itself, lmdb-js starts each batch with a promise that nobody holds: a failed commit would end the
    // process as an unhandled rejection. Transactions of one turn share a commit without it too.
    eventTurnBatching: false,
    // Address space, not memory or disk: all processes map the same size, so none has to map anew.
    mapSize: maxBytes + MAP_SLACK_BYTES,
    maxReaders: 1_024,
    // Records hold what callers sent: for this user only.
    permissionsMode: 0o600,
  };
  try {
    return open<string, string>(options);
  } catch (cause) {
    throw unusable(directory, "the database could not be opened (see cause)", cause);
  }
}

function numberOf(stats: object, name: string): number {
  const value: unknown = Object.entries(stats).find(([key]) => key === name)?.[1];
  return typeof value === "number" ? value : 0;
}
