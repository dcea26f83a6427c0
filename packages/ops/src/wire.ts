/**
 * The JSON of `/ops/api`: what the pages are written against. Types only; times are epoch milliseconds.
 *
 * W1 Nothing here but `Revealed` holds a value of an author, a client or a person.
 */
import type {
  AuditItem,
  HistoryCounts,
  InstanceInfo,
  RunEvent,
  RunStatus,
  RunSummary,
} from "@reprise/runtime";
import type { KeyStanding, QueueStanding } from "./ports.ts";

/** What somebody who has signed in may do. */
export type Role = "viewer" | "operator";

/** Actions on a run. */
export type RunAction = "cancel" | "retry" | "finish" | "release";
/** All actions that change something. */
export type ActionName = RunAction | "pause" | "resume" | "resize" | "drain" | "rotate" | "revoke";

/** What stands beside a button. */
export interface ActionNote {
  readonly label: string;
  /** What it does. */
  readonly does: string;
  /** What a client that comes again gets afterwards. */
  readonly clients: string;
  /** Statuses of runs that it applies to; empty for actions that are not about a run. */
  readonly on: readonly RunStatus[];
}

/** Who looks, and what there is to see. */
export interface Me {
  readonly server: string;
  readonly actor: string;
  readonly role: Role;
  /** Sent back as `x-reprise-csrf` with every POST. */
  readonly csrf: string;
  readonly has: {
    readonly queues: boolean;
    readonly keys: boolean;
    readonly drain: boolean;
    readonly board: boolean;
  };
  readonly actions: Readonly<Record<ActionName, ActionNote>>;
}

/** What all processes that live have counted in the last minutes, whatever history keeps of it. */
export interface Lately {
  /** The longest time that one of them speaks of: 5 minutes, less after a start. */
  readonly spanMs: number;
  readonly endedPerMinute: number;
  readonly ended: number;
  /** Of those that ended, with an error. */
  readonly failed: number;
  /** Events that history dropped: lists and counts lack runs that went well. */
  readonly dropped: number;
}

/** Errors of the newest changes of runs, of at most 100 runs and an hour. */
export interface RecentErrors {
  readonly looked: number;
  readonly codes: readonly { readonly code: string; readonly count: number }[];
}

/** The first page. */
export interface Overview {
  readonly at: number;
  readonly health: { readonly ok: boolean; readonly reason?: string };
  readonly counts: HistoryCounts;
  /** Undefined while no process has told of it: none lives, or all began just now. */
  readonly lately: Lately | undefined;
  readonly recent: RecentErrors;
  readonly instances: readonly InstanceInfo[];
  /** What the store holds and may hold; undefined where it has no limit or can't tell. */
  readonly room: { readonly usedBytes: number; readonly limitBytes: number } | undefined;
  readonly queues: readonly QueueStanding[] | undefined;
  readonly keys:
    | { readonly sealing: number; readonly oldestSealingAt: number | undefined }
    | undefined;
}

/** A page of a list of runs. */
export interface RunsPage {
  readonly runs: readonly RunSummary[];
  readonly next: string | undefined;
}

/** One entry of a journal without its value. */
export interface EntryOutline {
  readonly index: number;
  readonly kind: string;
  readonly name: string;
  readonly at: number;
  readonly outcome: string | undefined;
}

/** What the record says, without values. */
export interface RecordOutline {
  readonly status: RunStatus;
  readonly method: string;
  readonly handler: { readonly kind: string; readonly name: string };
  readonly principal: string;
  readonly client: string | undefined;
  readonly protocolVersion: string | undefined;
  readonly round: number;
  readonly epoch: number;
  readonly version: string;
  readonly takeovers: number;
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly expiresAt: number;
  /** Until when an answer is taken; 0 when no question was ever sent. */
  readonly answerUntil: number;
  readonly hasKey: boolean;
  readonly keyFree: boolean;
  readonly pending: readonly { readonly key: string; readonly method: string }[];
  /** Steps that were started and are not recorded. */
  readonly open: readonly { readonly step: string; readonly since: number }[];
  readonly response: { readonly kind: string; readonly code: string | undefined } | undefined;
  /** The first and the last ones of a long journal. */
  readonly entries: readonly EntryOutline[];
  readonly entryCount: number;
}

/** A run's page. */
export interface RunView {
  readonly runId: string;
  /** Undefined when history has forgotten it, or never had it. */
  readonly summary: RunSummary | undefined;
  /** Undefined when the run has no record (any more). */
  readonly record: RecordOutline | undefined;
  readonly events: readonly RunEvent[];
}

/** A value as text, cut at 16,384 characters. */
export interface RevealedValue {
  readonly label: string;
  readonly text: string;
  readonly cut: boolean;
}

/** What `reveal` shows. Each time it is asked for is in the audit log. */
export interface Revealed {
  readonly part: "question" | "all";
  readonly values: readonly RevealedValue[];
}

/** What an action came to. */
export interface ActionResult {
  readonly outcome: "done" | "not_applicable" | "unknown";
  readonly status?: RunStatus;
  readonly why?: string;
  /** The action was done and could not be written into the audit log; the process's own log has it. */
  readonly unaudited?: true;
}

/** What cancelling many came to, so far. */
export interface ManyResult {
  readonly done: number;
  readonly notApplicable: number;
  /** Goes on with the same filter; undefined when all that matched were looked at. */
  readonly next: string | undefined;
}

/** A page of the audit log. */
export interface AuditPage {
  readonly items: readonly AuditItem[];
  /** `before` of the next page. */
  readonly next: number | undefined;
}

/** Lists that need no page. */
export interface InstancesPage {
  readonly instances: readonly InstanceInfo[];
}
export interface QueuesPage {
  readonly queues: readonly QueueStanding[];
}
export interface KeysPage {
  readonly keys: readonly KeyStanding[];
}

/** What the stream of changes says: when it differs from the one before, something the pages show has changed. */
export interface Pulse {
  readonly at: number;
  readonly ok: boolean;
  readonly counts: HistoryCounts | undefined;
  readonly newest: { readonly runId: string; readonly updatedAt: number } | undefined;
}

/** Every refusal. */
export interface Refusal {
  readonly error: { readonly code: string; readonly message: string };
}
