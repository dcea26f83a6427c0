/**
 * The server leg of `npm run conformance`: the revision's server requirements against the fixture, twice.
 *
 * First with the one repeatable tool: no failure, no warning, exactly the expected checks skipped. Then with
 * that tool at its default: exactly one warning, which shows that the first run's green came from the option
 * and that nothing else depends on it.
 */
import { warningWithoutRepeatable } from "./expectations.ts";
import { startFixture } from "./fixtureProcess.ts";
import { describe, printVerdict } from "./printVerdict.ts";
import { requiredServerScenarios, revision, runServerSuite } from "./suite.ts";
import { complaints, type Finding, judge, type Verdict } from "./verdict.ts";

/** What a leg reports to `run.ts`. */
export interface LegCount {
  readonly passed: number;
  readonly failed: number;
}

/** Runs the leg and prints its table. */
export async function run(): Promise<LegCount> {
  console.log(`Server requirements of ${revision}, elicitation tool repeatable`);
  const verdict = await judgeFixture([]);
  printVerdict(verdict);
  console.log("\nThe same with the elicitation tool at its default (once)");
  const strict = await judgeFixture(["--elicitation-once"]);
  const secondRun = complaintsOfSecondRun(complaints(strict));
  console.log(`  warnings and failures: ${complaints(strict).length}, expected exactly 1`);
  for (const finding of complaints(strict)) console.log(`  ${describe(finding)}`);
  for (const text of secondRun) console.log(`  UNEXPECTED ${text}`);

  const failedScenarios = verdict.scenarios.filter((each) => each.complaints.length > 0).length;
  const failedLists = [verdict.skipComplaints, secondRun].filter((list) => list.length > 0).length;
  return {
    passed: verdict.scenarios.length - failedScenarios + (2 - failedLists),
    failed: failedScenarios + failedLists,
  };
}

async function judgeFixture(flags: readonly string[]): Promise<Verdict> {
  const fixture = await startFixture(flags);
  try {
    return await judgeServer(fixture.url);
  } finally {
    await fixture.stop();
  }
}

/** Runs the suite against any server and judges what it recorded. */
async function judgeServer(url: string): Promise<Verdict> {
  return judge(await runServerSuite(url), await requiredServerScenarios());
}

function complaintsOfSecondRun(found: readonly Finding[]): string[] {
  const { scenario, check } = warningWithoutRepeatable;
  const expected = (finding: Finding): boolean =>
    finding.scenario === scenario && finding.check === check && finding.text.startsWith("WARNING");
  const others = found.filter((finding) => !expected(finding)).map(describe);
  if (found.filter(expected).length === 1) return others;
  return [...others, `${scenario} ${check} did not warn once`];
}
