/**
 * The verdict on passes of the suite during which fronts and workers were killed: pure functions, no I/O.
 *
 * A front that dies takes along the requests that it held. nginx answers 502, or cuts the answer that had begun, and never
 * sends them again: only the client knows whether it may. The suite's client doesn't; sendAgain.ts does.
 *
 * 1. A complaint is explained when a front that was killed while its scenario ran cut a request, as nginx tells it. Where
 *    requests are sent again, that explains only an answer cut in its middle and checks with a time limit.
 * 2. A call whose worker was killed may only be late, and so may any call while members start: that explains checks with a
 *    time limit and no others.
 * 3. Every other complaint is unexplained, and so is a cut by a front that was not being killed.
 * 4. Being explained is not passing: each scenario has to pass unhurt in some pass.
 */
import type { Cut } from "./clusterTarget.ts";
import { modernExpectations, streamed, timeLimited } from "./expectations.ts";
import type { Kill } from "./killing.ts";
import type { ScenarioOutcome, TimedOutcome } from "./suite.ts";
import { complaintsOf, type Finding } from "./verdict.ts";

/** One run of the whole suite. */
export interface Pass {
  /** Whether requests that were cut were sent again. */
  readonly sentAgain: boolean;
  readonly outcomes: readonly TimedOutcome[];
}

/** What the kills explain and what they don't. */
export interface Explained {
  /** Of each scenario: an outcome without complaint where there is one, else its last. */
  readonly best: readonly ScenarioOutcome[];
  readonly explained: readonly Finding[];
  readonly unexplained: readonly Finding[];
}

/** Holds the complaints of the scenarios named in `judged` against the kills. */
export function explain(
  passes: readonly Pass[],
  judged: readonly string[],
  kills: readonly Kill[],
  cuts: readonly Cut[],
): Explained {
  const best = new Map<string, ScenarioOutcome>();
  const explained: Finding[] = [];
  const unexplained: Finding[] = cuts
    .filter((cut) => !kills.some((kill) => isCutBy(cut, kill)))
    .map(({ front, line }) => ({ scenario: "nginx", check: front, text: line }));
  for (const { sentAgain, outcomes } of passes) {
    for (const outcome of outcomes) {
      const { scenario } = outcome;
      const findings = findingsOf(outcome);
      const known = best.get(scenario);
      if (known === undefined || findingsOf(known).length > 0) best.set(scenario, outcome);
      if (!judged.includes(scenario)) continue;
      const wasCut = kills.some(
        (kill) =>
          isDuring(kill.fromMs, kill.goneMs, outcome) && cuts.some((cut) => isCutBy(cut, kill)),
      );
      const isHurt = wasCut && (!sentAgain || streamed.has(scenario));
      const isLate = kills.some(({ fromMs, backMs }) => isDuring(fromMs, backMs, outcome));
      for (const finding of findings) {
        const isExplained = isHurt || (isLate && timeLimited.has(finding.check));
        (isExplained ? explained : unexplained).push(finding);
      }
    }
  }
  return { best: [...best.values()], explained, unexplained };
}

function findingsOf(outcome: ScenarioOutcome): readonly Finding[] {
  const { scenario, checks } = outcome;
  const skips = checks
    .filter(({ id, status }) => status === "SKIPPED" && !modernExpectations.expectedSkips.has(id))
    .map(({ id }) => ({ scenario, check: id, text: "skipped, and not expected to be" }));
  return [...complaintsOf(outcome), ...skips];
}

/** The request was at that front from before its death; a new process serves only when `backMs` is near. */
function isCutBy({ front, atMs }: Cut, { role, name, fromMs, backMs }: Kill): boolean {
  // nginx gives the second in which it was.
  return role === "front" && name === front && atMs > fromMs - 1000 && atMs <= backMs;
}

function isDuring(fromMs: number, untilMs: number, outcome: TimedOutcome): boolean {
  return fromMs <= outcome.untilMs && untilMs >= outcome.fromMs;
}
