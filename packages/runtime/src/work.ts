/**
 * A worker's side of the dispatcher port: executes what a front recorded or asked for.
 *
 * X1 A queued attempt is executed only after this process has claimed exactly it (docs/design.md 7).
 * X2 A worker never waits for another attempt: that is the front's to do, so one worker alone can't block itself.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { readAnswers, withClientErrors } from "./answers.ts";
import { causeOf } from "./attemptReporter.ts";
import type { CallReply, RemoteCall, RunJob, Sender } from "./dispatcher.ts";
import { type EngineDeps, isDrain, stateExpiry } from "./engineDeps.ts";
import { startOnce } from "./onceAttempt.ts";
import { executeFirstOnce } from "./onceLane.ts";
import { OnceSink } from "./onceSink.ts";
import { carried } from "./pooled.ts";
import { argsOf, handlerNamed } from "./recordedHandler.ts";
import { executeRepeatable } from "./repeatableLane.ts";
import type { NotificationSink, RunReply, RunRequest } from "./runtimeTypes.ts";
import type { RunStore } from "./storePort.ts";

/** Executes a queued attempt to its recorded end. Rejects when the store can't be reached before it began. */
export async function executeQueued(
  deps: EngineDeps,
  store: RunStore,
  job: RunJob,
  notifications: NotificationSink | undefined,
): Promise<void> {
  const { catalog, clock, log, random } = deps;
  const { runId, epoch } = job;
  const known = await store.load(runId);
  // Looked at before the claim, so that a job which was carried twice costs little.
  if (known?.head.queued !== true || known.head.epoch !== epoch) return;
  const { origin } = known;
  const handler = handlerNamed(catalog, origin.handler, origin.target);
  if (handler === undefined) {
    const { round } = known.head;
    log.warn(
      { run: runId, round, handler: origin.handler.name },
      "this release has no such handler",
    );
    return;
  }
  // Before the claim: what an author's schema does wrong must not cost the run an attempt.
  const args = await argsOf(catalog, handler, origin.target, origin.params);
  if (deps.isDraining()) return;
  const claimedAt = clock.monotonic();
  const claimed = await store.claimQueued({
    runId,
    epoch,
    version: handler.version,
    token: random(),
    stateExpiresAt: stateExpiry(deps, handler),
  });
  if (claimed.tag === "STALE") return;
  const { head, entries } = claimed.record;
  // By two clocks: the store's, and that of this process.
  const queuedMs = Math.max(0, clock.now() - known.head.claimedAt);
  const sink = new OnceSink(store, clock, log, claimed.ref, undefined, claimedAt);
  const { outcome } = startOnce(deps, sink, {
    handler,
    args,
    target: origin.target,
    origin: () => origin,
    startedAt: origin.startedAt,
    head,
    entries,
    caller: job.caller ?? origin.caller,
    client: job.client ?? origin.client,
    notifications,
    logLevel: job.logLevel,
    begun: () => ({
      cause: causeOf(head, claimed.takeover),
      queuedMs,
      traceparent: job.traceparent,
    }),
  });
  const { kind } = await outcome;
  const about = { run: runId, round: head.round, handler: handler.name };
  log.debug({ ...about, epoch, outcome: kind }, "a queued attempt has ended");
}

/** Executes a call that has no record. Rejects with RepriseErrors that are replies. */
export async function executeCall(
  deps: EngineDeps,
  call: RemoteCall,
  notifications: NotificationSink | undefined,
  sender: Sender,
): Promise<CallReply> {
  if (deps.isDraining()) return { kind: "unanswered", died: false };
  const handler = handlerNamed(deps.catalog, call.handler, call.target);
  // A deploy is on its way: a worker that has it may take it, but not forever.
  if (handler === undefined) return { kind: "unanswered", died: true };
  const args = await argsOf(deps.catalog, handler, call.target, call.params);
  const request: RunRequest = {
    method: call.method,
    handler,
    target: call.target,
    args,
    params: call.params,
    caller: call.caller,
    client: call.client,
    requestState: call.requestState,
    inputResponses: call.inputResponses,
    clientErrors: call.clientErrors,
    idempotencyKey: undefined,
    logLevel: call.logLevel,
    traceparent: call.traceparent,
    notifications,
    cancelled: sender.cancelled,
    get isGone() {
      return sender.isGone;
    },
    onGone: (listener) => sender.onGone(listener),
  };
  try {
    const reply = await execute(deps, request, call.runId);
    return reply === undefined ? { kind: "unanswered", died: false } : carried(reply);
  } catch (error) {
    // Given back: another worker goes on, and the one who waits never learns.
    if (isRepriseError(error) && isDrain(error)) return { kind: "unanswered", died: false };
    throw error;
  }
}

async function execute(
  deps: EngineDeps,
  request: RunRequest,
  runId: string,
): Promise<RunReply | undefined> {
  const { store, tokens } = deps;
  const answers = readAnswers(request.inputResponses);
  if (request.requestState !== undefined) {
    const { state } = await tokens.open(request.requestState, tokens.bindingOf(request), request);
    if (state.kind === "repeatable") {
      const brought = withClientErrors(answers, request.clientErrors);
      return executeRepeatable(deps, request, brought, state);
    }
    throw new RepriseError("INTERNAL", "a once run with a record is no call");
  }
  if (store === undefined || request.handler.effects === "repeatable") {
    return executeRepeatable(deps, request, answers, undefined);
  }
  return executeFirstOnce(deps, store, request, runId);
}
