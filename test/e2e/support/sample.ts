/**
 * Which cases of a matrix a run takes: all of them in a long run, else a fifth that the run's seed decides.
 */
import { longRun, seed } from "../../support/config.ts";

/** Numbers in [0, 1) that follow from the run's seed and a name. */
export function seededNumbers(name: string): () => number {
  let state = seed;
  for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The cases that this run takes, in their order. */
export function sampled<Case>(
  name: string,
  cases: readonly Case[],
  share = 1 / 5,
): readonly Case[] {
  if (longRun) return cases;
  const next = seededNumbers(name);
  const drawn = cases
    .map((each, place) => ({ each, place, lot: next() }))
    .toSorted((one, other) => one.lot - other.lot)
    .slice(0, Math.ceil(cases.length * share));
  return drawn.toSorted((one, other) => one.place - other.place).map(({ each }) => each);
}

/** What was taken of how many, and how to repeat it. */
export function sampleLine(name: string, taken: number, all: number, unit: string): string {
  return `${name}: ${taken} of ${all} ${unit}, seed ${seed}\n`;
}
