/**
 * The options of runtime and pool that a front and a worker take from the settings alike: the same handler must meet the same rules
 * wherever it runs.
 */
import type { PoolDispatcherOptions } from "@reprise/pool";
import { createStateSealer } from "@reprise/request-state";
import {
  type Clock,
  type Logger,
  type RuntimeOptions,
  type ServerDefinition,
  systemClock,
} from "@reprise/runtime";
import type { Settings } from "./settings.ts";
import type { Shared } from "./shared.ts";
import { instanceName, Signals } from "./signals.ts";

/** The signals of a role; the store of `shared` is to be reached through them. */
export function roleSignals(
  server: ServerDefinition,
  { otlpEndpoint }: Settings,
  { ring, store }: Pick<Shared, "ring" | "store">,
  logger: Logger,
): Signals {
  const signals = new Signals({ server, otlpEndpoint, logger, clock: clockOf(store) });
  if (ring !== undefined) signals.keysShown(ring);
  return signals;
}

/** What `createRuntime` is given by both roles. */
export function runtimeOptions(
  server: ServerDefinition,
  settings: Settings,
  { store, keys }: Pick<Shared, "store" | "keys">,
  signals: Signals,
  logger: Logger,
): RuntimeOptions {
  const { maxRequestStateBytes, encryptRequestState } = settings;
  return {
    server,
    clock: clockOf(store),
    store: signals.storeMeasured(store),
    shared: store.shared,
    history: store.history,
    repeatableHistory: settings.repeatableHistory,
    observers: signals.observers,
    instance: instanceName,
    sealer: createStateSealer({
      keys,
      maxBytes: maxRequestStateBytes,
      encrypt: encryptRequestState,
    }),
    namespace: settings.namespace,
    requestStateLifetime: settings.requestStateLifetime,
    maxRequestStateBytes,
    replayStallMs: settings.replayStallMs,
    settleGraceMs: settings.settleGraceMs,
    joinTimeoutMs: settings.joinTimeoutMs,
    drainTimeoutMs: settings.drainTimeoutMs,
    maxConcurrentAttempts: settings.maxConcurrentAttempts,
    rateLimit:
      settings.rateLimitPerMinute === 0
        ? "none"
        : { perMinute: settings.rateLimitPerMinute, burst: settings.rateLimitBurst },
    logger,
  };
}

/**
 * The time of a role: the store's. Deadlines of questions, tokens and records are set by one instance and judged by Redis or by
 * another instance; set by the wall clock of a machine that is a day behind, they would be over at once.
 */
export function clockOf(store: Shared["store"]): Clock {
  return { ...systemClock, now: () => store.now() };
}

/** What both sides of the pool must be told alike. */
export function poolOptions(
  { namespace, leaseMs, jobEncryptionKey }: Settings,
  { connection }: Pick<Shared, "connection">,
  logger: Logger,
): Pick<
  PoolDispatcherOptions,
  "connection" | "namespace" | "leaseMs" | "jobEncryptionKey" | "logger"
> {
  const keys = jobEncryptionKey.length === 0 ? {} : { jobEncryptionKey };
  return { connection, namespace, leaseMs, ...keys, logger };
}
