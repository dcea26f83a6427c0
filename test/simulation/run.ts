/**
 * `npm run simulate -- --seeds N [--seed S]`: plays seeds from S on, tells how fast, and shows each that breaks a promise.
 *
 * Ends with `N seeds, M violations`, and by code 1 when there is one. `--seeds 1 --seed S` plays one seed again.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { simulate } from "@reprise/testing/simulation";

/** Longest silence between two lines, in milliseconds of the machine's clock. */
const TELL_EVERY_MS = 10_000;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function wholeNumber(text: string, option: string, least: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value < 2 ** 31) return value;
  throw new RangeError(`--${option} must be a whole number of ${least} to 2147483647, not ${text}`);
}

function optionsOf(args: readonly string[]): { seeds: number; firstSeed: number } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
    },
  });
  return {
    seeds: wholeNumber(values.seeds, "seeds", 1),
    firstSeed: wholeNumber(values.seed, "seed", 0),
  };
}

async function main(): Promise<void> {
  const { seeds, firstSeed } = optionsOf(process.argv.slice(2));
  const startedAt = performance.now();
  let toldAt = startedAt;
  let count = 0;
  let violations = 0;
  const speed = (): string =>
    `${(count / ((performance.now() - startedAt) / 1000)).toFixed(1)} seeds per second`;
  const { events, reports } = await simulate({
    seeds,
    firstSeed,
    onSeed: (seed, played) => {
      count += 1;
      if (played.kind === "violated") {
        violations += 1;
        say(`${played.violation.story}\nseed ${seed}: ${played.violation.message}\n`);
      }
      if (performance.now() - toldAt < TELL_EVERY_MS) return;
      toldAt = performance.now();
      say(`${count} of ${seeds} seeds, ${violations} violations, ${speed()}`);
    },
  });
  const sum = (of: "crashes" | "pauses" | "storeFailures" | "effects" | "questions"): number =>
    reports.reduce((total, report) => total + report[of], 0);
  say(
    `${events} events, ${sum("effects")} effects, ${sum("questions")} questions, ${sum("crashes")} crashes, ` +
      `${sum("pauses")} pauses, ${sum("storeFailures")} store failures; ${speed()}`,
  );
  say(`${seeds} seeds, ${violations} violations`);
  if (violations > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
