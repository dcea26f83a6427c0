/**
 * Kills one front and one worker (SIGKILL) every 3 s, each in its turn, and starts them again at the same address.
 *
 * Nobody is told before. The next ones die only when those that died serve again: else a busy machine would kill the
 * whole cluster, which is another promise.
 */
import type { Cluster } from "../support/cluster/cluster.ts";
import type { Member } from "../support/cluster/member.ts";

/** One death, in ms since the epoch. */
export interface Kill {
  readonly role: "front" | "worker";
  readonly name: string;
  /** The signal was sent. */
  readonly fromMs: number;
  /** The process was gone. */
  readonly goneMs: number;
  /** A new one served at its address. */
  readonly backMs: number;
}

/** What kills. */
export interface Killing {
  /** Complete ones, in the order of their deaths; grows. */
  readonly kills: readonly Kill[];
  /** Resolves when all members serve again. @throws Error when one could not be started */
  stop(): Promise<void>;
}

const intervalMs = 3000;

/** Begins at once. */
export function startKilling({ fronts, workers }: Cluster): Killing {
  const kills: Kill[] = [];
  const stopping = new AbortController();
  const { signal } = stopping;
  const kill = async (role: Kill["role"], member: Member): Promise<void> => {
    const fromMs = Date.now();
    await member.kill();
    const goneMs = Date.now();
    await member.start();
    kills.push({ role, name: member.name, fromMs, goneMs, backMs: Date.now() });
  };
  const rounds = async (): Promise<void> => {
    for (let round = 0; !signal.aborted; round += 1) {
      const front = fronts[round % fronts.length]?.member;
      const worker = workers[round % workers.length];
      if (front === undefined || worker === undefined) throw new Error("nothing is there to kill");
      await Promise.all([kill("front", front), kill("worker", worker), pause(signal)]);
    }
  };
  const ended = rounds();
  // Whoever stops it hears of a failure; until then it is nobody's unhandled rejection.
  ended.catch(() => undefined);
  return {
    kills,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** The interval, cut short by the signal. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, intervalMs);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
