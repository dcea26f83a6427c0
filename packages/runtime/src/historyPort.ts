/**
 * The history that operators read: what happened to runs during the last days, and lists of runs to look through.
 *
 * Asynchronous, bounded and droppable (docs/design.md 6): the record is the truth, this is what finds it. Readers check the run.
 *
 * H1 Recording never fails or delays a run; what can't be kept is dropped and counted.
 * H2 A page costs a bounded number of store commands and rows, whatever is kept. Lists are newest first unless asked for in another order.
 * H3 Nothing is kept that an author, a client or a person wrote, but names of handlers, steps and asks, and the principal.
 * H4 Everything is kept `HISTORY_MS` after its run's newest event, and at most `MAX_EVENTS_PER_RUN` events of a run (the first and
 *    the newest ones).
 */
import type { EndedLately } from "./endedRuns.ts";
import type { RunEvent } from "./observer.ts";
import type { RunStatus } from "./runRecord.ts";

/** How long history is kept: 7 days. */
export const HISTORY_MS: number = 7 * 24 * 60 * 60 * 1000;
/** Events that are kept of one run. */
export const MAX_EVENTS_PER_RUN: number = 500;
/** Longest page of a list. */
export const MAX_HISTORY_PAGE: number = 100;

/** What somebody should look at. */
export type Attention = "interrupted" | "mismatched" | "parked" | "uncertain" | "failed_undo";

/** One row of a list of runs. */
export interface RunSummary {
  readonly runId: string;
  readonly handler: { readonly kind: string; readonly name: string };
  readonly status: RunStatus;
  readonly principal: string;
  readonly client: string | undefined;
  readonly protocolVersion: string;
  readonly round: number;
  readonly version: string;
  /** `repeatable`: there is no record of it, only what was told. Absent in what an earlier release kept. */
  readonly effects?: "once" | "repeatable";
  /** Epoch milliseconds, all times. */
  readonly startedAt: number;
  readonly updatedAt: number;
  /** While it waits: keys and kinds of the open questions, since when, and until when. */
  readonly waiting:
    | {
        readonly asks: readonly { readonly key: string; readonly kind: string }[];
        readonly since: number;
        readonly until: number;
      }
    | undefined;
  readonly attention: Attention | undefined;
  /** Of the newest error response. */
  readonly code: string | undefined;
}

/** Which runs. All that is given must hold. */
export interface HistoryQuery {
  /** One list: `attention` is what somebody should look at, whatever its status. */
  readonly status?: RunStatus | "attention" | undefined;
  /** Name of the tool, prompt or resource. */
  readonly handler?: string | undefined;
  readonly principal?: string | undefined;
  /** Newest event from here (inclusive) to there (exclusive). */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** `longest_open`: of `status: "waiting"`, which question is open longest, without `from` and `to`. Default: the newest change first. */
  readonly order?: "longest_open" | undefined;
  /** 1 to MAX_HISTORY_PAGE. */
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of a list. May be shorter than `limit` although `next` is given: a page reads a bounded number of rows. */
export interface HistoryPage {
  readonly runs: readonly RunSummary[];
  readonly next: string | undefined;
}

/** How many runs stand where, and since when the oldest. */
export interface HistoryCounts {
  readonly byStatus: Readonly<Partial<Record<RunStatus | "attention", number>>>;
  /** Since when the oldest question is open; undefined when none is. */
  readonly oldestWaitingSince: number | undefined;
}

/** One instance of the deployment. */
export interface InstanceInfo {
  readonly instance: string;
  readonly role: "front" | "worker" | "embedded";
  readonly version: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly seenAt: number;
  /** Attempts that it executes. */
  readonly running: number;
  readonly draining: boolean;
  /** Runs whose end it recorded in the last minutes. Absent at its first beat, and of an earlier release. */
  readonly lately?: EndedLately;
}

/** An action of an operator. */
export interface AuditItem {
  readonly at: number;
  /** Who, as the sign-in says. */
  readonly actor: string;
  /** For example `cancel`, `reveal`, `revoke_key`. */
  readonly action: string;
  /** Run id, key id, queue or instance. */
  readonly target: string;
  /** What came of it. */
  readonly outcome: string;
}

/** Where history is kept. Every method rejects with RepriseError STORE_UNAVAILABLE. */
export interface HistoryStore {
  /**
   * Keeps events, in order of each run; summaries follow from them. At most 1,000 a call, else RangeError. Events of a run without
   * an id are passed over.
   */
  record(events: readonly RunEvent[]): Promise<void>;
  /** @throws RangeError for a limit or cursor that can't be meant */
  list(query: HistoryQuery): Promise<HistoryPage>;
  counts(): Promise<HistoryCounts>;
  /** Events of one run, oldest first. */
  timeline(runId: string): Promise<readonly RunEvent[]>;
  summary(runId: string): Promise<RunSummary | undefined>;
  /** Says that an instance lives; forgotten a minute after the last time. */
  beat(instance: InstanceInfo): Promise<void>;
  instances(): Promise<readonly InstanceInfo[]>;
  /** The audit log is kept 90 days. Two items never have one time: a later one is dated a millisecond on, so that pages lose none. */
  audit(item: AuditItem): Promise<void>;
  /** Newest first, of before `before`; at most `limit`, 1 to 1,000. */
  audits(limit: number, before?: number): Promise<readonly AuditItem[]>;
}
