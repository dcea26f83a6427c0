/**
 * Who may open or close the database of a directory, and when.
 *
 * Called by the environment. LMDB as lmdb-js 3.5.6 has it needs this, for two faults of its own: whoever opens a database
 * writes the number of the newest commit that it read into the shared lock file, and when another process has committed in
 * between, the next commit takes that number again and undoes the one before it, which was acknowledged; and the last
 * close destroys the mutexes of the lock file, also when an opening process already waits for them.
 *
 * G1 One process at a time opens or closes. The lock is a name that the kernel takes back from a process that dies.
 * G2 Nobody commits while a process opens: every process that has the database open is asked to pause, waits until its
 *    commits are through, says so, and goes on when the asking connection closes, for whatever reason.
 * G3 A process that does not answer is stopped, or busy in a handler, and commits nothing; after ANSWER_LIMIT_MS it is taken
 *    for that. Waiting for the lock itself ends in STORE_UNAVAILABLE.
 */
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Server, Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { RepriseError } from "@reprise/errors";
import { unusable } from "./fileSystem.ts";
import { namesLike, take, visit } from "./places.ts";

/** Longest wait for other processes that open or close, in milliseconds. */
const LOCK_LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 4;
/** Longest wait for a process to pause. A commit takes milliseconds. */
const ANSWER_LIMIT_MS = 3000;

/** What a process does for others that open. */
export interface Pausing {
  /** Begins no more commits; resolves when none is under way. */
  pause(): Promise<void>;
  resume(): void;
}

/**
 * Does `work` while no other process opens or closes the database of `directory` (a real path).
 * @throws RepriseError STORE_UNAVAILABLE, STORE_UNUSABLE
 */
export async function whileAlone<Value>(
  directory: string,
  work: () => Promise<Value>,
): Promise<Value> {
  const lock = await taken(directory);
  try {
    return await work();
  } finally {
    await new Promise((resolve) => lock.close(resolve));
  }
}

/** Does `work` while no process that has the database open commits. Called while alone. */
export async function whileQuiet<Value>(directory: string, work: () => Value): Promise<Value> {
  const asked = await Promise.all(namesLike(memberPrefix(directory)).map(visit));
  const members = asked.filter((socket) => socket !== undefined);
  try {
    await Promise.all(members.map(answered));
    return work();
  } finally {
    for (const socket of members) socket.destroy();
  }
}

/** Makes this process one that others ask to pause. Called while alone. Close the server after the database. */
export async function join(directory: string, pausing: Pausing): Promise<Server> {
  const name = `${memberPrefix(directory)}${process.pid}-${randomBytes(6).toString("hex")}`;
  const server = await take(name, (socket) => {
    socket.unref();
    socket.on("error", () => socket.destroy());
    socket.once("close", () => pausing.resume());
    void pausing.pause().then(() => socket.write("quiet"));
  });
  if (server === undefined) throw unusable(directory, `its member ${name} exists already`);
  return server.unref();
}

async function taken(directory: string): Promise<Server> {
  const end = performance.now() + LOCK_LIMIT_MS;
  for (;;) {
    let lock: Server | undefined;
    try {
      lock = await take(wordOf(directory), (socket) => socket.destroy());
    } catch (cause) {
      const reason = "other processes that use it can't be told apart (see cause)";
      throw unusable(directory, reason, cause);
    }
    if (lock !== undefined) return lock;
    if (performance.now() >= end) {
      const message = `another process has been opening or closing the store in ${directory} for ${LOCK_LIMIT_MS} ms`;
      throw new RepriseError("STORE_UNAVAILABLE", message);
    }
    await wait(LOOK_EVERY_MS);
  }
}

/** Resolves when the member has paused, is gone, or does not answer (G3). */
async function answered(socket: Socket): Promise<void> {
  const noAnswer = new AbortController();
  const signal = noAnswer.signal;
  const silence = wait(ANSWER_LIMIT_MS, undefined, { signal }).catch(() => undefined);
  await Promise.race([once(socket, "data"), once(socket, "close"), silence]).catch(() => undefined);
  noAnswer.abort();
}

const memberPrefix = (directory: string): string => `${wordOf(directory)}-`;

function wordOf(directory: string): string {
  const digest = createHash("sha256").update(directory).digest("hex");
  return `reprise-store-${digest.slice(0, 24)}`;
}
