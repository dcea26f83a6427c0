/**
 * The rounds of one call: each is a RunRequest, and its outcome a response, questions, or the next round.
 *
 * The call begins or resumes it and tells it of answers; it tells the call what to send. It never looks at a stream.
 *
 * One round runs at a time. Answers that come meanwhile wait in the record; those of questions that the outcome leaves open
 * begin the next round at once.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import {
  type ClientError,
  type JsonObject,
  legacyErrorResponse,
  lowerResult,
  resultResponse,
} from "@reprise/protocol";
import type { RunReply } from "@reprise/runtime";
import type { CallPorts } from "./callPorts.ts";
import { asking, type Gap } from "./callRecord.ts";
import { type CallRound, type CallWork, type RoundPorts, runRequestOf } from "./callRequest.ts";
import { planAsks, unanswered } from "./openAsks.ts";
import type { RecordHold } from "./recordHold.ts";
import type { LegacySession } from "./sessionToken.ts";

/** What rounds need of their call. */
export interface RoundHost extends RoundPorts {
  readonly id: string;
  readonly session: LegacySession;
  readonly isOver: boolean;
  readonly hold: RecordHold;
  /** Opens the stream and makes the record. Rejects with a RepriseError when there can't be one. */
  opened(): Promise<void>;
  send(messages: readonly string[]): void;
  /** Sends questions; `numbered` is told the event of each, undefined where the log could not be reached. */
  ask(
    requests: readonly { readonly id: string; readonly text: string }[],
    numbered: (id: string, event: number | undefined) => void,
  ): void;
  respond(status: number, body: string, outcome: string): Promise<void>;
  /** Another front has the call. */
  drop(): void;
}

const none: ReadonlySet<string> = new Set();

/** Drives one call's runs. */
export class Rounds {
  readonly #host: RoundHost;
  readonly #work: CallWork;
  readonly #ports: CallPorts;
  #isExecuting = false;
  /** Questions whose answers the running round brought. */
  #given = none;
  /** Open questions that the client may not have. */
  #unsent = none;
  /** Events of the questions that were sent. */
  readonly #events = new Map<string, number | undefined>();
  #refusedKeys = "";
  #openAsks = 0;
  #unasked: (() => void) | undefined;

  constructor(host: RoundHost, work: CallWork, ports: CallPorts) {
    this.#host = host;
    this.#work = work;
    this.#ports = ports;
  }

  /** Whether a round runs: from its request to its response, or to the record of its questions. */
  get isExecuting(): boolean {
    return this.#isExecuting;
  }

  begin(): void {
    void this.#execute({});
  }

  /** Goes on from a record of another front. `sent` has the questions that are in the log, with their events. */
  resume(sent: ReadonlyMap<string, number>): void {
    const { record } = this.#host.hold;
    if (record === undefined) return;
    const { requestState } = record;
    if (requestState === undefined) {
      void this.#execute({ mayExist: true });
      return;
    }
    const open = unanswered(record.asks);
    this.#openAsks = open.length;
    this.#ports.limits.asksKept(this.#work.caller.principal, open.length);
    this.#unsent = new Set(open.filter((id) => !sent.has(id)));
    for (const [id, event] of sent) this.#events.set(id, event);
    this.answersCame();
    this.#sendUnsent();
  }

  /** A stream reads the call on: it gets the open questions that were in the gap, or never in the log, once more. */
  readOn(gap: Gap | undefined): void {
    const { record } = this.#host.hold;
    if (record === undefined || this.#host.isOver) return;
    const lost = unanswered(record.asks).filter((id) => {
      // Without an entry it is about to be sent.
      if (!this.#events.has(id)) return false;
      const event = this.#events.get(id);
      return event === undefined || (gap !== undefined && event > gap.after && event < gap.before);
    });
    for (const id of lost) this.#events.delete(id);
    this.#unsent = new Set([...this.#unsent, ...lost]);
    this.#sendUnsent();
  }

  /** Brings the answers that are in the record, if there are any and no round runs. */
  answersCame(refused: Readonly<Record<string, ClientError>> = {}): void {
    const { record } = this.#host.hold;
    if (this.#isExecuting || this.#host.isOver || record?.requestState === undefined) return;
    const inputResponses: Record<string, JsonObject> = {};
    const clientErrors: Record<string, ClientError> = { ...refused };
    const given = new Set<string>();
    for (const [id, { key, answer }] of Object.entries(record.asks)) {
      if (answer === undefined) continue;
      given.add(id);
      if ("result" in answer) inputResponses[key] = answer.result;
      else clientErrors[key] = answer.error;
    }
    if (given.size === 0 && Object.keys(refused).length === 0) return;
    this.#given = given;
    void this.#execute({ requestState: record.requestState, inputResponses, clientErrors });
  }

  /** Nobody answers any more: `unasked` is called once the run waits, now or when it asks next; never if it ends before. */
  unasked(unasked: () => void): void {
    if (this.#isExecuting) this.#unasked = unasked;
    else unasked();
  }

  /** Counts the open questions as no longer held. */
  forget(): void {
    this.#count(0);
  }

  /** Never rejects: nobody waits for it. */
  async #execute(round: CallRound): Promise<void> {
    const host = this.#host;
    this.#isExecuting = true;
    try {
      const request = runRequestOf(this.#work, host.session, round, host);
      const reply = await this.#ports.runtime.execute(request);
      if (!host.isOver) await this.#settle(reply);
      // Also when that came about while its questions were being recorded.
      if (host.isOver && reply.kind === "input_required") this.#unasked?.();
    } catch (error) {
      if (!isRepriseError(error)) this.#ports.failed(error);
      if (!host.isOver) await this.#refuse(error).catch(this.#ports.failed);
    }
  }

  async #settle(reply: RunReply): Promise<void> {
    switch (reply.kind) {
      case "complete": {
        const { method, requestId } = this.#work;
        const result = lowerResult(method, reply.result, this.#host.session.revision);
        const outcome = reply.result["isError"] === true ? "tool_error" : "ok";
        const body = resultResponse(requestId, JSON.stringify(result));
        return this.#host.respond(200, body, outcome);
      }
      case "error":
        return this.#refuse(reply.error);
      case "input_required":
        return this.#ask(reply);
    }
  }

  #refuse(error: unknown): Promise<void> {
    const known = isRepriseError(error)
      ? error
      : new RepriseError("INTERNAL", "The server failed to answer.", { cause: error });
    if (this.#isHandedOver(known)) {
      this.#host.drop();
      return Promise.resolve();
    }
    const { requestId, method } = this.#work;
    const { status, body } = legacyErrorResponse(known, requestId, method);
    return this.#host.respond(status, body, known.code);
  }

  /** What a front that stops can't end, the one goes on with that its client comes back to: no outcome at all. */
  #isHandedOver({ code }: RepriseError): boolean {
    const isGivenBack = code === "BUSY" || code === "INTERRUPTED";
    return isGivenBack && this.#ports.presence.isClosed && this.#host.hold.record !== undefined;
  }

  async #ask(reply: Extract<RunReply, { kind: "input_required" }>): Promise<void> {
    const host = this.#host;
    await host.opened();
    const { record } = host.hold;
    if (host.isOver) return;
    if (record === undefined) return host.drop();
    const { asks, asked } = record;
    const { id: callId, session } = host;
    const unsent = this.#unsent;
    const { runId: ownRunId } = this.#work;
    const before = { callId, runId: ownRunId, asks, asked, revision: session.revision };
    const plan = planAsks(
      { ...before, given: this.#given, unsent },
      reply.inputRequests,
      reply.elicitationIds ?? {},
    );
    this.#checkProgress(plan.refused);
    this.#count(Object.keys(plan.asks).length);
    const { requestState, answerBeforeMs: answerBefore } = reply;
    const runId = reply.runId === undefined ? {} : { runId: reply.runId };
    const round = { requestState, answerBefore, asks: plan.asks, asked: plan.asked, ...runId };
    const written = await host.hold.change((each) => asking(each, round));
    if (host.isOver) return;
    if (written === undefined) return host.drop();
    this.#given = none;
    const left = [...this.#unsent].filter(
      (id) => !unsent.has(id) && written.asks[id] !== undefined,
    );
    this.#unsent = new Set(left);
    for (const id of this.#events.keys()) if (plan.asks[id] === undefined) this.#events.delete(id);
    host.send(plan.withdrawn);
    host.ask(plan.requests, (id, event) => this.#events.set(id, event));
    // Not before: an answer that was looked at in between would have gone to the round before.
    this.#isExecuting = false;
    this.answersCame(plan.refused);
    this.#sendUnsent();
  }

  /** The questions themselves are not in the record: the run says them again. */
  #sendUnsent(): void {
    const { record } = this.#host.hold;
    if (this.#isExecuting || this.#host.isOver || this.#unsent.size === 0) return;
    if (record?.requestState === undefined) return;
    void this.#execute({ requestState: record.requestState, inputResponses: {} });
  }

  /** A question that can't be carried and is asked again all the same would go round for ever. */
  #checkProgress(refused: Readonly<Record<string, ClientError>>): void {
    const keys = JSON.stringify(Object.keys(refused).sort());
    const isSame = keys !== "[]" && keys === this.#refusedKeys;
    this.#refusedKeys = keys;
    const [first] = Object.entries(refused);
    if (!isSame || first === undefined) return;
    throw new RepriseError("CLIENT_CANNOT_ANSWER", first[1].message, { data: { key: first[0] } });
  }

  #count(open: number): void {
    this.#ports.limits.asksChanged(this.#work.caller.principal, open - this.#openAsks);
    this.#openAsks = open;
  }
}
