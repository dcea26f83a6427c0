/**
 * Why an effect of a step came twice: pure, from what its processes wrote down and from what was done to them.
 *
 * A step without a remote that knows keys may happen again when nobody could record that it had happened, and never otherwise
 * (docs/design.md 4.2, 4.4). So each time that its function was entered again needs a reason in what happened since it was
 * entered before. What no reason is found for is a defect.
 */
import type { TrailLine } from "../role/trail.ts";

/** A stretch of time, by `performance.now()` of the judge's process. */
export interface Stretch {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What was done to a deployment, and what its processes did. Times by `performance.now()` of the judge's process. */
export interface Evidence {
  readonly leaseMs: number;
  readonly lines: readonly TrailLine[];
  /** When processes ended, by whatever cause. */
  readonly ends: readonly { readonly pid: number; readonly atMs: number }[];
  /** What the store had acknowledged then is gone. */
  readonly forgotten: readonly Stretch[];
  /** Something was done to the store, or to the way there. */
  readonly storeTrouble: readonly Stretch[];
}

/** Why. `threw`: it was known to have failed, or to be in doubt. `stood still`: its process could not keep the lease; `store away`: nobody could. */
export type Excuse = "killed" | "stood still" | "store away" | "threw" | "forgotten";

type Entered = Extract<TrailLine, { readonly tag: string }>;

/** A lease is renewed at a third: only who does nothing for most of the rest can lose it. */
const stillShare = 0.5;

/** Reasons why steps of an errand were entered again, one each; undefined for a time that has none. */
export function excusesOf(
  tag: string,
  isMeant: (step: string) => boolean,
  evidence: Evidence,
): readonly (Excuse | undefined)[] {
  const own = evidence.lines.filter(
    (line): line is Entered => line.is !== "stoodStill" && line.tag === tag && isMeant(line.step),
  );
  const excuses: (Excuse | undefined)[] = [];
  for (const step of new Set(own.map((line) => line.step))) {
    const lines = own.filter((line) => line.step === step).toSorted((a, b) => a.atMs - b.atMs);
    const entries = lines.filter(({ is }) => is === "entered");
    for (const [place, entry] of entries.entries()) {
      const next = entries[place + 1];
      if (next !== undefined) excuses.push(excuseOf(entry, next, lines, evidence));
    }
  }
  return excuses;
}

function excuseOf(
  entry: Entered,
  next: Entered,
  lines: readonly Entered[],
  evidence: Evidence,
): Excuse | undefined {
  const between = lines.filter(({ atMs }) => atMs >= entry.atMs && atMs <= next.atMs);
  const recorded = between.find(({ is }) => is === "recorded");
  // What was recorded may come again only when the store has forgotten that it was.
  if (recorded !== undefined) {
    const isGone = evidence.forgotten.some((gone) => covers(gone, entry.atMs, recorded.atMs));
    return isGone ? "forgotten" : undefined;
  }
  const end = evidence.ends.find(({ pid, atMs }) => pid === entry.pid && atMs >= entry.atMs);
  if (end !== undefined && end.atMs <= next.atMs) return "killed";
  const own = between.filter(({ pid }) => pid === entry.pid);
  if (own.some(({ is }) => is === "threw")) return "threw";
  const { leaseMs } = evidence;
  const window = { fromMs: entry.atMs - leaseMs, untilMs: next.atMs };
  const rests = evidence.lines.flatMap((line) =>
    line.is === "stoodStill" && line.pid === entry.pid
      ? [{ fromMs: line.sinceMs, untilMs: line.atMs }]
      : [],
  );
  // One that was stopped and has not gone on by then tells of it later: its rest lasts beyond the window.
  if (shared(window, rests) >= leaseMs * stillShare) return "stood still";
  if (shared(window, evidence.storeTrouble) >= leaseMs * stillShare) return "store away";
  return evidence.forgotten.some((gone) => covers(gone, entry.atMs, next.atMs))
    ? "forgotten"
    : undefined;
}

function covers({ fromMs, untilMs }: Stretch, since: number, until: number): boolean {
  return fromMs <= until && untilMs >= since;
}

/** How much of the window the stretches, which don't overlap, take. */
function shared(window: Stretch, stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { fromMs, untilMs }) => {
    const overlap = Math.min(untilMs, window.untilMs) - Math.max(fromMs, window.fromMs);
    return sum + Math.max(0, overlap);
  }, 0);
}
