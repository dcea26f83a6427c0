/**
 * tools/call, prompts/get and resources/read: from an admitted request to a RunRequest, and from the runtime's reply
 * to a response.
 *
 * Everything that can refuse a request without running it happens here, in this order: parameters, Mcp-Name, target,
 * scopes, Mcp-Param-*, needs, arguments. Then the runtime has it.
 */
import { RepriseError } from "@reprise/errors";
import {
  checkParamHeaders,
  completeResult,
  type Headers,
  inputRequiredResult,
  type JsonObject,
  type ModernRequest,
  metaKeys,
  type ResultEnding,
} from "@reprise/protocol";
import type {
  ArgsCheck,
  Caller,
  CompiledHandler,
  NotificationSink,
  RunMethod,
  RunReply,
  RunRequest,
  Runtime,
} from "@reprise/runtime";
import type { ScopeRule } from "./auth/scopes.ts";
import type { Exchange } from "./exchange.ts";
import type { StreamSettings } from "./notificationStream.ts";
import { checkNeeds, findTarget, type Target } from "./target.ts";

/** What runs need of the front. */
export interface RunSettings {
  readonly runtime: Runtime;
  readonly stream: StreamSettings;
  /** What enforces handlers' scopes; undefined where there are no tokens. */
  readonly scopes: ScopeRule | undefined;
  readonly serverInfo: JsonObject;
  readonly plainEnding: ResultEnding;
  /** Reads carry cache hints. */
  readonly readEnding: ResultEnding;
  /** Told of what the runtime or a definition threw and should not have. */
  readonly failed: (error: unknown) => void;
}

/** Runs a request and ends its exchange. */
export function run(
  method: RunMethod,
  request: ModernRequest,
  headers: Headers,
  caller: Caller,
  exchange: Exchange,
  settings: RunSettings,
): void {
  const { catalog, wholeCatalog } = settings.runtime;
  // What goes on has begun before it was switched off; a state that is none is refused by the runtime.
  const served = request.params["requestState"] === undefined ? catalog : wholeCatalog;
  const target = findTarget(method, request.params, served, headers);
  const { handler } = target;
  if (handler.scopes.length > 0) settings.scopes?.check(caller, handler.scopes, exchange);
  if (handler.headerParams.length > 0) {
    checkParamHeaders(headers, handler.headerParams, target.rawArgs);
  }
  checkNeeds(handler, request.meta.clientCapabilities);
  const checked = handler.checkArgs(target.rawArgs);
  if (checked instanceof Promise) {
    checked
      .then((check) => execute(method, target, check, request, caller, exchange, settings))
      .catch((error: unknown) => fail(error, exchange, settings));
  } else {
    execute(method, target, checked, request, caller, exchange, settings);
  }
}

function execute(
  method: RunMethod,
  target: Target,
  check: ArgsCheck,
  request: ModernRequest,
  caller: Caller,
  exchange: Exchange,
  settings: RunSettings,
): void {
  if (!check.ok) {
    refuseArgs(method, check.message, exchange, settings);
    return;
  }
  const { meta } = request;
  const stream = exchange.notify(meta.progressToken, meta.logLevel !== undefined, settings.stream);
  settings.runtime
    .execute(new FrontRunRequest(method, target, check.args, request, caller, exchange, stream))
    .then(
      (reply) => respond(method, reply, exchange, settings),
      (error: unknown) => fail(error, exchange, settings),
    );
}

/** The request as the runtime sees it. Its getters look at the connection: don't copy the object, keep it. */
class FrontRunRequest implements RunRequest {
  readonly method: RunMethod;
  readonly handler: CompiledHandler;
  readonly target: string;
  readonly args: unknown;
  readonly params: JsonObject;
  readonly caller: Caller;
  readonly client: RunRequest["client"];
  readonly requestState: unknown;
  readonly inputResponses: unknown;
  readonly idempotencyKey: unknown;
  readonly logLevel: RunRequest["logLevel"];
  readonly notifications: NotificationSink | undefined;
  readonly #exchange: Exchange;

  constructor(
    method: RunMethod,
    target: Target,
    args: unknown,
    request: ModernRequest,
    caller: Caller,
    exchange: Exchange,
    notifications: NotificationSink | undefined,
  ) {
    const { meta, params } = request;
    this.method = method;
    this.handler = target.handler;
    this.target = target.target;
    this.args = args;
    this.params = params;
    this.caller = caller;
    this.client = {
      info: meta.clientInfo,
      capabilities: meta.clientCapabilities,
      protocolVersion: meta.protocolVersion,
    };
    this.requestState = params["requestState"];
    this.inputResponses = params["inputResponses"];
    this.idempotencyKey = meta.all[metaKeys.idempotencyKey];
    this.logLevel = meta.logLevel;
    this.notifications = notifications;
    this.#exchange = exchange;
  }

  get isGone(): boolean {
    return this.#exchange.isGone;
  }

  onGone(listener: () => void): () => void {
    return this.#exchange.onGone(listener);
  }
}

/** A model can mend its arguments, so it gets to see what is wrong with them (MCP 2026-07-28, tools, "Error Handling"). */
function refuseArgs(
  method: RunMethod,
  message: string,
  exchange: Exchange,
  settings: RunSettings,
): void {
  if (method !== "tools/call") {
    exchange.error(new RepriseError("INVALID_PARAMS", message));
    return;
  }
  const result = { content: [{ type: "text", text: message }], isError: true };
  exchange.result(completeResult(result, settings.plainEnding), "tool_error");
}

/** Never throws: nobody waits for this promise. */
function respond(
  method: RunMethod,
  reply: RunReply,
  exchange: Exchange,
  settings: RunSettings,
): void {
  try {
    render(method, reply, exchange, settings);
  } catch (error) {
    // A result that is no JSON after all.
    fail(error, exchange, settings);
  }
}

function render(
  method: RunMethod,
  reply: RunReply,
  exchange: Exchange,
  settings: RunSettings,
): void {
  switch (reply.kind) {
    case "complete": {
      const isRead = method === "resources/read";
      const ending = isRead ? settings.readEnding : settings.plainEnding;
      const outcome = reply.result["isError"] === true ? "tool_error" : "ok";
      exchange.result(completeResult(reply.result, ending), outcome);
      return;
    }
    case "input_required":
      exchange.result(
        inputRequiredResult(
          reply.inputRequests,
          reply.requestState,
          reply.answerBeforeMs,
          settings.serverInfo,
        ),
        "input_required",
      );
      return;
    case "error":
      exchange.error(reply.error);
  }
}

function fail(error: unknown, exchange: Exchange, settings: RunSettings): void {
  settings.failed(error);
  exchange.error(error);
}
