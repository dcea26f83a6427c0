/**
 * The verdict on passes of the suite during which fronts and workers were killed: pure functions, no I/O.
 *
 * The suite's client sends a request once. A front that dies takes along the requests that it held: nginx answers them
 * with 502, or cuts the stream that had begun, and never sends them again, since only the client knows whether it may.
 *
 * 1. A complaint is explained when a front that was killed while its scenario ran cut a request, as nginx tells it. A call
 *    whose worker was killed may only be late, so that explains checks with a time limit and no others.
 * 2. Every other complaint is unexplained, and so is a cut by a front that was not being killed.
 * 3. Being explained is not passing: each scenario has to pass unhurt in some pass.
 */
import type { Cut } from "./clusterTarget.ts";
import { expectedSkips, timeLimited } from "./expectations.ts";
import type { Kill } from "./killing.ts";
import type { ScenarioOutcome, TimedOutcome } from "./suite.ts";
import { complaintsOf, type Finding } from "./verdict.ts";

/** What the kills explain and what they don't. */
export interface Explained {
  /** Of each scenario: an outcome without complaint where there is one, else its last. */
  readonly best: readonly ScenarioOutcome[];
  readonly explained: readonly Finding[];
  readonly unexplained: readonly Finding[];
}

/** Holds the complaints of the scenarios named in `judged` against the kills. */
export function explain(
  passes: readonly (readonly TimedOutcome[])[],
  judged: readonly string[],
  kills: readonly Kill[],
  cuts: readonly Cut[],
): Explained {
  const cutting = kills.filter((kill) => cuts.some((cut) => isCutBy(cut, kill)));
  const best = new Map<string, ScenarioOutcome>();
  const explained: Finding[] = [];
  const unexplained: Finding[] = cuts
    .filter((cut) => !kills.some((kill) => isCutBy(cut, kill)))
    .map(({ front, line }) => ({ scenario: "nginx", check: front, text: line }));
  for (const outcome of passes.flat()) {
    const findings = findingsOf(outcome);
    const known = best.get(outcome.scenario);
    if (known === undefined || findingsOf(known).length > 0) best.set(outcome.scenario, outcome);
    if (!judged.includes(outcome.scenario)) continue;
    const wasCut = cutting.some((kill) => isDuring(kill, outcome));
    const wasLate = kills.some(({ role, ...kill }) => role === "worker" && isDuring(kill, outcome));
    for (const finding of findings) {
      const isExplained = wasCut || (wasLate && timeLimited.has(finding.check));
      (isExplained ? explained : unexplained).push(finding);
    }
  }
  return { best: [...best.values()], explained, unexplained };
}

function findingsOf(outcome: ScenarioOutcome): readonly Finding[] {
  const { scenario, checks } = outcome;
  const skips = checks
    .filter(({ id, status }) => status === "SKIPPED" && !expectedSkips.has(id))
    .map(({ id }) => ({ scenario, check: id, text: "skipped, and not expected to be" }));
  return [...complaintsOf(outcome), ...skips];
}

/** The request was at that front from before its death; a new process serves only when `backMs` is near. */
function isCutBy({ front, atMs }: Cut, { role, name, fromMs, backMs }: Kill): boolean {
  // nginx gives the second in which it was.
  return role === "front" && name === front && atMs > fromMs - 1000 && atMs <= backMs;
}

function isDuring(
  { fromMs, goneMs }: Pick<Kill, "fromMs" | "goneMs">,
  outcome: TimedOutcome,
): boolean {
  return fromMs <= outcome.untilMs && goneMs >= outcome.fromMs;
}
