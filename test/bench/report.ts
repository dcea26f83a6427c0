/**
 * Prints what a suite found: ratios and targets first, then the figures, then under which conditions.
 */
import { cpus, release } from "node:os";
import type { Measured, Timing } from "./measure.ts";
import { pinningText } from "./pinning.ts";
import { type Spread, spread } from "./stats.ts";
import type { Ratio, SuiteResult } from "./suite.ts";

/** What the figures depend on. */
export interface Conditions {
  readonly node: string;
  readonly cores: number;
  readonly cpu: string;
  readonly kernel: string;
  readonly pinning: string;
  readonly code: string;
  readonly timing: Timing;
}

/** Describes this machine and this run. */
export function conditionsOf(code: string, timing: Timing): Conditions {
  const cores = cpus();
  return {
    node: process.version,
    cores: cores.length,
    cpu: cores[0]?.model ?? "unknown",
    kernel: release(),
    pinning: pinningText,
    code,
    timing,
  };
}

/** Whether a ratio's median meets its target; undefined without one. */
export function isMet({ value, target }: Ratio): boolean | undefined {
  if (target === undefined) return undefined;
  return "atLeast" in target ? value.median >= target.atLeast : value.median <= target.atMost;
}

/** The lines of one suite's report. */
export function linesOf(result: SuiteResult): readonly string[] {
  return [
    `Suite ${result.suite}`,
    ...result.ratios.map((ratio) => `  ${ratioLine(ratio)}`),
    ...(result.measured.length === 0 ? [] : table(result.measured)),
    "",
    ...result.limits.map((limit) => `  - ${limit}`),
    "",
    ...(result.notes ?? []),
  ];
}

function table(all: readonly Measured[]): readonly string[] {
  return [
    "",
    `  ${columns(["case", "ops/s", "least-greatest", "p50 ms", "p99 ms", "CPU us/op", "others"])}`,
    ...all.map((measured) => `  ${columns(figures(measured))}`),
  ];
}

/** The lines of the conditions. */
export function conditionLines(conditions: Conditions): readonly string[] {
  const { timing } = conditions;
  return [
    "Conditions",
    `  node ${conditions.node}, ${conditions.cores} cores (${conditions.cpu}), kernel ${conditions.kernel}`,
    `  ${conditions.pinning}; ${conditions.code}`,
    `  ${timing.rounds} interleaved rounds of ${timing.durationMs} ms per case after ${timing.warmUpMs} ms of warm-up`,
    "  ratios: median of the rounds' ratios, least to greatest",
    "  ops/s, p50 and p99 as seen by the client, median of the rounds; CPU us/op: time of the server's processes",
    "  per operation, in 10 ms ticks; others: cores used by other programs meanwhile, a measure of disturbance",
    "  not measured: other machines, networks, TLS, larger messages",
  ];
}

function ratioLine(ratio: Ratio): string {
  const { value, target } = ratio;
  const isOne = value.min === value.max;
  const range = isOne
    ? text(value.median)
    : `${text(value.median)} (${text(value.min)}-${text(value.max)})`;
  const verdict = isMet(ratio);
  if (target === undefined || verdict === undefined) return `${ratio.name}: ${range}`;
  const aim = "atLeast" in target ? `at least ${target.atLeast}` : `at most ${target.atMost}`;
  return `${ratio.name}: ${range}; target ${aim}: ${verdict ? "met" : "NOT MET"}`;
}

function figures({ name, samples }: Measured): string[] {
  const of = (value: (sample: (typeof samples)[number]) => number): Spread =>
    spread(samples.map(value));
  const rate = of((sample) => (sample.operations / sample.elapsedMs) * 1000);
  return [
    name,
    text(rate.median),
    `${text(rate.min)}-${text(rate.max)}`,
    text(of((sample) => sample.p50Ms).median),
    text(of((sample) => sample.p99Ms).median),
    text(of((sample) => (sample.serverCpuMs / sample.operations) * 1000).median),
    text(of((sample) => sample.otherCpuMs / sample.elapsedMs).median),
  ];
}

const widths = [38, 9, 16, 9, 9, 10, 7];

function columns(cells: readonly string[]): string {
  return cells
    .map((cell, index) =>
      index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0),
    )
    .join(" ");
}

/** Three digits that matter. */
function text(value: number): string {
  if (!Number.isFinite(value)) return "-";
  if (value === 0) return "0";
  return Math.abs(value) >= 1000 ? value.toFixed(0) : value.toPrecision(3);
}
