/**
 * A legacy call as the runtime sees it: one RunRequest for each round.
 *
 * A client that goes away means nothing to a legacy call (docs/design.md 4.5): only `notifications/cancelled` ends it.
 */
import {
  type ClientError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  metaKeys,
  type RequestId,
} from "@reprise/protocol";
import type {
  Caller,
  CompiledHandler,
  LogLevel,
  NotificationSink,
  RunMethod,
  RunRequest,
} from "@reprise/runtime";
import type { LegacySession } from "./sessionToken.ts";

/** What is to be run, checked. */
export interface CallWork {
  readonly requestId: RequestId;
  readonly method: RunMethod;
  readonly params: JsonObject;
  readonly handler: CompiledHandler;
  /** Name or URI as the request gave it. */
  readonly target: string;
  readonly args: unknown;
  readonly caller: Caller;
  /** The session's level when the call began. */
  readonly logLevel: LogLevel | undefined;
  readonly progressToken: RequestId | undefined;
  readonly runId: string;
}

/** What a round brings. The first brings nothing. */
export interface CallRound {
  readonly requestState?: string;
  readonly inputResponses?: Readonly<Record<string, JsonObject>>;
  readonly clientErrors?: Readonly<Record<string, ClientError>>;
  /** The call was taken over: its run may be there already. */
  readonly mayExist?: true;
}

/** Where a round's notifications go, and what ends it. */
export interface RoundPorts {
  progress(value: number, total: number | undefined, message: string | undefined): void;
  log(level: LogLevel, data: unknown, logger: string | undefined): void;
  readonly cancelled: AbortSignal;
}

/** Whether calls of other sessions may go on with the run: it has a key, or may have one. */
export function isKeyed({ handler, params }: CallWork): boolean {
  return handler.hasKey || keyOf(params) !== undefined;
}

function keyOf({ _meta: meta }: JsonObject): JsonValue | undefined {
  return isJsonObject(meta) ? meta[metaKeys.idempotencyKey] : undefined;
}

const never = (): void => undefined;

/** The request of a round. */
export function runRequestOf(
  work: CallWork,
  session: LegacySession,
  round: CallRound,
  ports: RoundPorts,
): RunRequest {
  const { method, params, handler, target, args, caller, logLevel, runId } = work;
  // Held as long as the call: a literal without spreads, because V8 gives each object with those a hidden class of its own.
  return {
    method,
    params,
    handler,
    target,
    args,
    caller,
    logLevel,
    runId,
    client: {
      info: session.client,
      capabilities: session.capabilities,
      protocolVersion: session.revision,
    },
    requestState: round.requestState,
    inputResponses: round.inputResponses,
    clientErrors: round.clientErrors,
    mayExist: round.mayExist,
    idempotencyKey: keyOf(params),
    notifications: sinkOf(work, ports),
    cancelled: ports.cancelled,
    keepsHandler: true,
    isGone: false,
    onGone: () => never,
  };
}

function sinkOf({ progressToken, logLevel }: CallWork, ports: RoundPorts): NotificationSink {
  return {
    ...(progressToken === undefined
      ? {}
      : { progress: (value, total, message) => ports.progress(value, total, message) }),
    ...(logLevel === undefined
      ? {}
      : { log: (level, data, logger) => ports.log(level, data, logger) }),
  };
}
