/**
 * The questions of servers of the handshake era, which come as requests of the server while a call is open.
 *
 * Registered with the official client; calls the same gates as the rounds of 2026-07-28, so that no era has an easier way to an
 * answer. Invariants:
 *
 * 1. A question belongs to the call on whose stream it came; on the session's own stream, where many servers put it, to the one
 *    call that is open, and with several open to all of them; so too where nobody can tell whose stream it was (streamScope.ts).
 *    Without any open call it is refused.
 * 2. Questions are put to the host one at a time, in the order in which they came, over all calls of the connection.
 * 3. `notifications/cancelled` for a question takes it from the screen; nothing is sent for it then.
 * 4. Nobody answers (`later`), or the host fails: the call is given up and the question stays without an answer. To answer
 *    "cancel" in the person's name would let the handler go on with something that nobody said.
 * 5. A refused sampling or roots question has an answer on this era (-1, sampling, "Error Handling"), and the call goes on.
 */
import {
  type Client,
  type CreateMessageResult,
  type ElicitResult,
  type InputResponse,
  type ListRootsResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import { isRepriseError, RepriseError } from "@reprise/errors";
import { type CallInFlight, kindName } from "./callInFlight.ts";
import { gather } from "./gates.ts";
import type { Ask, AskContext, Host } from "./host.ts";
import { parseAsk } from "./parseAsks.ts";
import type { StreamScope } from "./streamScope.ts";

/** MCP 2025-11-25, sampling, "Error Handling": the user rejected the request. */
const REFUSED_BY_PERSON = -1;

interface ServerRequest {
  readonly method: string;
  readonly params?: unknown;
}

/** See the top of this file. One for each connection. */
export class IncomingAsks {
  readonly #host: Host;
  readonly #underWay = new Set<CallInFlight>();
  readonly #streamScope: StreamScope;
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(host: Host, streamScope: StreamScope) {
    this.#host = host;
    this.#streamScope = streamScope;
  }

  /** Registers what the host can answer; before the client connects. Clients of 2026-07-28 never get such requests. */
  serve(client: Client): void {
    const { form, url, sample, roots } = this.#host;
    if (form !== undefined || url !== undefined) {
      client.setRequestHandler(
        "elicitation/create",
        async (request, { mcpReq }) => (await this.#answer(request, mcpReq.signal)) as ElicitResult,
      );
      client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
        this.#completed(params.elicitationId),
      );
    }
    if (sample !== undefined) {
      client.setRequestHandler(
        "sampling/createMessage",
        async (request, { mcpReq }) =>
          (await this.#answer(request, mcpReq.signal)) as CreateMessageResult,
      );
    }
    if (roots !== undefined) {
      client.setRequestHandler(
        "roots/list",
        async (request, { mcpReq }) =>
          (await this.#answer(request, mcpReq.signal)) as ListRootsResult,
      );
    }
  }

  /** Runs `work`, which sends the request of `call`; questions that come meanwhile are this call's. */
  async during<T>(call: CallInFlight, work: () => Promise<T>): Promise<T> {
    this.#underWay.add(call);
    try {
      return await this.#streamScope.run(call, work);
    } finally {
      this.#underWay.delete(call);
    }
  }

  /** Puts pages of a refused call (-32042) to the person; true when the person went to all of them. */
  async visitAll(call: CallInFlight, asks: readonly Ask[]): Promise<boolean> {
    for (const ask of asks) {
      const answer = await this.#ask([call], ask, call.signal);
      if (!("action" in answer) || answer.action !== "accept") return false;
    }
    return true;
  }

  async #answer(request: ServerRequest, withdrawn: AbortSignal): Promise<InputResponse> {
    const calls = this.#callsOf();
    const [newest] = calls;
    if (newest === undefined) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        "No call of this client is open, and it answers questions of its calls only.",
      );
    }
    const ask = named(newest, readAsk(request));
    const signal = AbortSignal.any([withdrawn, ...calls.map((call) => call.signal)]);
    try {
      return await this.#ask(calls, ask, signal);
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (!withdrawn.aborted) for (const call of calls) call.giveUp(error);
      // The call's end ends the question too; an answer now, of whatever kind, could reach the handler before the cancellation.
      await aborted(withdrawn);
      throw error;
    }
  }

  /** Through the gates. Rejects with why the calls are to be given up, or with a ProtocolError to answer with. */
  async #ask(
    calls: readonly CallInFlight[],
    ask: Ask,
    signal: AbortSignal,
  ): Promise<InputResponse> {
    for (const call of calls) call.questionOpened();
    const turn = this.#lastTurn.then(async () => {
      signal.throwIfAborted();
      const context = contextOf(calls, signal);
      if (ask.kind === "url" && ask.elicitationId !== undefined) {
        for (const call of calls) call.pages.set(ask.elicitationId, ask);
      }
      return await this.#throughGates(ask, context);
    });
    this.#lastTurn = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      for (const call of calls) call.questionClosed();
    }
  }

  async #throughGates(ask: Ask, context: AskContext): Promise<InputResponse> {
    const answers = new Map<string, InputResponse>();
    const gathered = await gather(this.#host, [ask], answers, context, async () => undefined);
    context.signal.throwIfAborted();
    const answer = answers.get(ask.key);
    if (answer !== undefined) return answer;
    if (gathered.status === "refused") {
      throw new ProtocolError(REFUSED_BY_PERSON, "The person refused.");
    }
    throw new RepriseError(
      "CALL_CANNOT_WAIT",
      `Nobody answered "${ask.key}", and a call to a server of the handshake era can't wait: it was given up.`,
      { data: { key: ask.key } },
    );
  }

  #callsOf(): readonly CallInFlight[] {
    const call = this.#streamScope.current();
    if (call !== undefined) return this.#underWay.has(call) ? [call] : [];
    return [...this.#underWay].reverse();
  }

  // Unknown and already completed ids are ignored (MCP 2025-11-25, elicitation, "Completion Notifications").
  #completed(elicitationId: string): void {
    for (const call of this.#underWay) {
      const ask = call.pages.get(elicitationId);
      call.pages.delete(elicitationId);
      if (ask !== undefined) this.#host.completed?.(ask, call.context(call.signal));
    }
  }
}

function named(call: CallInFlight, ask: Ask): Ask {
  return { ...ask, key: call.nameFor(kindName(ask)) };
}

// What can't be shown is refused as such (-32602); the call is the server's to go on with or to end.
function readAsk(request: ServerRequest): Ask {
  try {
    return parseAsk("", request);
  } catch (error) {
    if (!isRepriseError(error, "CLIENT_CANNOT_ANSWER")) throw error;
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message);
  }
}

function contextOf(calls: readonly CallInFlight[], signal: AbortSignal): AskContext {
  const [newest, ...others] = calls;
  if (newest === undefined) throw new TypeError("a question needs a call");
  const targets = new Set([newest, ...others].map(({ target }) => target));
  return newest.context(signal, [...targets].join(" or "));
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
