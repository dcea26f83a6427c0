/**
 * What operators do to runs, on a store (operatorPort.ts).
 *
 * Made by `createRuntime` as `runtime.operator`, and by the command for a process that serves nothing (`storeOperator`).
 *
 * A1 Each action is one transition of the store; what is told of it afterwards never fails it.
 * A2 A process that sweeps goes on at once with a run that it released or retried; else the next sweep of any process does.
 */
import { cancelRun } from "./cancellation.ts";
import { type Clock, systemClock } from "./clock.ts";
import { compileServer } from "./compile.ts";
import type { ServerDefinition } from "./definition.ts";
import type { HistoryStore } from "./historyPort.ts";
import { scopesOf } from "./idempotency.ts";
import { silentLogger } from "./logger.ts";
import { eventOf, type RunEvent, type RunNews } from "./observer.ts";
import type { FinishOptions, OperatorOutcome, RunOperator } from "./operatorPort.ts";
import { randomText } from "./randomText.ts";
import { CallerError, failureResponse, promptResult, resourceResult } from "./results.ts";
import type { RunRecord } from "./runRecord.ts";
import { RunReporter } from "./runReporter.ts";
import type { CancelOutcome, Catalog } from "./runtimeTypes.ts";
import type { FinishRun, OperateReply, RunStore } from "./storePort.ts";

/** Longest text that a caller is told of an end by hand. */
const MAX_TEXT = 2_000;

/** What an operator is made of. */
export interface OperatorParts {
  readonly store: RunStore;
  /** What idempotency scopes are bound to: namespace and server name. */
  readonly audience: string;
  /** Tells which tools owe structured results by now; undefined: the run's record alone does. */
  readonly catalog: Catalog | undefined;
  readonly reporter: RunReporter | undefined;
  cancel(runId: string, reason: string | undefined): Promise<CancelOutcome>;
  /** Goes on with a run, in this process. */
  look(runId: string): void;
}

/** Actions on the runs of a store. */
export function createOperator(parts: OperatorParts): RunOperator {
  const { store, audience, catalog, reporter } = parts;
  const tell = async (
    runId: string,
    action: "released" | "retried" | "finished",
  ): Promise<void> => {
    // The action stands, whether somebody hears of it or not (A1).
    const record = reporter && (await store.load(runId).catch(() => undefined));
    if (record !== undefined) reporter?.acted(record, action);
  };
  return {
    show: (runId) => store.load(runId),
    findByKey: async (tool, key, principal) => {
      for (const scope of scopesOf(audience, tool, key, principal)) {
        const runId = await store.leadsTo(scope);
        if (runId !== undefined) return runId;
      }
      return undefined;
    },
    cancel: async (runId, reason) => {
      const outcome = await parts.cancel(runId, reason);
      switch (outcome.kind) {
        case "cancelled":
          return { kind: "done", status: outcome.undoing === true ? "running" : "cancelled" };
        case "ended":
          return { kind: "not_applicable", status: outcome.status, why: "it has ended" };
        case "unknown":
          return { kind: "unknown" };
      }
    },
    retry: async (runId) => {
      const reply = await store.retry({ runId, token: randomText() });
      if (reply.tag === "DONE") {
        await tell(runId, "retried");
        parts.look(runId);
      }
      return outcomeOf(reply);
    },
    finish: async (runId, options) => {
      checkText(options.text);
      const record = await store.load(runId);
      if (record === undefined) return { kind: "unknown" };
      const hindrance = options.as === "completed" && owesStructure(catalog, record);
      if (hindrance !== false) {
        const { status } = record.head;
        return { kind: "not_applicable", status, why: hindrance };
      }
      const reply = await store.finish({ runId, as: options.as, response: ended(record, options) });
      if (reply.tag === "DONE") await tell(runId, "finished");
      return outcomeOf(reply);
    },
    release: async (runId) => {
      const reply = await store.release(runId);
      switch (reply.tag) {
        case "RELEASED":
          await tell(runId, "released");
          parts.look(runId);
          return { kind: "done", status: "running" };
        case "NOT_PARKED": {
          const why = "only parked and mismatched runs are released";
          return { kind: "not_applicable", status: reply.status, why };
        }
        case "LOST":
          return { kind: "unknown" };
      }
    },
  };
}

/** Where a process without a runtime acts. */
export interface StoreOperatorOptions {
  readonly store: RunStore;
  /** Hears of each action, before its outcome is given. */
  readonly history?: HistoryStore | undefined;
  /** As the instances have it. Default `reprise`. */
  readonly namespace?: string | undefined;
  /** Name of the served definition; only `findByKey` needs it. */
  readonly server?: string | undefined;
  /** The served definition, where it is at hand: which tools owe structured results by now. */
  readonly definition?: ServerDefinition | undefined;
  readonly clock?: Clock | undefined;
}

/** Actions on the runs of a store, by a process that executes none of them. */
export function storeOperator(options: StoreOperatorOptions): RunOperator {
  const { store, history, namespace = "reprise", server = "", clock = systemClock } = options;
  const told: RunEvent[] = [];
  const observer = { run: (news: RunNews) => void told.push(eventOf(news)) };
  const reporter = new RunReporter([observer], `operator-${randomText()}`, clock, silentLogger);
  const operator = createOperator({
    store,
    audience: `${namespace} ${server}`,
    catalog: options.definition === undefined ? undefined : compileServer(options.definition),
    reporter,
    cancel: (runId, reason) => cancelRun({ reporter }, store, runId, { reason }),
    look: () => undefined,
  });
  const keeping = async (outcome: Promise<OperatorOutcome>): Promise<OperatorOutcome> => {
    const found = await outcome;
    const events = told.splice(0);
    if (events.length > 0) await history?.record(events).catch(() => undefined);
    return found;
  };
  return {
    ...operator,
    cancel: (runId, reason) => keeping(operator.cancel(runId, reason)),
    retry: (runId) => keeping(operator.retry(runId)),
    finish: (runId, finish) => keeping(operator.finish(runId, finish)),
    release: (runId) => keeping(operator.release(runId)),
  };
}

function outcomeOf(reply: OperateReply): OperatorOutcome {
  switch (reply.tag) {
    case "DONE":
      return { kind: "done", status: reply.status };
    case "NOT_APPLICABLE":
      return { kind: "not_applicable", status: reply.status, why: reply.why };
    case "LOST":
      return { kind: "unknown" };
  }
}

/** What the caller is told of an end by hand, in the form that the request wants. */
function ended({ origin }: RunRecord, { as, text }: FinishOptions): FinishRun["response"] {
  const { kind, name } = origin.handler;
  if (as === "failed") return failureResponse(kind, new CallerError(text), origin.runId);
  switch (origin.method) {
    case "tools/call":
      return { kind: "complete", result: { content: [{ type: "text", text }] } };
    case "prompts/get":
      return { kind: "complete", result: promptResult(text, name) };
    case "resources/read":
      return { kind: "complete", result: resourceResult(text, origin.target, undefined, name) };
  }
}

/** By what the run's record says, and by what clients are told of the tool by now. */
function owesStructure(catalog: Catalog | undefined, { origin }: RunRecord): string | false {
  if (origin.method !== "tools/call") return false;
  const isOwing = catalog?.findTool(origin.handler.name)?.owesStructure === true;
  if (origin.owesStructure !== true && !isOwing) return false;
  return "its tool has an output schema, which a text can't fit: finish it as failed";
}

function checkText(text: string): void {
  if (text.length >= 1 && text.length <= MAX_TEXT) return;
  throw new RangeError(`text must have 1 to ${MAX_TEXT} characters, got ${text.length}`);
}
