/** How a verdict is shown: scenarios, skipped checks, what was not judged and not run. */
import type { Finding, Verdict } from "./verdict.ts";

/** Prints the table of a verdict. */
export function printVerdict(verdict: Verdict): void {
  const { expectedSkips, notRun } = verdict.expectations;
  for (const { outcome, complaints: found } of verdict.scenarios) {
    const counts = new Map<string, number>();
    for (const { status } of outcome.checks) counts.set(status, (counts.get(status) ?? 0) + 1);
    const summary = [...counts].map(([status, count]) => `${count} ${status}`).join(", ");
    console.log(
      `  ${found.length === 0 ? "ok  " : "FAIL"} ${outcome.scenario.padEnd(48)} ${summary}`,
    );
    for (const finding of found) console.log(`         ${describe(finding)}`);
  }
  console.log("  Skipped checks:");
  for (const id of verdict.skipped) {
    console.log(`    ${id}: ${expectedSkips.get(id) ?? "NOT EXPECTED"}`);
  }
  for (const finding of verdict.skipComplaints) console.log(`  FAIL ${describe(finding)}`);
  console.log("  Not judged or not run:");
  for (const { scenario, reason } of verdict.unjudged) console.log(`    ${scenario}: ${reason}`);
  for (const { name, reason } of notRun) console.log(`    ${name}: ${reason}`);
}

/** A finding in one line. */
export function describe({ scenario, check, text }: Finding): string {
  return `${scenario} ${check}: ${text}`;
}
