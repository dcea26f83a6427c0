/**
 * A seeded stream of choices. One seed gives one stream on every machine, so a failed case is repeated by
 * its number alone.
 */

/** Draws what a case is made of. */
export interface Draw {
  /** A whole number from 0 up to `count` - 1. */
  below(count: number): number;
  /** True in `percent` of 100 draws. */
  chance(percent: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** The stream of a seed (mulberry32: small, and good enough to tell neighbouring seeds apart). */
export function drawFrom(seed: number): Draw {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return {
    below,
    chance: (percent) => next() * 100 < percent,
    pick: (items) => {
      const item = items[below(items.length)];
      if (item === undefined) throw new RangeError("nothing to pick from");
      return item;
    },
  };
}

/** A 32-bit number for a text: what values of programs are made of. */
export function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}

/** Sum of two such numbers; the order of adding does not matter. */
export function plus(one: number, other: number): number {
  return (one + other) >>> 0;
}
