/**
 * What a chaos run prints: a table row a kind of fault, in the form of docs/reliability.md, and what was found.
 */
import type { Played } from "./play.ts";

/** Above the rows. */
export const tableHead: string = [
  "| fault | strikes | runs | as undisturbed | charged twice | mailed twice | told RUN_LOST | lost | stuck | longest gap | from strike to result | slowest call |",
  "|---|---|---|---|---|---|---|---|---|---|---|---|",
].join("\n");

/** Figures of one kind. */
export function tableRow({ fault, verdict, availability, strikes, stuckRuns }: Played): string {
  const { runs, undisturbed, doubledCharges, doubledMails, toldLost, lostRuns } = verdict;
  const { longestGapMs, recoveryMs, slowestMs } = availability;
  const counts = [
    strikes.length,
    runs,
    undisturbed,
    doubledCharges,
    doubledMails,
    toldLost,
    lostRuns,
    stuckRuns,
  ];
  const times = [longestGapMs, recoveryMs, slowestMs].map(seconds);
  return `| ${[`\`${fault.name}\``, ...counts, ...times].join(" | ")} |`;
}

/** What clients were told and what the store has, and every violation. */
export function details({ fault, verdict, replies, statuses }: Played): string {
  const refused =
    Object.keys(verdict.refused).length === 0 ? "" : `; refused ${listed(verdict.refused)}`;
  const again =
    Object.keys(verdict.again).length === 0
      ? ""
      : `; steps entered again: ${listed(verdict.again)}`;
  const otherwise =
    Object.keys(verdict.otherwise).length === 0
      ? ""
      : `; told otherwise: ${listed(verdict.otherwise)}`;
  const told = `replies ${listed(replies)}; store ${listed(statuses)}${refused}${otherwise}${again}`;
  const lines = [`${fault.name}: ${told}`];
  return [...lines, ...verdict.violations.map((each) => `  VIOLATION ${each}`)].join("\n");
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}

function listed(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).toSorted(([, one], [, other]) => other - one);
  return entries.map(([name, count]) => `${name} ${count}`).join(", ") || "none";
}
