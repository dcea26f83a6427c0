/**
 * CI's part of the simulation (`npm run simulate`): as many seeds as two cores play in half a minute, over two processes.
 */
import { expect, test } from "vitest";
import { seed } from "../support/config.ts";
import { playAll } from "./players.ts";
import { type Share, summed } from "./share.ts";

const seeds = 2_000;

async function played(firstSeed: number, count: number, processes: number): Promise<Share[]> {
  const shares: Share[] = [];
  await playAll({ firstSeed, seeds: count }, processes, (share) => void shares.push(share));
  return shares;
}

test(`${seeds} seeds break no promise`, { timeout: 300_000 }, async () => {
  const shares = await played(seed, seeds, 2);
  expect(shares.flatMap(({ violations }) => violations.map(({ story }) => story))).toEqual([]);
  expect(shares.reduce((sum, share) => sum + share.seeds, 0)).toBe(seeds);
  // What tests nothing breaks nothing.
  for (const what of summed) {
    const total = shares.reduce((sum, { sums }) => sum + sums[what], 0);
    expect(total, what).toBeGreaterThan(seeds / 50);
  }
});

test("what seeds come to, and in which order it is told, does not hang on the number of processes", async () => {
  const withoutTime = (share: Share) => ({ ...share, cpuMs: 0 });
  const alone = (await played(seed, 120, 1)).map(withoutTime);
  expect((await played(seed, 120, 3)).map(withoutTime)).toEqual(alone);
  expect(alone.map(({ firstSeed }) => firstSeed - seed)).toEqual([0, 50, 100]);
}, 120_000);
