/** What every suite of the bench is: it starts its servers, measures, and compares. */
import type { CodeOrigin } from "./build.ts";
import type { Measured, Timing } from "./measure.ts";
import type { LoadGenerator } from "./processes.ts";
import type { Spread } from "./stats.ts";

/** What a suite is given. */
export interface SuiteContext {
  readonly code: CodeOrigin;
  readonly load: LoadGenerator;
  readonly timing: Timing;
  /** How many dialogues wait at once in the suite `dialogues`. */
  readonly dialogues: number;
  readonly onProgress: (line: string) => void;
}

/** One comparison. */
export interface Ratio {
  readonly name: string;
  readonly value: Spread;
  /** The aim of the project for this ratio, when it has one. */
  readonly target?: { readonly atLeast: number } | { readonly atMost: number };
}

/** What a suite found. */
export interface SuiteResult {
  readonly suite: string;
  readonly ratios: readonly Ratio[];
  readonly measured: readonly Measured[];
  /** What the figures do not say; printed with them. */
  readonly limits: readonly string[];
  /** Further lines for the report. */
  readonly notes?: readonly string[];
}

export type Suite = (context: SuiteContext) => Promise<SuiteResult>;

/** The samples of a case by name; a name that was not measured is a mistake of the suite. */
export function samplesOf(measured: readonly Measured[], name: string): Measured["samples"] {
  const found = measured.find((each) => each.name === name);
  if (found === undefined) throw new Error(`case "${name}" was not measured`);
  return found.samples;
}
