/**
 * The server leg of `npm run conformance`: the server requirements of both revisions against the fixture.
 *
 * Those of 2026-07-28 twice. First with the one repeatable tool: no failure, no warning, exactly the expected checks skipped. Then with
 * that tool at its default: exactly one warning, which shows that the first run's green came from the option
 * and that nothing else depends on it. Then those of 2025-11-25: no failure, no warning, nothing skipped.
 */
import {
  type Expectations,
  legacyExpectations,
  modernExpectations,
  warningWithoutRepeatable,
} from "./expectations.ts";
import { startFixture } from "./fixtureProcess.ts";
import { describe, printVerdict } from "./printVerdict.ts";
import { type JudgedRevision, requiredServerScenarios, runServerSuite } from "./suite.ts";
import { complaints, type Finding, judge, type Verdict } from "./verdict.ts";

/** What a leg reports to `run.ts`. */
export interface LegCount {
  readonly passed: number;
  readonly failed: number;
}

/** Runs the leg and prints its table. */
export async function run(): Promise<LegCount> {
  console.log("Server requirements of 2026-07-28, elicitation tool repeatable");
  const verdict = await judgeFixture([], "2026-07-28", modernExpectations);
  printVerdict(verdict);
  console.log("\nThe same with the elicitation tool at its default (once)");
  const strict = await judgeFixture(["--elicitation-once"], "2026-07-28", modernExpectations);
  const secondRun = complaintsOfSecondRun(complaints(strict));
  console.log(`  warnings and failures: ${complaints(strict).length}, expected exactly 1`);
  for (const finding of complaints(strict)) console.log(`  ${describe(finding)}`);
  for (const text of secondRun) console.log(`  UNEXPECTED ${text}`);

  console.log("\nServer requirements of 2025-11-25");
  const legacy = await judgeFixture([], "2025-11-25", legacyExpectations);
  printVerdict(legacy);

  const scenarios = [...verdict.scenarios, ...legacy.scenarios];
  const failedScenarios = scenarios.filter((each) => each.complaints.length > 0).length;
  const lists = [verdict.skipComplaints, secondRun, legacy.skipComplaints];
  const failedLists = lists.filter((list) => list.length > 0).length;
  return {
    passed: scenarios.length - failedScenarios + (lists.length - failedLists),
    failed: failedScenarios + failedLists,
  };
}

async function judgeFixture(
  flags: readonly string[],
  revision: JudgedRevision,
  expectations: Expectations,
): Promise<Verdict> {
  const fixture = await startFixture(flags);
  try {
    const outcomes = await runServerSuite(fixture.url, revision);
    return judge(outcomes, await requiredServerScenarios(revision), expectations);
  } finally {
    await fixture.stop();
  }
}

function complaintsOfSecondRun(found: readonly Finding[]): string[] {
  const { scenario, check } = warningWithoutRepeatable;
  const expected = (finding: Finding): boolean =>
    finding.scenario === scenario && finding.check === check && finding.text.startsWith("WARNING");
  const others = found.filter((finding) => !expected(finding)).map(describe);
  if (found.filter(expected).length === 1) return others;
  return [...others, `${scenario} ${check} did not warn once`];
}
