/**
 * Ids of traces and spans that every instance derives alike from a run's id.
 *
 * So a later round, on another instance and without asking any store, names the span in which its run began.
 */
import { createHash } from "node:crypto";
import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import { type IdGenerator, RandomIdGenerator } from "@opentelemetry/sdk-trace-base";

/** A `traceparent`, taken apart. */
export function parentOf(traceparent: string): SpanContext | undefined {
  const [, traceId, spanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return { traceId, spanId, traceFlags, isRemote: true };
}

/** The span of a run's first attempt. @param firstTraceparent of the run's first request */
export function firstSpanOf(runId: string, firstTraceparent: string | undefined): SpanContext {
  const parent = firstTraceparent === undefined ? undefined : parentOf(firstTraceparent);
  const digest = createHash("sha256").update(`reprise run ${runId}`).digest("hex");
  return {
    traceId: parent?.traceId ?? digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    traceFlags: parent?.traceFlags ?? TraceFlags.SAMPLED,
    isRemote: true,
  };
}

/** Random ids, but for the one span whose ids are given before it is started. */
export class GivenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #next: Pick<SpanContext, "traceId" | "spanId"> | undefined;

  /** Starts a span with these ids; the trace id counts for one without a parent. */
  give<T>(ids: Pick<SpanContext, "traceId" | "spanId">, start: () => T): T {
    this.#next = ids;
    try {
      return start();
    } finally {
      this.#next = undefined;
    }
  }

  generateTraceId(): string {
    return this.#next?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#next?.spanId ?? this.#random.generateSpanId();
  }
}
