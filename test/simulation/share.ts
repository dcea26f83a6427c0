/**
 * A stretch of seeds and what it came to, as data that goes between processes: a person's process hands stretches out, each to
 * whichever process is free, and adds up what comes back. A seed knows nothing of others, so who plays it changes nothing.
 */
import { simulate } from "@reprise/testing/simulation";

/** Seeds that follow each other. */
export interface Stretch {
  readonly firstSeed: number;
  readonly seeds: number;
}

/** What is summed up. */
export const summed = [
  "effects",
  "questions",
  "crashes",
  "pauses",
  "storeFailures",
  "expiries",
  "pages",
  "repeatables",
] as const;

/** What a stretch came to. */
export interface Share extends Stretch {
  readonly events: number;
  readonly sums: Readonly<Record<(typeof summed)[number], number>>;
  /** Processor time of this process for it. */
  readonly cpuMs: number;
  /** In the order of the seeds. */
  readonly violations: readonly {
    readonly seed: number;
    readonly message: string;
    readonly story: string;
  }[];
}

/** Plays a stretch in this process. */
export async function playShare(stretch: Stretch): Promise<Share> {
  const before = process.cpuUsage();
  const { events, reports, violations } = await simulate(stretch);
  const { user, system } = process.cpuUsage(before);
  const sumOf = (what: (typeof summed)[number]): number =>
    reports.reduce((total, report) => total + report[what], 0);
  const sums = Object.fromEntries(summed.map((what) => [what, sumOf(what)])) as Share["sums"];
  return { ...stretch, events, sums, cpuMs: (user + system) / 1_000, violations };
}
