/**
 * What an attempt starts from: what is recorded of its run, and what its request brought.
 */
import type { Entry } from "@reprise/journal";
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
  readonly openStepSince: number | undefined;
  readonly stepStarted: boolean;
  readonly startedAt: number;
  /** Version of the handler now, and of the attempt that recorded `pending`. */
  readonly version: string;
  readonly recordedVersion: string;
  readonly capabilities: ClientCapabilities;
}
