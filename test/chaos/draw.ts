/**
 * What is drawn from a seed: the schedule of faults, whom they hit, and what the load does. Pure.
 *
 * Draws of different names are independent, so that a kind of fault played alone has the schedule that it has among all.
 */
export class Draw {
  readonly #seed: number;
  #state: number;

  constructor(seed: number, name: string) {
    let state = seed;
    for (const character of name) state = Math.imul(state ^ character.charCodeAt(0), 0x01000193);
    this.#seed = state;
    this.#state = state;
  }

  /** Draws of its own, for a part that must not shift the others. */
  of(name: string): Draw {
    return new Draw(this.#seed, name);
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const state = this.#state;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  /** @throws RangeError when there is nothing to choose from */
  oneOf<Item>(items: readonly Item[]): Item {
    const item = items[this.between(0, items.length - 1)];
    if (item === undefined) throw new RangeError("nothing to draw from");
    return item;
  }
}
