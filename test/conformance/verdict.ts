/**
 * Turns what the suite recorded into a verdict: pure functions, no I/O.
 *
 * A judged scenario passes with no FAILURE and no WARNING. SKIPPED ids are compared with the expected list over
 * all judged scenarios, as one verdict of their own.
 */
import type { Expectations } from "./expectations.ts";
import type { Check, ScenarioOutcome } from "./suite.ts";

/** A finding that makes the leg fail. */
export interface Finding {
  readonly scenario: string;
  readonly check: string;
  readonly text: string;
}

/** The verdict on one run of the suite. */
export interface Verdict {
  /** Judged scenarios in the order given, with their complaints. */
  readonly scenarios: readonly {
    readonly outcome: ScenarioOutcome;
    readonly complaints: readonly Finding[];
  }[];
  /** Ids that were skipped, in the order seen, each once. */
  readonly skipped: readonly string[];
  readonly skipComplaints: readonly Finding[];
  readonly unjudged: readonly { readonly scenario: string; readonly reason: string }[];
  readonly expectations: Expectations;
}

/** Judges `outcomes`; every name of `required` and of those also judged must be among them. */
export function judge(
  outcomes: readonly ScenarioOutcome[],
  required: readonly string[],
  expectations: Expectations,
): Verdict {
  const byName = new Map(outcomes.map((outcome) => [outcome.scenario, outcome]));
  const judged = [...required, ...expectations.alsoJudged];
  const scenarios = judged.map((scenario) => {
    const outcome = byName.get(scenario) ?? { scenario, checks: [] };
    return { outcome, complaints: complaintsOf(outcome) };
  });
  const skipped = unique(
    scenarios.flatMap(({ outcome }) => ids(outcome.checks, (check) => check.status === "SKIPPED")),
  );
  return {
    scenarios,
    skipped,
    skipComplaints: compareSkips(skipped, expectations),
    unjudged: outcomes
      .map(({ scenario }) => scenario)
      .filter((scenario) => !judged.includes(scenario))
      .map((scenario) => ({ scenario, reason: reasonOf(scenario, expectations) })),
    expectations,
  };
}

/** All warnings and failures of a verdict. */
export function complaints(verdict: Verdict): readonly Finding[] {
  return [
    ...verdict.scenarios.flatMap((scenario) => scenario.complaints),
    ...verdict.skipComplaints,
  ];
}

/** The warnings and failures of one scenario. */
export function complaintsOf({ scenario, checks }: ScenarioOutcome): Finding[] {
  // A scenario without checks has proved nothing: it did not run, or it gave up before its first check.
  if (checks.length === 0) return [{ scenario, check: "-", text: "recorded no check" }];
  return checks
    .filter(({ status }) => status === "FAILURE" || status === "WARNING")
    .map(({ id, status, message }) => ({ scenario, check: id, text: `${status}: ${message}` }));
}

function compareSkips(skipped: readonly string[], { expectedSkips }: Expectations): Finding[] {
  const unexpected = skipped
    .filter((id) => !expectedSkips.has(id))
    .map((id) => ({
      scenario: "skipped checks",
      check: id,
      text: "skipped, and not expected to be",
    }));
  const ran = [...expectedSkips.keys()]
    .filter((id) => !skipped.includes(id))
    .map((id) => ({
      scenario: "skipped checks",
      check: id,
      text: "expected to be skipped, but ran",
    }));
  return [...unexpected, ...ran];
}

function reasonOf(scenario: string, { notJudged }: Expectations): string {
  const known = notJudged.find(({ prefix }) => scenario.startsWith(prefix));
  return known?.reason ?? "in no list of this leg";
}

function ids(checks: readonly Check[], wanted: (check: Check) => boolean): string[] {
  return checks.filter(wanted).map(({ id }) => id);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}
