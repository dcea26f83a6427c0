/**
 * `npm run bench [-- SUITE...] [--json FILE] [--rounds N] [--seconds S] [--source]`
 *
 * Measures the suites named (`calls`, `steps`, `profile`; the first two when none is), prints ratios and
 * conditions, and writes every sample to FILE. Exits with 0 whatever the figures are: a slow machine is no defect.
 */
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { prepareCode } from "./build.ts";
import { callsSuite } from "./callsSuite.ts";
import type { Timing } from "./measure.ts";
import { startLoadGenerator } from "./processes.ts";
import { profileSuite } from "./profileSuite.ts";
import { conditionLines, conditionsOf, linesOf } from "./report.ts";
import { stepsSuite } from "./stepsSuite.ts";
import type { Suite, SuiteResult } from "./suite.ts";

const suites: ReadonlyMap<string, Suite> = new Map([
  ["calls", callsSuite],
  ["steps", stepsSuite],
  ["profile", profileSuite],
]);
/** Run when none is named. */
const standard = ["calls", "steps"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: "string" },
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    source: { type: "boolean", default: false },
  },
});

const timing: Timing = {
  rounds: positive("rounds", values.rounds),
  durationMs: positive("seconds", values.seconds) * 1000,
  warmUpMs: 4000,
};
const wanted = positionals.length === 0 ? standard : positionals;
const chosen = wanted.map((name) => {
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
    results.push(await suite({ code, load, timing, onProgress: (line) => console.error(line) }));
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
