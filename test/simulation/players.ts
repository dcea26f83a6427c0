/**
 * Plays many stretches of seeds, in this process or in several children, and tells what they came to in the order of the seeds.
 */
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fromSource } from "../support/childProcess.ts";
import { playShare, type Share, type Stretch } from "./share.ts";

/** Seeds that a process is given at a time: some seconds' worth. */
const SEEDS_AT_A_TIME = 50;
const LAST_SEED = 2 ** 31;

/** Plays them all. `onShare` hears of each stretch behind those before it. Rejects when a process ends too soon. */
export async function playAll(
  { firstSeed, seeds }: Stretch,
  processes: number,
  onShare: (share: Share) => void,
): Promise<void> {
  const stretches: Stretch[] = [];
  for (let from = 0; from < seeds; from += SEEDS_AT_A_TIME) {
    const own = Math.min(SEEDS_AT_A_TIME, seeds - from);
    stretches.push({ firstSeed: (firstSeed + from) % LAST_SEED, seeds: own });
  }
  const shares: (Share | undefined)[] = [];
  let [next, told] = [0, 0];
  const worker = async (play: (stretch: Stretch) => Promise<Share>): Promise<void> => {
    for (;;) {
      const place = next;
      const stretch = stretches[place];
      if (stretch === undefined) return;
      next += 1;
      shares[place] = await play(stretch);
      for (let share = shares[told]; share !== undefined; share = shares[told]) {
        onShare(share);
        told += 1;
      }
    }
  };
  const count = Math.min(processes, stretches.length);
  if (count <= 1) return worker(playShare);
  const players = Array.from({ length: count }, startPlayer);
  try {
    await Promise.all(players.map(({ play }) => worker(play)));
  } finally {
    for (const { end } of players) end();
  }
}

interface Player {
  play(stretch: Stretch): Promise<Share>;
  end(): void;
}

function startPlayer(): Player {
  const child = fork(fileURLToPath(new URL("child.ts", import.meta.url)), {
    execArgv: [...fromSource],
  });
  const ended = new Promise<never>((_, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      reject(new Error(`a process that plays seeds ended (${signal ?? `code ${code}`})`));
    });
  });
  ended.catch(() => undefined);
  return {
    play(stretch) {
      const played = new Promise<Share>((resolve) => {
        child.once("message", (share: Share) => resolve(share));
      });
      child.send(stretch);
      return Promise.race([played, ended]);
    },
    end: () => child.disconnect(),
  };
}
