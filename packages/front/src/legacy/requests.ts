/**
 * One legacy request of a session, from its method to its response.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import {
  type JsonObject,
  type LegacyRevision,
  legacyRevisions,
  type Message,
  readProgressToken,
  refuseArguments,
} from "@reprise/protocol";
import type { Caller, RunMethod } from "@reprise/runtime";
import { checkNeeds, findTarget } from "../target.ts";
import { LegacyCall } from "./call.ts";
import { callIdOf } from "./callId.ts";
import type { CallPorts } from "./callPorts.ts";
import type { CallWork } from "./callRequest.ts";
import { type MethodPorts, type ServedRevision, serveRevision } from "./methods.ts";
import { giveError, giveResult, type RequestResponse } from "./postResponse.ts";
import type { SessionRecord } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/** A message that wants a response. */
export type RequestMessage = Extract<Message, { readonly kind: "request" }>;

/** Who sent it. */
export interface Sender {
  readonly session: LegacySession;
  readonly record: SessionRecord;
  readonly caller: Caller;
}

/** Answers requests. */
export class LegacyRequests {
  readonly #served: ReadonlyMap<LegacyRevision, ServedRevision>;
  readonly #methodPorts: MethodPorts;
  readonly #ports: CallPorts;
  readonly #random: () => string;

  /** `random` gives ids of runs. */
  constructor(methodPorts: MethodPorts, ports: CallPorts, random: () => string) {
    this.#methodPorts = methodPorts;
    this.#ports = ports;
    this.#random = random;
    this.#served = new Map(legacyRevisions.map((each) => [each, serveRevision(each, methodPorts)]));
  }

  /** What a revision serves. */
  served(revision: LegacyRevision): ServedRevision {
    // Every revision that a session can have was built above.
    return this.#served.get(revision) ?? serveRevision(revision, this.#methodPorts);
  }

  /** Answers one request. Never rejects. */
  async answer(message: RequestMessage, sender: Sender, response: RequestResponse): Promise<void> {
    const { id, method, params = {} } = message;
    const { session, caller } = sender;
    try {
      const served = this.served(session.revision);
      if (served.runs.has(method as RunMethod)) {
        await this.#run(message, method as RunMethod, params, sender, response);
        return;
      }
      const handle = served.methods.get(method);
      if (handle === undefined) {
        throw new RepriseError(
          "METHOD_NOT_FOUND",
          `There is no method ${method.slice(0, 128)} here.`,
        );
      }
      giveResult(response, id, await handle({ params, session, caller, response }));
    } catch (error) {
      giveError(response, this.#known(error), { id, method });
    }
  }

  async #run(
    { id }: RequestMessage,
    method: RunMethod,
    params: JsonObject,
    { session, record, caller }: Sender,
    response: RequestResponse,
  ): Promise<void> {
    const { handler, target, rawArgs } = findTarget(method, params, this.#methodPorts.catalog);
    this.#methodPorts.scopes?.check(caller, handler.scopes, response);
    checkNeeds(handler, session.capabilities);
    const progressToken = readProgressToken(params);
    const check = await handler.checkArgs(rawArgs);
    if (!check.ok) {
      const refusal = refuseArguments(method, check.message, session.revision);
      if (refusal.kind === "error") throw refusal.error;
      giveResult(response, id, JSON.stringify(refusal.result));
      return;
    }
    const callId = callIdOf(session.id, id);
    if (this.#ports.calls.has(callId)) {
      throw new RepriseError("INVALID_REQUEST", "A request with this id is under way.");
    }
    // Held as long as the call: see callRequest.ts.
    const work: CallWork = {
      requestId: id,
      method,
      params,
      handler,
      target,
      args: check.args,
      caller,
      progressToken,
      logLevel: record.logLevel,
      runId: this.#random(),
    };
    new LegacyCall(callId, session, work, this.#ports).begin(response);
  }

  #known(error: unknown): RepriseError {
    if (isRepriseError(error)) return error;
    this.#ports.failed(error);
    return new RepriseError("INTERNAL", "The server failed to answer.", { cause: error });
  }
}
