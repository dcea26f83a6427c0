/**
 * Turns what happens to runs into spans. Given to a runtime as an observer; `openTraces` makes one that sends them.
 *
 * T1 An attempt is a span: child of its request's `_meta.traceparent`, linked to the run's first span (docs/design.md 10). Its steps
 *    are its children. While a person is asked there is no span.
 * T2 A suspended round is no error. Nothing that author, client or person wrote stands in a span, but names of handlers, steps and asks.
 * T3 What is open is bounded: an attempt that comes when `MAX_OPEN` are open gets no span.
 */
import {
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { NewsOf, RunNews, RunObserver } from "@reprise/runtime";
import { clientLabel } from "./clientNames.ts";
import { firstSpanOf, type GivenIds, parentOf } from "./traceIds.ts";

const MAX_OPEN = 10_000;

interface OpenAttempt {
  readonly span: Span;
  readonly context: Context;
  readonly at: number;
  /** By kind and name: an undo is beside its step. */
  readonly steps: Map<string, { readonly span: Span; readonly at: number }>;
}

/** @param ids those of the provider that `tracer` is of */
export function tracesObserver(
  tracer: Tracer,
  ids: GivenIds,
): RunObserver & { run(news: RunNews): void } {
  return new Tracing(tracer, ids);
}

class Tracing implements RunObserver {
  readonly #tracer: Tracer;
  readonly #ids: GivenIds;
  /** By number of the attempt in this process. */
  readonly #open = new Map<number, OpenAttempt>();

  constructor(tracer: Tracer, ids: GivenIds) {
    this.#tracer = tracer;
    this.#ids = ids;
  }

  run(event: RunNews): void {
    const { attempt } = event.run;
    if (attempt === undefined) return;
    if (event.type === "attempt_started") return this.#started(event, attempt);
    const open = this.#open.get(attempt);
    if (open === undefined) return;
    switch (event.type) {
      case "step_started":
        return this.#stepStarted(open, event);
      case "step_ended":
        return stepEnded(open, event);
      case "asked":
        open.span.setAttribute(
          "reprise.asks",
          event.asks.map(({ key }) => key),
        );
        return;
      case "answered": {
        const { key, kind, action, waitedMs } = event;
        const attributes = { key, kind, action, waited_ms: waitedMs };
        open.span.addEvent("answered", attributes, event.at);
        return;
      }
      case "attempt_ended":
        this.#open.delete(attempt);
        return ended(open, event);
      case "replayed":
      case "acted":
        // Of no attempt: there is no span that they belong to.
        return;
    }
  }

  #started(event: NewsOf<"attempt_started">, attempt: number): void {
    if (this.#open.size >= MAX_OPEN) return;
    const { run, traceparent, firstTraceparent, at } = event;
    const { runId } = run;
    const parent = traceparent === undefined ? undefined : parentOf(traceparent);
    const context =
      parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    const first = runId === undefined ? undefined : firstSpanOf(runId, firstTraceparent);
    const isFirst = run.round === 0 && run.epoch <= 1;
    const start = (): Span =>
      this.#tracer.startSpan(
        `${run.method} ${run.handler.name}`,
        {
          kind: SpanKind.SERVER,
          startTime: at,
          attributes: attributesOf(event),
          ...(first === undefined || isFirst ? {} : { links: [{ context: first }] }),
        },
        context,
      );
    const span = first !== undefined && isFirst ? this.#ids.give(first, start) : start();
    const own = trace.setSpan(ROOT_CONTEXT, span);
    this.#open.set(attempt, { span, context: own, at, steps: new Map() });
  }

  #stepStarted(
    { steps, context, span: attempt }: OpenAttempt,
    event: NewsOf<"step_started">,
  ): void {
    const name = stepName(event);
    const known = steps.get(name);
    if (known !== undefined) {
      known.span.addEvent("try", { number: event.try }, event.at);
      return;
    }
    if (!attempt.isRecording()) return;
    const options = {
      kind: SpanKind.CLIENT,
      startTime: event.at,
      attributes: { "reprise.step": event.step },
    };
    steps.set(name, { span: this.#tracer.startSpan(name, options, context), at: event.at });
  }
}

function stepName({ step, undo }: { readonly step: string; readonly undo: boolean }): string {
  return `${undo ? "undo" : "step"} ${step}`;
}

function stepEnded({ steps }: OpenAttempt, event: NewsOf<"step_ended">): void {
  const name = stepName(event);
  const step = steps.get(name);
  if (step === undefined) return;
  steps.delete(name);
  const { outcome, tries } = event;
  step.span.setAttributes({ "reprise.outcome": outcome, "reprise.tries": tries });
  if (outcome !== "completed")
    step.span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
  step.span.end(step.at + event.durationMs);
}

function ended({ span, steps, at }: OpenAttempt, event: NewsOf<"attempt_ended">): void {
  const end = at + event.durationMs;
  // An attempt that lost its run never tells how they ended.
  for (const step of steps.values()) step.span.end(end);
  const { outcome, code } = event;
  span.setAttribute("reprise.outcome", outcome);
  if (code !== undefined) span.setAttribute("error.type", code);
  if (outcome === "failed" || outcome === "mismatched" || outcome === "parked") {
    span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
  }
  span.end(end);
}

function attributesOf({ run, cause }: NewsOf<"attempt_started">): Record<string, string | number> {
  return {
    "mcp.method.name": run.method,
    "mcp.protocol.version": run.protocolVersion,
    "reprise.handler": run.handler.name,
    "reprise.effects": run.effects,
    "reprise.round": run.round,
    "reprise.epoch": run.epoch,
    "reprise.cause": cause,
    "reprise.version": run.version,
    "reprise.client": clientLabel(run.client),
    ...(run.runId === undefined ? {} : { "reprise.run": run.runId }),
  };
}
