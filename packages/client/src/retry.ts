/**
 * When a request is repeated, and after how long.
 *
 * Called by the exchange. Pure but for the clock port. Two causes, bounded apart: a connection that broke (nobody knows whether
 * the server did it: repeat with the same idempotency key, state and answers), and a server that answered "later" with
 * `data.retryAfterMs` (it did not do it, or is doing it). A refusal without `retryAfterMs` is never repeated.
 */
import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client";

/** Time, as the client uses it. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Resolves after `ms`, or rejects with the signal's reason when it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** Bounds of repeating. */
export interface RetryPolicy {
  /** How often one round is sent when connections break, the first time included. Default 6; 1 never repeats. */
  readonly attempts: number;
  /** Wait before the first repeat; doubles each time, with up to a quarter of jitter. Default 250. */
  readonly firstDelayMs: number;
  /** Longest wait between two repeats of a broken connection. Default 10,000. */
  readonly maxDelayMs: number;
  /** How long a round follows the server's `retryAfterMs` in all. Default 600,000. */
  readonly maxBusyMs: number;
}

/** The defaults of `RetryPolicy`. */
const defaultRetry: RetryPolicy = Object.freeze({
  attempts: 6,
  firstDelayMs: 250,
  maxDelayMs: 10_000,
  maxBusyMs: 600_000,
});

/** The connection broke before the response was there. Local to this package: it becomes SERVER_UNREACHABLE. */
export class ConnectionLost extends Error {
  override get name(): string {
    return "ConnectionLost";
  }
}

/** What an error means for the request that met it. */
export type Verdict =
  | { readonly kind: "broken" }
  | { readonly kind: "busy"; readonly retryAfterMs: number }
  | { readonly kind: "final" };

/** Decides about an error that the official client or the transport threw. */
export function judge(error: unknown): Verdict {
  if (isBroken(error)) return { kind: "broken" };
  const retryAfterMs = error instanceof ProtocolError ? retryAfter(error.data) : undefined;
  return retryAfterMs === undefined ? { kind: "final" } : { kind: "busy", retryAfterMs };
}

/** The wait before repeat number `repeat` (1 is the first) of a broken request. */
export function backoffMs(policy: RetryPolicy, repeat: number, random: number): number {
  const plain = Math.min(policy.firstDelayMs * 2 ** (repeat - 1), policy.maxDelayMs);
  return Math.round(plain * (1 + random / 4));
}

/** Checks a policy once, at construction. */
export function retryPolicy(given: Partial<RetryPolicy> = {}): RetryPolicy {
  const policy = { ...defaultRetry, ...given };
  if (!Number.isSafeInteger(policy.attempts) || policy.attempts < 1) {
    throw new RangeError("retry.attempts must be a whole number of at least 1");
  }
  for (const name of ["firstDelayMs", "maxDelayMs", "maxBusyMs"] as const) {
    if (!Number.isFinite(policy[name]) || policy[name] < 0) {
      throw new RangeError(`retry.${name} must be a number of at least 0`);
    }
  }
  return policy;
}

function isBroken(error: unknown): boolean {
  if (error instanceof ConnectionLost) return true;
  // A gateway that lost its upstream, and a server that died in the middle, say 5xx.
  if (error instanceof SdkHttpError) return error.status >= 500;
  if (!(error instanceof SdkError)) return false;
  switch (error.code) {
    case SdkErrorCode.ConnectionClosed:
    case SdkErrorCode.RequestTimeout:
      return true;
    case SdkErrorCode.EraNegotiationFailed:
      return error.cause instanceof ConnectionLost;
    default:
      return false;
  }
}

function retryAfter(data: unknown): number | undefined {
  if (typeof data !== "object" || data === null || !("retryAfterMs" in data)) return undefined;
  const { retryAfterMs } = data;
  return typeof retryAfterMs === "number" && Number.isFinite(retryAfterMs) && retryAfterMs >= 0
    ? retryAfterMs
    : undefined;
}
