/**
 * `npm run simulate -- --seeds N [--seed S] [--processes P]`: plays seeds from S on, tells how fast, and shows each that breaks a
 * promise, in the order of the seeds. What comes out does not hang on the number of processes.
 *
 * Ends with `N seeds, M violations`, and by code 1 when there is one. `--seeds 1 --seed S` plays one seed again.
 */
import { availableParallelism } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { playAll } from "./players.ts";
import { type Share, summed } from "./share.ts";

/** Longest silence between two lines, in milliseconds of the machine's clock. */
const TELL_EVERY_MS = 10_000;
const mostProcesses = 256;

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function wholeNumber(text: string, option: string, least: number, most = 2 ** 31 - 1): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new RangeError(`--${option} must be a whole number of ${least} to ${most}, not ${text}`);
}

interface Options {
  readonly seeds: number;
  readonly firstSeed: number;
  readonly processes: number;
}

function optionsOf(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: "string", default: "1000" },
      seed: { type: "string", default: "1" },
      processes: { type: "string", default: String(availableParallelism()) },
    },
  });
  return {
    seeds: wholeNumber(values.seeds, "seeds", 1),
    firstSeed: wholeNumber(values.seed, "seed", 0),
    processes: wholeNumber(values.processes, "processes", 1, mostProcesses),
  };
}

const words: Readonly<Record<(typeof summed)[number], string>> = {
  effects: "effects",
  questions: "questions",
  crashes: "crashes",
  pauses: "pauses",
  storeFailures: "store failures",
  expiries: "expired questions",
  pages: "completed pages",
  repeatables: "runs that may repeat",
};

async function main(): Promise<void> {
  const { seeds, firstSeed, processes } = optionsOf(process.argv.slice(2));
  const startedAt = performance.now();
  let toldAt = startedAt;
  const shares: Share[] = [];
  const total = (of: (share: Share) => number): number =>
    shares.reduce((sum, share) => sum + of(share), 0);
  const count = (): number => total((share) => share.seeds);
  const violations = (): number => total((share) => share.violations.length);
  const speed = (): string =>
    `${(count() / ((performance.now() - startedAt) / 1000)).toFixed(1)} seeds per second`;
  await playAll({ seeds, firstSeed }, processes, (share) => {
    shares.push(share);
    for (const { seed, message, story } of share.violations) {
      say(`${story}\nseed ${seed}: ${message}\n`);
    }
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    say(`${count()} of ${seeds} seeds, ${violations()} violations, ${speed()}`);
  });
  const sums = summed.map((what) => `${total(({ sums: own }) => own[what])} ${words[what]}`);
  const cpuMs = (total((share) => share.cpuMs) / seeds).toFixed(1);
  say(`${[`${total(({ events }) => events)} events`, ...sums].join(", ")}`);
  say(`${cpuMs} ms of processor time a seed, ${speed()}`);
  say(`${seeds} seeds, ${violations()} violations`);
  if (violations() > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
