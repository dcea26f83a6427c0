/**
 * The settings of the test suites: the only file of `test` that reads the environment.
 *
 * `npm run test:long` sets REPRISE_TEST_LONG and draws a seed; every other run has the same one, so that a change is judged
 * by what it changed. A failed seeded run prints its seed, and REPRISE_TEST_SEED repeats it or chooses another
 * sample. Suites import the values and never look at the environment themselves, so one run has one size and one seed
 * everywhere, also in the child processes that inherit both variables.
 */
import process from "node:process";

const USUAL_SEED = 20_260_728;

/** Whether the full matrices and case counts are wanted instead of CI's seeded sample. */
export const longRun: boolean = process.env["REPRISE_TEST_LONG"] === "1";

/** The seed of everything drawn at random in this run, 0 to 2^31 - 1. Print it beside what it decided. */
export const seed: number = parseSeed(process.env["REPRISE_TEST_SEED"]);

/** Time limit of one test that plays many cases, in milliseconds: far above what it takes, also while others run. */
export const manyCasesMs: number = longRun ? 900_000 : 120_000;

/** The one random case to play, by the number that its failure printed; undefined: all. */
export const onlyCase: number | undefined = parseCase(process.env["REPRISE_TEST_CASE"]);

function parseCase(text: string | undefined): number | undefined {
  return text === undefined || text === "" ? undefined : parseSeed(text);
}

function parseSeed(text: string | undefined): number {
  if (text === undefined || text === "") {
    // Chosen once in the parent of all workers and handed on, so that every suite of a run shares it.
    const drawn = longRun ? Math.floor(Math.random() * 2 ** 31) : USUAL_SEED;
    process.env["REPRISE_TEST_SEED"] = String(drawn);
    return drawn;
  }
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 31) {
    throw new RangeError(`"REPRISE_TEST_SEED" must be an integer of 0 to 2147483647, not ${text}`);
  }
  return value;
}

/** A port that a person chose for a program of `test`: `PORT`, `SHOP_PORT`. 0 is a free one. */
export function portFromEnvironment(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === "") return otherwise;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) {
    throw new RangeError(`${name} must be a port, 0 to 65535, not ${JSON.stringify(text)}`);
  }
  return port;
}

/** The folders with commands, as the system separates them. */
export const commandPath: string = process.env["PATH"] ?? "";

/**
 * The environment for a child that must behave as in a person's own shell: what npm and vitest put there
 * for the running script is left out (npm would install into the checkout otherwise), what a person
 * configured (registry, proxy, cache) stays, `extra` is laid over.
 */
export function plainEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !ofTheRunningScript.test(name));
  return { ...Object.fromEntries(kept), ...extra };
}

const ofTheRunningScript =
  /^(npm_(lifecycle|package|command|execpath|node_execpath|config_(local_|global_)?prefix)|VITEST|NODE_ENV$|NODE_OPTIONS$|INIT_CWD$)/i;
