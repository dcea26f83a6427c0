/**
 * What the server leg demands beyond the suite's own scored list, and what it knowingly leaves out.
 *
 * Read by runServer.ts. A check that is skipped without standing here fails the leg, and so does one that
 * stands here and runs: the list would otherwise hide what a later change breaks or gains.
 */

const notJudged = [
  { prefix: "tasks-", reason: "the Tasks extension is not offered; the suite runs it unscored" },
];

const notRun = [{ name: "sep-2640-skills-* (3)", reason: "the Skills extension is not offered" }];

/** What is demanded of one revision. */
export interface Expectations {
  /** Run by the suite without being scored; judged here like scored ones. */
  readonly alsoJudged: readonly string[];
  /** Check ids that must be SKIPPED, each with the reason. */
  readonly expectedSkips: ReadonlyMap<string, string>;
  /** Scenarios that no verdict is given on, by prefix, each with the reason. */
  readonly notJudged: readonly { readonly prefix: string; readonly reason: string }[];
  /** Scenarios that the requirement list does not hold, so the suite does not run them. */
  readonly notRun: readonly { readonly name: string; readonly reason: string }[];
}

/** Of the revision without a handshake: nothing is skipped. */
export const modernExpectations: Expectations = {
  alsoJudged: [
    "http-header-validation",
    "http-custom-header-server-validation",
    "json-schema-2020-12",
  ],
  expectedSkips: new Map(),
  notJudged,
  notRun,
};

/** Of 2025-11-25: nothing is skipped. */
export const legacyExpectations: Expectations = {
  alsoJudged: ["json-schema-2020-12", "server-session-lifecycle", "server-sse-polling"],
  expectedSkips: new Map(),
  notJudged,
  notRun,
};

/** The one check that warns when the elicitation tool is left at `effects: "once"` (docs/design.md 3.8). */
export const warningWithoutRepeatable = {
  scenario: "input-required-result-ignore-extra-params",
  check: "sep-2322-ignore-unexpected-params",
};

/**
 * Checks that wait 500 or 600 ms for a call's answer, and the one that comes back for it once and not again. A call whose worker is
 * killed is made again, but only when the lease has shown that the worker is dead. A restarting process takes a core of a small
 * machine for as long.
 */
export const timeLimited: ReadonlySet<string> = new Set([
  "sep-2575-server-no-log-without-loglevel",
  "sep-2575-http-server-no-independent-requests-on-stream",
  "server-sse-disconnect-resume",
]);

/** Scenarios with an answer that begins before it ends: who is cut in the middle can't go on with the same one. */
export const streamed: ReadonlySet<string> = new Set([
  "tools-call-with-progress",
  // A call of seconds that reads its first stream to the end: the suite takes a cut ("terminated") for a failure.
  "server-sse-polling",
]);
