/**
 * What a runtime is made with: `RuntimeOptions` and its defaults.
 */
import type { ScheduleTurn } from "@reprise/journal";
import type { Clock } from "./clock.ts";
import type { Duration, ServerDefinition } from "./definition.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { HistoryStore, InstanceInfo } from "./historyPort.ts";
import type { Logger } from "./logger.ts";
import type { RunObserver } from "./observer.ts";
import type { RateLimit } from "./rateLimit.ts";
import type { SharedRecords } from "./sharedRecords.ts";
import type { StateSealer } from "./stateTokens.ts";
import type { RunStore } from "./storePort.ts";

/** Options of `createRuntime`. */
export interface RuntimeOptions {
  readonly server: ServerDefinition;
  /** Where once runs live. `"none"`: everything runs as repeatable (docs/design.md 4.1). */
  readonly store: RunStore | "none";
  /**
   * What all instances share besides runs: sessions, calls and their streams. Give the `shared` of the same store. Default:
   * records of this process alone, which no other instance sees and a restart forgets.
   */
  readonly shared?: SharedRecords | undefined;
  readonly sealer: StateSealer;
  /**
   * Has handlers executed by workers; the sweep then queues what it finds. Default: they run in this process. It is closed by
   * whoever made it, after the runtime.
   */
  readonly dispatcher?: Dispatcher | undefined;
  /** Part of what states are bound to. Default `"reprise"`. */
  readonly namespace?: string;
  /** How long a question may stay open. Default `"24h"`. */
  readonly requestStateLifetime?: Duration;
  /** Longest sealed state, in bytes. Default 32768. */
  readonly maxRequestStateBytes?: number;
  /** Longest silence of a handler while journal entries are undelivered. Default 30000. */
  readonly replayStallMs?: number;
  /** How long an ended handler may clean up before its response goes. Default 1000. */
  readonly settleGraceMs?: number;
  /** How long a second request of a round waits for the first. Default 45000. */
  readonly joinTimeoutMs?: number;
  /** How long `close` waits for running attempts. Default 10000. */
  readonly drainTimeoutMs?: number;
  /** Attempts of this process at one time; more get BUSY. Default 1000. */
  readonly maxConcurrentAttempts?: number;
  /** Calls of one principal, not counting callers without auth. Default 1200 a minute, 200 at once. */
  readonly rateLimit?: RateLimit | "none";
  /** Whether this process goes on with runs whose attempt died. Default true. */
  readonly sweep?: boolean;
  readonly clock?: Clock;
  readonly turn?: ScheduleTurn;
  /** Text of at least 128 random bits, of `A-Z a-z 0-9 _ -`: ids, tokens, seeds. For simulations that repeat. Default: random. */
  readonly random?: () => string;
  readonly logger?: Logger;
  /** Who is told what happens to runs. Default: nobody, and nothing is spent on it. */
  readonly observers?: readonly RunObserver[];
  /** What observers are told that this process is called. At most 200 characters. Default: drawn. */
  readonly instance?: string;
  /** Where operators see what happened: an observer hands it there in the background. Default: nowhere. */
  readonly history?: HistoryStore | undefined;
  /**
   * Whether runs of repeatable handlers leave a history too: they have no record, and a question that stays open is then data in the
   * store all the same. Default false.
   */
  readonly repeatableHistory?: boolean | undefined;
  /** What this process says of itself there. Default: `front` with a dispatcher, else `embedded`. */
  readonly role?: InstanceInfo["role"] | undefined;
}

/** What holds where the options say nothing. */
export const runtimeDefaults: Pick<
  Required<RuntimeOptions>,
  | "maxRequestStateBytes"
  | "replayStallMs"
  | "settleGraceMs"
  | "joinTimeoutMs"
  | "drainTimeoutMs"
  | "maxConcurrentAttempts"
> = {
  maxRequestStateBytes: 32 * 1024,
  replayStallMs: 30_000,
  settleGraceMs: 1000,
  joinTimeoutMs: 45_000,
  drainTimeoutMs: 10_000,
  maxConcurrentAttempts: 1000,
};
