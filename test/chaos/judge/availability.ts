/**
 * How long nobody was served: pure, from the times of replies and of strikes.
 */
import type { LoadRecord } from "../load/record.ts";

/** One disturbance. Times by `performance.now()`. */
export interface Strike {
  readonly what: string;
  readonly fromMs: number;
  /** Everything that it hit was whole again. */
  readonly untilMs: number;
  /** What the store had acknowledged then is gone. */
  readonly forgotten?: { readonly fromMs: number; readonly untilMs: number };
}

/** Figures over the strikes of a kind. */
export interface Availability {
  /** Longest time, from a strike to `aftermathMs` behind its end, in which no call got a result. */
  readonly longestGapMs: number;
  /** Longest single request that got a result. */
  readonly slowestMs: number;
  /**
   * Longest time from a strike to the result of a request that was under way when it began. A request that another strike met as
   * well is measured from the last one before its end.
   */
  readonly recoveryMs: number;
}

/** Measures. A strike with too little load around it tells nothing and counts as it is. */
export function availabilityOf(
  record: LoadRecord,
  strikes: readonly Strike[],
  aftermathMs: number,
): Availability {
  const results = record.answered.filter(({ what }) => what === "result");
  const times = results.map(({ atMs }) => atMs).toSorted((one, other) => one - other);
  const last = times.at(-1) ?? 0;
  let longestGapMs = 0;
  for (const { fromMs, untilMs } of strikes) {
    // When the crowd has gone home, silence is no outage.
    const end = Math.min(untilMs + aftermathMs, last);
    const within = [fromMs, ...times.filter((atMs) => atMs > fromMs && atMs <= end)];
    for (const [place, atMs] of within.entries()) {
      const next = within[place + 1] ?? end;
      longestGapMs = Math.max(longestGapMs, next - atMs);
    }
  }
  let [slowestMs, recoveryMs] = [0, 0];
  for (const { atMs, tookMs, isWhole } of results) {
    slowestMs = Math.max(slowestMs, tookMs);
    // In a whole call there are people who think.
    if (isWhole) continue;
    const hitBy = strikes.findLast(({ fromMs }) => fromMs <= atMs && fromMs >= atMs - tookMs);
    if (hitBy !== undefined) recoveryMs = Math.max(recoveryMs, atMs - hitBy.fromMs);
  }
  return {
    longestGapMs: Math.round(longestGapMs),
    slowestMs: Math.round(slowestMs),
    recoveryMs: Math.round(recoveryMs),
  };
}
