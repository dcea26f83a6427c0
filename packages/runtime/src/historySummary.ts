/**
 * What is known of a run from its events: its row in lists, and what later events are judged by.
 *
 * Called by the adapters of the history port, with what they kept of the run and its next events. Pure: no time, no store.
 *
 * F1 Events of one run may come from several processes and in another order. An event of an older attempt than the newest that
 *    was told of changes nothing but the timeline, and no event makes the row older.
 * F2 A row says what its events say. Whether the record still stands so, the reader asks (`checkedHistory.ts`).
 */
import type { Attention, RunSummary } from "./historyPort.ts";
import type { AttemptEnd, RunEvent } from "./observer.ts";
import type { RunStatus } from "./runRecord.ts";

/** Number of the format in which adapters keep what is known of a run. */
const HISTORY_FORMAT = 1;

/** What is kept of a run besides its events. */
export interface KeptHistory {
  readonly format: number;
  readonly summary: RunSummary;
  /** Of the newest attempt that an event told of. */
  readonly epoch: number;
  /** How many events were told; not all of them are kept. */
  readonly told: number;
  /** The newest questions, also once they are answered: a replay may show that they are open still. */
  readonly asked: RunSummary["waiting"];
  /** Steps that may have happened, with no completed step after them. */
  readonly uncertain: readonly string[];
  /** Undo functions that failed and have not succeeded since. */
  readonly undoFailed: readonly string[];
}

/** What is known of a run while its events are read: one object for all of them, since there are many. */
type Draft = { -readonly [Name in Exclude<keyof KeptHistory, "summary">]: KeptHistory[Name] } & {
  readonly summary: { -readonly [Name in keyof RunSummary]: RunSummary[Name] };
};

/** What is known once these events of one run are told as well. @throws RangeError for no events */
export function historyAfter(
  before: KeptHistory | undefined,
  events: readonly RunEvent[],
): KeptHistory {
  const [first] = events;
  if (first === undefined) throw new RangeError("no events");
  const known = before?.format === HISTORY_FORMAT ? before : born(first);
  const draft: Draft = { ...known, summary: { ...known.summary } };
  for (const event of events) tell(draft, event);
  return draft;
}

function born(event: RunEvent): KeptHistory {
  return {
    format: HISTORY_FORMAT,
    summary: {
      runId: event.runId ?? "",
      handler: event.handler,
      status: "running",
      principal: event.principal,
      client: event.client,
      protocolVersion: event.protocolVersion,
      round: event.round,
      version: event.version,
      effects: event.effects,
      startedAt: event.runStartedAt ?? event.at,
      updatedAt: event.at,
      waiting: undefined,
      attention: undefined,
      code: undefined,
    },
    epoch: event.epoch,
    told: 0,
    asked: undefined,
    uncertain: [],
    undoFailed: [],
  };
}

function tell(draft: Draft, event: RunEvent): void {
  const { summary } = draft;
  draft.told += 1;
  summary.startedAt = Math.min(summary.startedAt, event.runStartedAt ?? event.at);
  summary.updatedAt = Math.max(summary.updatedAt, event.at);
  // F1
  if (event.epoch < draft.epoch || event.round < summary.round) return;
  draft.epoch = event.epoch;
  summary.round = event.round;
  summary.version = event.version;
  summary.client = event.client;
  summary.protocolVersion = event.protocolVersion;
  change(draft, event);
}

function change(draft: Draft, event: RunEvent): void {
  switch (event.type) {
    case "attempt_started":
      draft.summary.code = undefined;
      return stand(draft, "running");
    case "step_started":
    case "answered":
      return;
    case "step_ended":
      if (event.undo) draft.undoFailed = afterUndo(draft, event);
      else draft.uncertain = afterStep(draft, event);
      return;
    case "asked":
      draft.asked = { asks: event.asks, since: event.at, until: event.until };
      return stand(draft, "waiting");
    case "attempt_ended": {
      const status = event.status ?? statusAfter[event.outcome];
      // Whoever has the run now tells where it stands.
      if (event.outcome === "lost" || status === undefined) return;
      draft.summary.code = event.code;
      return stand(draft, status);
    }
    case "replayed":
    case "acted":
      return stand(draft, event.status);
  }
}

/** Where an attempt leaves its run that does not say so itself. */
const statusAfter: Readonly<Partial<Record<AttemptEnd, RunStatus>>> = {
  suspended: "waiting",
  completed: "completed",
  failed: "failed",
  interrupted: "interrupted",
  released: "running",
  mismatched: "mismatched",
  parked: "parked",
  cancelled: "cancelled",
  undone: "undone",
};

type StepEnded = Extract<RunEvent, { readonly type: "step_ended" }>;

function afterStep({ uncertain }: Draft, { step, outcome }: StepEnded): readonly string[] {
  // As the journal has it: a completed step stands for all that came before it.
  if (outcome === "completed") return [];
  const others = uncertain.filter((name) => name !== step);
  return outcome === "uncertain" ? [...others, step] : others;
}

function afterUndo({ undoFailed }: Draft, { step, outcome }: StepEnded): readonly string[] {
  const others = undoFailed.filter((name) => name !== step);
  return outcome === "completed" ? others : [...others, step];
}

function stand(draft: Draft, status: RunStatus): void {
  draft.summary.status = status;
  draft.summary.waiting = status === "waiting" ? draft.asked : undefined;
  draft.summary.attention = attentionOf(draft, status);
}

function attentionOf({ uncertain, undoFailed }: Draft, status: RunStatus): Attention | undefined {
  switch (status) {
    case "interrupted":
    case "mismatched":
      return status;
    case "parked":
      return undoFailed.length > 0 ? "failed_undo" : "parked";
    case "completed":
    case "failed":
      return uncertain.length > 0 ? "uncertain" : undefined;
    default:
      return undefined;
  }
}
