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

/** What is known once these events of one run are told as well. @throws RangeError for no events */
export function historyAfter(
  before: KeptHistory | undefined,
  events: readonly RunEvent[],
): KeptHistory {
  let kept = before?.format === HISTORY_FORMAT ? before : undefined;
  for (const event of events) kept = told(kept ?? born(event), event);
  if (kept === undefined) throw new RangeError("no events");
  return kept;
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

function told(kept: KeptHistory, event: RunEvent): KeptHistory {
  const { summary } = kept;
  const dated = {
    ...kept,
    told: kept.told + 1,
    summary: {
      ...summary,
      startedAt: Math.min(summary.startedAt, event.runStartedAt ?? event.at),
      updatedAt: Math.max(summary.updatedAt, event.at),
    },
  };
  // F1
  if (event.epoch < kept.epoch || event.round < summary.round) return dated;
  const { round, version, client, protocolVersion } = event;
  return changed(
    {
      ...dated,
      epoch: event.epoch,
      summary: { ...dated.summary, round, version, client, protocolVersion },
    },
    event,
  );
}

function changed(kept: KeptHistory, event: RunEvent): KeptHistory {
  switch (event.type) {
    case "attempt_started":
      return standing({ ...kept, summary: { ...kept.summary, code: undefined } }, "running");
    case "step_started":
    case "answered":
      return kept;
    case "step_ended":
      return event.undo ? afterUndo(kept, event) : afterStep(kept, event);
    case "asked": {
      const waiting = { asks: event.asks, since: event.at, until: event.until };
      return standing({ ...kept, asked: waiting }, "waiting");
    }
    case "attempt_ended": {
      const status = event.status ?? statusAfter[event.outcome];
      const ended = { ...kept, summary: { ...kept.summary, code: event.code } };
      // Whoever has the run now tells where it stands.
      return event.outcome === "lost" || status === undefined ? kept : standing(ended, status);
    }
    case "replayed":
      return standing(kept, event.status);
    case "acted":
      return standing(kept, event.status);
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

function afterStep(kept: KeptHistory, { step, outcome }: StepEnded): KeptHistory {
  // As the journal has it: a completed step stands for all that came before it.
  if (outcome === "completed") return { ...kept, uncertain: [] };
  const others = kept.uncertain.filter((name) => name !== step);
  return { ...kept, uncertain: outcome === "uncertain" ? [...others, step] : others };
}

function afterUndo(kept: KeptHistory, { step, outcome }: StepEnded): KeptHistory {
  const others = kept.undoFailed.filter((name) => name !== step);
  return { ...kept, undoFailed: outcome === "completed" ? others : [...others, step] };
}

function standing(kept: KeptHistory, status: RunStatus): KeptHistory {
  const waiting = status === "waiting" ? kept.asked : undefined;
  return {
    ...kept,
    summary: { ...kept.summary, status, waiting, attention: attentionOf(kept, status) },
  };
}

function attentionOf(
  { uncertain, undoFailed }: KeptHistory,
  status: RunStatus,
): Attention | undefined {
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
