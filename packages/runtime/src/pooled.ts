/**
 * The front's side of runs that workers execute: requests as jobs, and replies of workers as replies.
 */
import { type ErrorCode, errorSpecs, RepriseError } from "@reprise/errors";
import type { JsonObject, JsonValue } from "@reprise/journal";
import { stableParams } from "./digest.ts";
import type { CallReply, Dispatcher, RemoteCall, RunJob } from "./dispatcher.ts";
import type { EngineDeps } from "./engineDeps.ts";
import { growing } from "./notifications.ts";
import { runCancelled } from "./replies.ts";
import { MAX_TAKEOVERS, type RunOrigin } from "./runRecord.ts";
import type { NotificationSink, RunReply, RunRequest } from "./runtimeTypes.ts";
import { traceparentOf } from "./traceparent.ts";

/** A request as a worker gets it. */
export function remoteCallOf(request: RunRequest, runId: string): RemoteCall {
  const { method, handler, target, caller, client, logLevel } = request;
  const { requestState, inputResponses, clientErrors } = request;
  const traceparent = traceparentOf(request.params);
  return {
    runId,
    method,
    queue: handler.queue,
    handler: { kind: handler.kind, name: handler.name },
    target,
    params: stableParams(request.params),
    caller,
    client,
    ...(requestState === undefined ? {} : { requestState: requestState as JsonValue }),
    ...(inputResponses === undefined ? {} : { inputResponses: inputResponses as JsonValue }),
    ...(clientErrors === undefined ? {} : { clientErrors }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The job of an attempt that `request` queued. */
export function runJobOf(
  request: RunRequest,
  attempt: { readonly runId: string; readonly round: number; readonly epoch: number },
  origin: RunOrigin | undefined,
): RunJob {
  const { caller, client, logLevel, handler } = request;
  const { runId, round, epoch } = attempt;
  const traceparent = traceparentOf(request.params);
  return {
    runId,
    round,
    epoch,
    queue: handler.queue,
    handler: { kind: handler.kind, name: handler.name },
    principal: caller.principal,
    ...(origin !== undefined && isSame(caller, origin.caller) ? {} : { caller }),
    ...(origin !== undefined && isSame(client, origin.client) ? {} : { client }),
    ...(logLevel === undefined ? {} : { logLevel }),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

/** The job of an attempt that nobody waits for. */
export function sweptJobOf(
  origin: RunOrigin,
  queue: string,
  { round, epoch }: { readonly round: number; readonly epoch: number },
): RunJob {
  const { runId, handler, caller } = origin;
  return { runId, round, epoch, queue, handler, principal: caller.principal };
}

/**
 * Has a repeatable round executed by a worker, and by another one when that is gone: its effects may repeat.
 * @throws RepriseError, which is the reply
 */
export async function executePooled(
  deps: EngineDeps,
  dispatcher: Dispatcher,
  request: RunRequest,
): Promise<RunReply> {
  const call = remoteCallOf(request, deps.random());
  const notifications = growing(request.notifications);
  const deaths = new Deaths();
  for (;;) {
    const reply = await called(deps, dispatcher, request, call, notifications);
    if (reply.kind !== "unanswered") return replyOf(reply);
    if (request.cancelled?.aborted === true) throw runCancelled();
    deaths.count(reply);
  }
}

/** One call; a process that drains gives up waiting for it. */
export async function called(
  deps: EngineDeps,
  dispatcher: Dispatcher,
  request: RunRequest,
  call: RemoteCall,
  notifications: NotificationSink | undefined,
): Promise<CallReply> {
  let stop: (reason?: RepriseError) => void = () => undefined;
  const drained = new Promise<never>((_, reject) => {
    stop = reject;
  });
  const waiting = { slot: 0, stop: (reason?: RepriseError) => stop(reason) };
  deps.attempts.add(waiting);
  try {
    return await Promise.race([dispatcher.call(call, notifications, request), drained]);
  } finally {
    deps.attempts.delete(waiting);
  }
}

/** Counts the workers that a call has cost. */
export class Deaths {
  #died = 0;

  /** @throws RepriseError INTERRUPTED when the sender is not to kill any more workers, as a recorded run is parked then */
  count(reply: Extract<CallReply, { readonly kind: "unanswered" }>): void {
    if (reply.died) this.#died += 1;
    if (this.#died <= MAX_TAKEOVERS) return;
    throw new RepriseError(
      "INTERRUPTED",
      `${this.#died} workers in a row were lost while they executed this call`,
      { data: { retryAfterMs: 10_000 } },
    );
  }
}

/** A worker's reply as the carrier gets it. */
export function replyOf(reply: Exclude<CallReply, { readonly kind: "unanswered" }>): RunReply {
  if (reply.kind !== "error") return reply;
  const { message, data } = reply;
  // A worker of another release may know codes that this one does not.
  const code = Object.hasOwn(errorSpecs, reply.code) ? (reply.code as ErrorCode) : "INTERNAL";
  return {
    kind: "error",
    error: new RepriseError(code, message, data === undefined ? {} : { data }),
  };
}

/** A reply as it is carried. */
export function carried(reply: RunReply): Exclude<CallReply, { readonly kind: "unanswered" }> {
  if (reply.kind !== "error") return reply;
  const { code, message, data } = reply.error;
  return {
    kind: "error",
    code,
    message,
    ...(data === undefined ? {} : { data: data as JsonObject }),
  };
}

function isSame(one: object, other: object): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
