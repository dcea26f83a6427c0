/** The promises of the verdict on a disturbed cluster: what a kill excuses, and what it must not. */
import { expect, test } from "vitest";
import type { Cut } from "./conformance/clusterTarget.ts";
import { explain, type Pass } from "./conformance/disturbance.ts";
import { streamed, timeLimited } from "./conformance/expectations.ts";
import type { Kill } from "./conformance/killing.ts";
import type { Check, CheckStatus, TimedOutcome } from "./conformance/suite.ts";

const [timeLimitedCheck = ""] = timeLimited;
const [streamedScenario = ""] = streamed;
const judged = ["caching", "tools-list", streamedScenario];
const frontKill: Kill = {
  ...{ role: "front", name: "front 1" },
  ...{ fromMs: 12_500, goneMs: 12_510, backMs: 14_000 },
};
const workerKill: Kill = { ...frontKill, role: "worker", name: "worker 1" };
/** nginx tells the second alone. */
const cut: Cut = { front: "front 1", atMs: 12_000, line: "Connection reset by peer" };

test("a complaint of a scenario in which a killed front cut a request is explained", () => {
  const seen = explain([asItIs(hurt("caching", 12_000, 13_000))], judged, [frontKill], [cut]);
  expect(seen.explained.map(({ check }) => check)).toEqual(["ttl"]);
  expect(seen.unexplained).toEqual([]);
});

test("a complaint is not explained by a kill that cut nothing", () => {
  const seen = explain([asItIs(hurt("caching", 12_000, 13_000))], judged, [frontKill], []);
  expect(seen.explained).toEqual([]);
  expect(seen.unexplained.map(({ scenario }) => scenario)).toEqual(["caching"]);
});

test.each([
  ["before", 10_000, 12_499],
  ["after", 12_511, 14_000],
])("a complaint of a scenario that ran %s the kill is not explained by it", (_, from, until) => {
  const seen = explain([asItIs(hurt("caching", from, until))], judged, [frontKill], [cut]);
  expect(seen.unexplained.map(({ scenario }) => scenario)).toEqual(["caching"]);
});

test("a check that is skipped without being expected to is a complaint in every pass", () => {
  const passes = [asItIs(outcome("caching", 1, 2, [check("x", "SKIPPED")]))];
  const seen = explain(passes, judged, [frontKill], [cut]);
  expect(seen.unexplained.map(({ check: id }) => id)).toEqual(["x"]);
});

test("a worker's kill explains a late answer where a check has a time limit, and nothing else", () => {
  const late = outcome("caching", 12_000, 13_000, [
    check(timeLimitedCheck, "FAILURE"),
    check("ttl", "FAILURE"),
  ]);
  const seen = explain([asItIs(late)], judged, [workerKill], []);
  expect(seen.explained.map(({ check: id }) => id)).toEqual([timeLimitedCheck]);
  expect(seen.unexplained.map(({ check: id }) => id)).toEqual(["ttl"]);
});

test("a member that still starts explains a late answer, and no cut one", () => {
  const late = outcome("caching", 13_000, 13_500, [
    check(timeLimitedCheck, "FAILURE"),
    check("ttl", "FAILURE"),
  ]);
  const seen = explain([asItIs(late)], judged, [frontKill], [cut]);
  expect(seen.explained.map(({ check: id }) => id)).toEqual([timeLimitedCheck]);
  expect(seen.unexplained.map(({ check: id }) => id)).toEqual(["ttl"]);
});

test.each<[string, Partial<Cut>]>([
  ["of a front that was not killed", { front: "front 2" }],
  ["by a front before its kill", { atMs: 11_000 }],
  ["by a front that serves again", { atMs: 15_000 }],
])("a request cut %s is a complaint itself and explains nothing", (_, other) => {
  const passes = [asItIs(hurt("caching", 12_000, 13_000))];
  const seen = explain(passes, judged, [frontKill], [{ ...cut, ...other }]);
  expect(seen.unexplained.map(({ scenario }) => scenario)).toEqual(["nginx", "caching"]);
});

test("a scenario's best outcome is the one without complaint, from whichever pass", () => {
  const passes = [
    asItIs(hurt("caching", 12_000, 13_000), fine("tools-list", 13_000, 14_000)),
    asItIs(fine("caching", 20_000, 21_000), hurt("tools-list", 21_000, 22_000)),
  ];
  const { best } = explain(passes, judged, [frontKill], [cut]);
  expect(best.flatMap(({ checks }) => checks.map(({ status }) => status))).toEqual([
    "SUCCESS",
    "SUCCESS",
  ]);
});

test("a scenario that was hit in every pass keeps its complaint", () => {
  const each = asItIs(hurt("caching", 12_000, 13_000));
  const passes = [each, each];
  const { best } = explain(passes, judged, [frontKill], [cut]);
  expect(best.map(({ checks }) => checks[0]?.status)).toEqual(["FAILURE"]);
});

test("scenarios of extensions are no complaint", () => {
  const passes = [asItIs(hurt("tasks-lifecycle", 1, 2))];
  expect(explain(passes, judged, [], []).unexplained).toEqual([]);
});

test("where requests are sent again, a cut explains only an answer that had begun", () => {
  const outcomes = [hurt("caching", 12_000, 13_000), hurt(streamedScenario, 12_000, 13_000)];
  const seen = explain([{ sentAgain: true, outcomes }], judged, [frontKill], [cut]);
  expect(seen.explained.map(({ scenario }) => scenario)).toEqual([streamedScenario]);
  expect(seen.unexplained.map(({ scenario }) => scenario)).toEqual(["caching"]);
});

function asItIs(...outcomes: readonly TimedOutcome[]): Pass {
  return { sentAgain: false, outcomes };
}

function hurt(scenario: string, fromMs: number, untilMs: number): TimedOutcome {
  return outcome(scenario, fromMs, untilMs, [check("ttl", "FAILURE")]);
}

function fine(scenario: string, fromMs: number, untilMs: number): TimedOutcome {
  return outcome(scenario, fromMs, untilMs, [check("ttl", "SUCCESS")]);
}

function outcome(
  scenario: string,
  fromMs: number,
  untilMs: number,
  checks: readonly Check[],
): TimedOutcome {
  return { scenario, checks, fromMs, untilMs };
}

function check(id: string, status: CheckStatus): Check {
  return { id, status, message: status === "SUCCESS" ? "" : "why" };
}
