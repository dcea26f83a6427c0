/** The statistics of the bench: pure functions over plain numbers. */

/** Median, least and greatest of some values. */
export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/**
 * The value below which the share `q` of the values lies (nearest rank), of values in ascending order.
 * NaN without values.
 */
export function percentile(ascending: ArrayLike<number>, q: number): number {
  if (!(q > 0 && q <= 1)) throw new RangeError(`"q" must be above 0 and at most 1, not ${q}`);
  const rank = Math.max(1, Math.ceil(q * ascending.length));
  return ascending[rank - 1] ?? Number.NaN;
}

/** The spread of values in any order. All NaN without values. */
export function spread(values: readonly number[]): Spread {
  const ascending = values.toSorted((a, b) => a - b);
  const upper = ascending[Math.floor(ascending.length / 2)] ?? Number.NaN;
  const lower = ascending[Math.ceil(ascending.length / 2) - 1] ?? Number.NaN;
  return {
    median: (upper + lower) / 2,
    min: ascending.at(0) ?? Number.NaN,
    max: ascending.at(-1) ?? Number.NaN,
  };
}

/**
 * The spread of `numerators[i] / denominators[i]`.
 *
 * Pairs of one round ran within seconds of each other, so what slows the whole machine for a while slows
 * both; the quotient of two medians would compare rounds that never met.
 */
export function pairedRatio(
  numerators: readonly number[],
  denominators: readonly number[],
): Spread {
  if (numerators.length !== denominators.length) {
    throw new RangeError(`pairs of ${numerators.length} and ${denominators.length} values`);
  }
  return spread(numerators.map((value, index) => value / (denominators[index] ?? Number.NaN)));
}
