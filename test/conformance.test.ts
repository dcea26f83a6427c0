/** The promises of the server leg's verdict: what it must not let pass. */
import { expect, test } from "vitest";
import { requiredClientScenarios } from "./conformance/clientScenarios.ts";
import { modernExpectations } from "./conformance/expectations.ts";
import type { Check, CheckStatus, ScenarioOutcome } from "./conformance/suite.ts";
import { requiredServerScenarios } from "./conformance/suite.ts";
import { complaints, judge } from "./conformance/verdict.ts";

/** The real ones, with one check that is knowingly skipped: there is none at present. */
const expectations = { ...modernExpectations, expectedSkips: new Map([["left-out", "why"]]) };
const { expectedSkips } = expectations;
const required = ["caching", "stateless"];
const headerScenarios = ["http-header-validation", "http-custom-header-server-validation"];

test("a run in which all pass and exactly the expected checks are skipped has no complaint", () => {
  const verdict = judge(goodRun(), required, expectations);
  expect(complaints(verdict)).toEqual([]);
  expect(verdict.skipped).toEqual([...expectedSkips.keys()]);
});

test.each<CheckStatus>(["FAILURE", "WARNING"])(
  "a %s in a scored scenario is a complaint",
  (bad) => {
    const verdict = judge(
      replace(goodRun(), "caching", [check("ttl", bad)]),
      required,
      expectations,
    );
    expect(complaints(verdict)).toContainEqual({
      scenario: "caching",
      check: "ttl",
      text: `${bad}: why`,
    });
  },
);

test.each(headerScenarios)("%s is judged although the suite does not score it", (scenario) => {
  const verdict = judge(
    replace(goodRun(), scenario, [check("h", "WARNING")]),
    required,
    expectations,
  );
  expect(complaints(verdict).map((finding) => finding.scenario)).toEqual([scenario]);
});

test("a scored scenario that did not run is a complaint", () => {
  const verdict = judge(goodRun(), [...required, "tools-list"], expectations);
  expect(complaints(verdict).map((finding) => finding.scenario)).toEqual(["tools-list"]);
});

test("a check that is skipped without being expected to is a complaint", () => {
  const outcomes = replace(goodRun(), "caching", [check("x", "SUCCESS"), check("y", "SKIPPED")]);
  expect(
    complaints(judge(outcomes, required, expectations)).map((finding) => finding.check),
  ).toEqual(["y"]);
});

test("a check that should be skipped and ran is a complaint, so the list can't go stale", () => {
  const [first = ""] = expectedSkips.keys();
  const outcomes = goodRun().map(({ scenario, checks }) => ({
    scenario,
    checks: checks.map((each) => (each.id === first ? check(first, "SUCCESS") : each)),
  }));
  expect(complaints(judge(outcomes, required, expectations)).map(({ check: id }) => id)).toEqual([
    first,
  ]);
});

test("scenarios of extensions are listed with their reason and not judged", () => {
  const outcomes = [...goodRun(), { scenario: "tasks-lifecycle", checks: [check("t", "FAILURE")] }];
  const verdict = judge(outcomes, required, expectations);
  expect(complaints(verdict)).toEqual([]);
  expect(verdict.unjudged).toEqual([
    { scenario: "tasks-lifecycle", reason: expect.stringContaining("Tasks extension") },
  ]);
});

test("the pinned suite's frozen lists have 37 server scenarios of 2026-07-28 and 30 of 2025-11-25", async () => {
  const frozen = await requiredServerScenarios("2026-07-28");
  expect(frozen).toHaveLength(37);
  expect(await requiredServerScenarios("2025-11-25")).toHaveLength(30);
  expect(frozen).toContain("server-stateless");
  expect(frozen).not.toContain("tools_call");
});

test("the pinned suite's frozen lists have 32 client scenarios of 2026-07-28 and 18 of 2025-11-25", async () => {
  expect(await requiredClientScenarios("2026-07-28")).toHaveLength(32);
  const legacy = await requiredClientScenarios("2025-11-25");
  expect(legacy).toHaveLength(18);
  expect(legacy).toContain("sse-retry");
});

function goodRun(): ScenarioOutcome[] {
  return [
    { scenario: "caching", checks: [check("ttl", "SUCCESS"), check("note", "INFO")] },
    { scenario: "stateless", checks: [...expectedSkips.keys()].map((id) => check(id, "SKIPPED")) },
    ...[...headerScenarios, "json-schema-2020-12"].map((scenario) => ({
      scenario,
      checks: [check(`${scenario}-check`, "SUCCESS")],
    })),
  ];
}

function replace(
  outcomes: readonly ScenarioOutcome[],
  scenario: string,
  checks: readonly Check[],
): ScenarioOutcome[] {
  return outcomes.map((outcome) =>
    outcome.scenario === scenario ? { scenario, checks } : outcome,
  );
}

function check(id: string, status: CheckStatus): Check {
  return { id, status, message: status === "SUCCESS" ? "" : "why" };
}
