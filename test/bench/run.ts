/**
 * `npm run bench [-- SUITE...] [--json FILE] [--rounds N] [--seconds S] [--warm-up S] [--dialogues N] [--source]`
 *
 * Measures the suites named (`calls`, `steps`, `redisSteps`, `pool`, `waiting`, `peers`, `profile`; all but the last two when
 * none is; `dialogues`, `flow` and `held` are the three parts of `waiting`), prints ratios and conditions, and writes every sample to FILE. Exits with 0 whatever the figures are: a slow machine is no defect.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { prepareCode } from "./build.ts";
import { callsSuite } from "./callsSuite.ts";
import { flowSuite } from "./flowSuite.ts";
import { heldSuite } from "./heldSuite.ts";
import type { Timing } from "./measure.ts";
import { peersSuite } from "./peersSuite.ts";
import { poolSuite } from "./poolSuite.ts";
import { startLoadGenerator } from "./processes.ts";
import { profileSuite } from "./profileSuite.ts";
import { redisStepsSuite } from "./redisStepsSuite.ts";
import { conditionLines, conditionsOf, linesOf } from "./report.ts";
import { stepsSuite } from "./stepsSuite.ts";
import type { Suite, SuiteResult } from "./suite.ts";
import { waitingSuite } from "./waitingSuite.ts";

const suites: ReadonlyMap<string, readonly Suite[]> = new Map([
  ["calls", [callsSuite]],
  ["steps", [stepsSuite]],
  ["redisSteps", [redisStepsSuite]],
  ["pool", [poolSuite]],
  ["waiting", [waitingSuite, flowSuite, heldSuite]],
  ["dialogues", [waitingSuite]],
  ["flow", [flowSuite]],
  ["held", [heldSuite]],
  ["peers", [peersSuite]],
  ["profile", [profileSuite]],
]);
/** Run when none is named: all but the one that installs other systems and the one that compares nothing. */
const standard = ["calls", "steps", "redisSteps", "pool", "waiting"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "string" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    "warm-up": { type: "string", default: "4" },
    dialogues: { type: "string", default: "10000" },
    source: { type: "boolean", default: false },
  },
});

const timing: Timing = {
  rounds: positive("rounds", values.rounds),
  durationMs: positive("seconds", values.seconds) * 1000,
  warmUpMs: positive("warm-up", values["warm-up"]) * 1000,
};
const dialogues = positive("dialogues", values.dialogues);
const wanted = positionals.length === 0 ? standard : positionals;
const chosen = wanted.flatMap((name) => {
  const suite = suites.get(name);
  if (suite === undefined)
    throw new RangeError(`"${name}" is no suite: ${[...suites.keys()].join(", ")}`);
  return suite;
});

const code = prepareCode(values.source);
const load = startLoadGenerator(code);
const results: SuiteResult[] = [];
try {
  for (const suite of chosen) {
    results.push(
      await suite({ code, load, timing, dialogues, onProgress: (line) => console.error(line) }),
    );
  }
} finally {
  await load.stop();
}

const conditions = conditionsOf(code.text, timing);
for (const result of results) console.log(`${linesOf(result).join("\n")}\n`);
console.log(conditionLines(conditions).join("\n"));
if (values.json !== undefined) {
  await writeFile(values.json, `${JSON.stringify({ conditions, results }, undefined, 2)}\n`);
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new RangeError(`"--${option}" must be a positive number, not ${text}`);
  return value;
}
