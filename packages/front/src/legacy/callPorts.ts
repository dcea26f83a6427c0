/**
 * What calls need of the lane and of the response that they answer.
 */
import type { Clock, Runtime, SharedRecords } from "@reprise/runtime";
import type { Wheel } from "../wheel.ts";
import type { LegacyCall } from "./call.ts";
import type { EventSink } from "./eventStream.ts";
import type { CallerLimits } from "./limits.ts";
import type { LegacyConfig } from "./options.ts";
import type { Presence } from "./presence.ts";

/** Shared by all calls of a front. */
export interface CallPorts {
  readonly runtime: Runtime;
  readonly shared: SharedRecords;
  readonly clock: Clock;
  readonly wheel: Wheel;
  readonly presence: Presence;
  readonly limits: CallerLimits;
  /** This front among all. */
  readonly me: string;
  readonly config: LegacyConfig;
  /** After this long in silence an open stream gets a comment. */
  readonly heartbeatMs: number;
  /** After this long without a response a call's stream opens, so that a broken connection can be resumed. */
  readonly commitAfterMs: number;
  /** The calls that this front drives, by id. */
  readonly calls: Map<string, LegacyCall>;
  /** Take-overs by this front that are under way, by id of the call. */
  readonly takeOvers: Map<string, Promise<LegacyCall | undefined>>;
  /** Tells another front to look at a call. */
  readonly tell: (front: string, callId: string) => void;
  /** Ends a run, whoever executes it. */
  readonly cancelRun: (runId: string, principal: string, reason: string | undefined) => void;
  /** Told of what failed and is nobody's answer. */
  readonly failed: (error: unknown) => void;
}

/** The response to the request that began a call. Exactly one of the three ends or opens it. */
export interface CallResponse {
  /** One JSON object. `outcome` is for metrics. */
  json(status: number, body: string, outcome: string): void;
  /** An event stream; whoever opened it tells `ended` how it went. */
  stream(): EventSink;
  /** Nothing: the call was cancelled. */
  nothing(): void;
  /** The call that was opened as a stream has ended. */
  ended(outcome: string): void;
}
