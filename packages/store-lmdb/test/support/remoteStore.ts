/**
 * The tests' side of `child.ts`: a store that lives in another process.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LogLimits, SharedKey } from "@reprise/runtime";
import { afterEach } from "vitest";

const childFile = fileURLToPath(new URL("./child.ts", import.meta.url));
const children = new Set<ChildProcess>();

afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
});

interface Message {
  readonly ready?: boolean;
  readonly id?: number;
  readonly value?: unknown;
  readonly error?: string;
  readonly flooded?: number;
}

/** How the other process is started. */
export interface RemoteOptions {
  readonly directory: string;
  readonly leaseMs?: number;
  /** What its disk has left, when played. */
  readonly freeBytes?: number;
  /** The largest file it may write, in blocks of 512 bytes. */
  readonly maxFileBlocks?: number;
}

/** A store in another process. */
export interface RemoteStore {
  readonly pid: number;
  /** Calls a method there; rejects with an error that carries the same code. */
  call(method: string, ...args: readonly unknown[]): Promise<unknown>;
  /** Starts appending there until it is killed; resolves when `count` appends were acknowledged. */
  flood(ref: unknown, count: number): Promise<void>;
  /** The same with items of a shared log; `acknowledged` is then the newest number. */
  floodLog(log: SharedKey, limits: LogLimits, count: number): Promise<void>;
  /** The newest acknowledged sequence of a flood. */
  acknowledged(): number;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
}

/** Starts a process with a store and waits until the store is open. */
export async function remoteStore(options: RemoteOptions): Promise<RemoteStore> {
  const { maxFileBlocks, ...storeOptions } = options;
  const limit = maxFileBlocks === undefined ? "" : `ulimit -f ${maxFileBlocks}; `;
  const command = ["--conditions=@reprise/source", "--import", "tsx", childFile];
  const child = spawn(
    "sh",
    ["-c", `${limit}exec "$0" "$@"`, process.execPath, ...command, JSON.stringify(storeOptions)],
    { stdio: ["ignore", "ignore", "ignore", "ipc"] },
  );
  children.add(child);
  const waiting = new Map<number, (message: Message) => void>();
  let calls = 0;
  let flooded = 0;
  let floodGoal = Number.POSITIVE_INFINITY;
  let reachGoal = (): void => {};
  const opened = new Promise<void>((resolve, reject) => {
    child.on("exit", (code) => reject(new Error(`the child ended early with ${code}`)));
    child.on("message", (message: Message) => {
      if (message.ready === true) resolve();
      if (message.flooded !== undefined) {
        flooded = message.flooded;
        if (flooded >= floodGoal) reachGoal();
      }
      if (message.id !== undefined) waiting.get(message.id)?.(message);
    });
  });
  await opened;
  const call = (method: string, ...args: readonly unknown[]): Promise<unknown> => {
    calls += 1;
    const id = calls;
    return new Promise((resolve, reject) => {
      waiting.set(id, ({ value, error }) => {
        waiting.delete(id);
        if (error === undefined) resolve(value);
        else reject(Object.assign(new Error(error), { code: error }));
      });
      child.send({ id, method, args });
    });
  };
  const flooding = (count: number, ...started: Parameters<typeof call>): Promise<void> =>
    new Promise((resolve) => {
      floodGoal = count;
      reachGoal = resolve;
      void call(...started);
    });
  return {
    pid: child.pid ?? 0,
    call,
    flood: (ref, count) => flooding(count, "flood", ref),
    floodLog: (log, limits, count) => flooding(count, "floodLog", log, limits),
    acknowledged: () => flooded,
    kill: () =>
      new Promise((resolve) => {
        child.on("close", () => resolve());
        child.kill("SIGKILL");
      }),
    signal: (name) => {
      child.kill(name);
    },
  };
}
