/**
 * One round on the wire: a request, repeated until there is a response or no hope of one.
 *
 * Called by the call loop; calls the connection. Invariants:
 *
 * 1. A repeat is the same request in everything that decides what it does: arguments, idempotency key, state and answers. Only
 *    the JSON-RPC id is new (MCP 2026-07-28, multi round-trip requests, client requirement 3).
 * 2. Repeats are bounded (RetryPolicy). When they are used up after a break: SERVER_UNREACHABLE, and the caller still has the
 *    saved call. When the server keeps saying "later": its own last error.
 * 3. A refusal because of `Mcp-Param-*` headers is repeated once with the tool's definition read anew (streamable HTTP,
 *    "Client Behavior"): such a request was not executed.
 */
import {
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  ProtocolError,
  type Tool,
} from "@modelcontextprotocol/client";
import { errorSpecs, RepriseError } from "@reprise/errors";
import type { Connection, RoundOptions, RoundResult } from "./connection.ts";
import { backoffMs, type Clock, judge, type RetryPolicy } from "./retry.ts";
import type { SavedCall } from "./savedCall.ts";

/** `_meta` member that carries the call's idempotency key. */
const IDEMPOTENCY_KEY = "reprise/idempotencyKey";

/** What repeating needs. */
export interface Repeating {
  readonly retry: RetryPolicy;
  readonly clock: Clock;
  /** 0 <= random() < 1. Default Math.random; only spreads repeats, decides nothing. */
  readonly random: () => number;
}

/** Runs `attempt` until it returns, or fails for good. Used for rounds, and for opening the connection. */
export async function repeating<T>(
  attempt: () => Promise<T>,
  { retry, clock, random }: Repeating,
  signal: AbortSignal,
): Promise<T> {
  const busyUntil = clock.now() + retry.maxBusyMs;
  let broken = 0;
  for (;;) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal.throwIfAborted();
      const verdict = judge(error);
      if (verdict.kind === "final") throw error;
      if (verdict.kind === "busy") {
        if (clock.now() + verdict.retryAfterMs > busyUntil) throw error;
        broken = 0;
        await clock.sleep(verdict.retryAfterMs, signal);
        continue;
      }
      broken += 1;
      if (broken >= retry.attempts) throw unreachable(broken, error);
      await clock.sleep(backoffMs(retry, broken, random()), signal);
    }
  }
}

/** Sends the next request of `call`: its first, or the retry that brings the answers of its open round. */
export async function exchange(
  connection: Connection,
  call: SavedCall,
  repeat: Repeating,
  options: RoundOptions,
): Promise<{ readonly round: RoundResult; readonly tool: Tool | undefined }> {
  const { method } = call.request;
  const params = wireParams(call, options.logLevel);
  let refresh = false;
  const attempt = async (): Promise<{ round: RoundResult; tool: Tool | undefined }> => {
    const tool =
      method === "tools/call"
        ? await connection.tool(params["name"] as string, options.signal, refresh)
        : undefined;
    try {
      return { round: await connection.send(method, params, tool, options), tool };
    } catch (error) {
      if (refresh || method !== "tools/call" || !isHeaderMismatch(error)) throw error;
      refresh = true;
      return await attempt();
    }
  };
  return await repeating(attempt, repeat, options.signal);
}

function wireParams(
  { request, idempotencyKey, pending }: SavedCall,
  logLevel: LoggingLevel | undefined,
): Record<string, unknown> {
  return {
    ...request.params,
    ...(pending === undefined || Object.keys(pending.inputRequests).length === 0
      ? {}
      : { inputResponses: pending.answers }),
    ...(pending?.requestState === undefined ? {} : { requestState: pending.requestState }),
    _meta: {
      [IDEMPOTENCY_KEY]: idempotencyKey,
      ...(logLevel === undefined ? {} : { [LOG_LEVEL_META_KEY]: logLevel }),
    },
  };
}

function isHeaderMismatch(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === errorSpecs.HEADER_MISMATCH.rpcCode;
}

function unreachable(attempts: number, cause: unknown): RepriseError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new RepriseError(
    "SERVER_UNREACHABLE",
    `No response after ${attempts} ${attempts === 1 ? "attempt" : "attempts"}: ${why}.`,
    { data: { attempts }, cause },
  );
}
