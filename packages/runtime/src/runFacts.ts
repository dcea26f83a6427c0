/**
 * Facts of one attempt that ctx shows, drawn only when a handler looks: most calls need none of them.
 */
import type { Caller, ClientIdentity } from "./caller.ts";
import type { NotificationSink } from "./runtimeTypes.ts";
import type { LogLevel } from "./wireTypes.ts";

/** What ctx knows of its run and request. */
export interface RunFacts {
  readonly runId: () => string;
  readonly seed: () => string;
  /** What step keys are derived from: idempotency scope and generation, or the run id. */
  readonly keySource: () => string;
  readonly caller: Caller;
  readonly client: ClientIdentity;
  readonly notifications: NotificationSink | undefined;
  readonly logLevel: LogLevel | undefined;
  /** Whether a mark outlives the attempt; without one, only `"retry"` can be kept. */
  readonly keepsMarks: boolean;
  /** Whether what was done is recorded, so that it can be undone. */
  readonly canUndo: boolean;
  /** Words for errors, such as `tool "refund_order"`. */
  readonly handlerName: string;
}

const order: readonly LogLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
];

/** Whether a message of `level` passes a request's `threshold`. */
export function passesLevel(level: LogLevel, threshold: LogLevel): boolean {
  return order.indexOf(level) >= order.indexOf(threshold);
}
