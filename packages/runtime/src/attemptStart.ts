/**
 * What an attempt starts from (what is recorded of its run, and what its request brought), and what it works with.
 */
import type { Entry, ScheduleTurn } from "@reprise/journal";
import type { AttemptReporter } from "./attemptReporter.ts";
import type { Clock } from "./clock.ts";
import type { Elicitations } from "./elicitations.ts";
import type { Logger } from "./logger.ts";
import type { FactSink } from "./recorder.ts";
import type { BroughtAnswer, PendingAsk, RunHead, StepMark } from "./runRecord.ts";
import type { ClientCapabilities } from "./wireTypes.ts";

/** What an attempt starts from. */
export interface AttemptStart {
  readonly entries: readonly Entry[];
  /** Usable answers by ask key: they count only for the question that they were given to. */
  readonly brought: Readonly<Record<string, BroughtAnswer>>;
  /** Answers to questions that were not asked: only for `elicit`, `sample`, `listRoots` (docs/design.md 3.8). */
  readonly unasked: Readonly<Record<string, BroughtAnswer>>;
  /** The questions that `brought` answers. */
  readonly pending: readonly PendingAsk[];
  readonly state: Readonly<Record<string, string>>;
  readonly drafts: RunHead["drafts"];
  readonly marks: Readonly<Record<string, StepMark>>;
  /** Marked steps that the handler need not come to: they stood behind a failure that runs again. */
  readonly passable: readonly string[];
  readonly openStepSince: number | undefined;
  readonly stepStarted: boolean;
  /** Every step that was started wrote a mark first. */
  readonly stepsMarked?: boolean;
  /** The handler is replayed for its undo functions: nothing of it goes live. */
  readonly undoes?: boolean;
  readonly startedAt: number;
  /** Rounds that have ended. */
  readonly round: number;
  /** Version of the handler now, and of the attempt that recorded `pending`. */
  readonly version: string;
  readonly recordedVersion: string;
  readonly capabilities: ClientCapabilities;
}

/** Steps that may have happened and that the handler must ask for again. */
export function owedSteps({ marks, passable, entries }: AttemptStart): readonly string[] {
  const names = Object.keys(marks);
  if (names.length === 0) return names;
  const recorded = new Set(
    entries.flatMap((one) => (one.kind === "step_failed" ? [one.name] : [])),
  );
  return names.filter((name) => !passable.includes(name) && !recorded.has(name));
}

/** What an attempt works with. */
export interface AttemptPorts {
  readonly clock: Clock;
  readonly turn: ScheduleTurn;
  readonly log: Logger;
  readonly sink: FactSink;
  readonly elicitations: Elicitations;
  /** Longest silence of a handler while entries are undelivered. */
  readonly replayStallMs: number;
  /** How long an ended handler may take to clean up. */
  readonly settleGraceMs: number;
  readonly timeoutMs: number;
  /** The first question passed the capability check. */
  readonly asksChecked: (() => void) | undefined;
  /** Tells observers; undefined when there are none. */
  readonly report: AttemptReporter | undefined;
  /** A question leaves the handler where it is, for `resume`; else it ends the attempt. */
  readonly rests: boolean;
}
