/**
 * A host of revision 2026-07-28 as the protocol and our error table want it: it answers what is asked, repeats a request whose
 * connection broke under the same key and state, waits where it is told to, and starts anew under the same key when it is told
 * that the run is lost.
 *
 * 1. It gives up only when `patienceMs` are over, and tells what it was told last; where that was nothing, nobody knows how the
 *    run ended, which the judge counts as lost.
 * 2. A refusal that repeating can't mend ends the errand.
 * 3. Its manners (leaving, doubled and late requests) are drawn, so that a seed gives the same ones.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Draw } from "../draw.ts";
import type { Errand } from "./errands.ts";
import { type CallParams, type CallResult, type Reply, type Sender, send } from "./exchange.ts";
import { Payer } from "./payer.ts";
import type { Ended, Ending, LoadRecord } from "./record.ts";

/** What a client does besides. Shares are of requests. */
export interface Manners {
  /** Silence after which a request is given up and repeated. Default 55 s: longer than a joiner waits. */
  readonly timeoutMs?: number;
  /** Hangs up in the middle and comes back. */
  readonly leaves?: number;
  /** Sends the request twice at once. */
  readonly doubles?: number;
  /** Sends the request once more, seconds after it was answered. */
  readonly repeatsLate?: number;
}

/** Who does an errand, where, and what for. */
export interface Visit {
  readonly url: string;
  readonly caller: string;
  readonly errand: Errand;
  readonly manners: Manners;
  readonly draw: Draw;
  readonly record: LoadRecord;
  /** Before an answer: a person thinks. Milliseconds, both ends included. */
  readonly thinkMs: readonly [number, number];
  readonly patienceMs: number;
}

const usualTimeoutMs = 55_000;
const longestPauseMs = 2_000;
const lostPauseMs = 150;
/** A store that forgot the last round asks it once more: twice as many as the longest errand has, and some. */
const mostRounds = 20;

/** Does an errand to its end. Late repetitions go on in `stragglers`. */
export async function visit(visit: Visit, stragglers: Promise<unknown>[]): Promise<Ended> {
  const { errand } = visit;
  const sinceMs = performance.now();
  const until = sinceMs + visit.patienceMs;
  const idempotencyKey = Buffer.from(`${visit.caller} ${errand.tag} ${visit.draw.next()}`).toString(
    "base64url",
  );
  const sender: Sender = {
    caller: visit.caller,
    idempotencyKey: idempotencyKey.padEnd(22, "0"),
    timeoutMs: visit.manners.timeoutMs ?? usualTimeoutMs,
  };
  let startedAnew = 0;
  let doneAtMs: number | undefined;
  const payer = new Payer({ ...visit, until, draw: visit.draw.of(errand.tag) });
  const ended = (ending: Ending): Ended => {
    stragglers.push(payer.gone());
    const page = { thankedAtMs: payer.thankedAtMs, doneAtMs };
    return {
      ...{ errand, ending, startedAnew, era: "modern" as const },
      ...{ lastedMs: performance.now() - sinceMs, endedAtMs: performance.now() },
      ...(errand.page === undefined ? {} : { page }),
    };
  };
  const first: CallParams = { name: errand.tool, arguments: errand.args };
  let params = first;
  for (let round = 0; round < mostRounds; ) {
    const reply = await insist(params, sender, until, visit, stragglers);
    if (reply.kind === "lost") return ended({ kind: "unknown", why: reply.why });
    if (reply.kind === "refused") {
      const isLost = reply.code === "RUN_LOST" && performance.now() < until;
      if (!isLost) return ended(reply);
      startedAnew += 1;
      params = first;
      round = 0;
      continue;
    }
    const { result } = reply;
    if (result.resultType !== "input_required") return ended(endOf(result));
    round += 1;
    await pause(visit.draw.between(...visit.thinkMs));
    params = { ...first, ...(await answersTo(result, errand, payer)) };
    doneAtMs = performance.now();
  }
  return ended({ kind: "unknown", why: `still asked after ${mostRounds} rounds` });
}

/** Sends until there is an answer that ends the round. */
async function insist(
  params: CallParams,
  sender: Sender,
  until: number,
  visit: Visit,
  stragglers: Promise<unknown>[],
): Promise<Reply> {
  for (;;) {
    const reply = await sendOnce(params, sender, visit, stragglers);
    const isFinal = reply.kind === "result" || (reply.kind === "refused" && !reply.retryable);
    if (isFinal) return reply;
    if (performance.now() > until) return reply;
    const waitMs = reply.kind === "refused" ? reply.retryAfterMs : lostPauseMs;
    await pause(Math.min(waitMs, longestPauseMs));
  }
}

async function sendOnce(
  params: CallParams,
  sender: Sender,
  { url, manners, draw, record }: Visit,
  stragglers: Promise<unknown>[],
): Promise<Reply> {
  const { leaves = 0, doubles = 0, repeatsLate = 0 } = manners;
  const attempt = (): ReturnType<typeof send> => {
    const sinceMs = performance.now();
    const sent = send(url, params, sender);
    void sent.reply.then((reply) => {
      record.took(sinceMs, reply.kind === "refused" ? reply.code : reply.kind);
    });
    return sent;
  };
  const sent = attempt();
  if (draw.chance(leaves)) {
    await Promise.race([sent.reply, pause(draw.between(1, 300))]);
    sent.leave();
    await sent.reply;
    return attempt().reply;
  }
  const twin = draw.chance(doubles) ? attempt() : undefined;
  const reply = await sent.reply;
  if (twin !== undefined) compare(reply, await twin.reply, record);
  if (draw.chance(repeatsLate)) {
    const lateMs = draw.between(200, 4_000);
    stragglers.push(pause(lateMs).then(() => attempt().reply));
  }
  return reply;
}

/** Two results of one request that both end the run are one result. A question may come sealed anew, so it is not compared. */
function compare(one: Reply, other: Reply, record: LoadRecord): void {
  if (one.kind !== "result" || other.kind !== "result") return;
  const [first, second] = [one.result, other.result];
  if (first.resultType === "input_required" || second.resultType === "input_required") return;
  if (textIn(first) === textIn(second)) return;
  record.contradictions.push(`one request, two results: ${textIn(first)} / ${textIn(second)}`);
}

async function answersTo(
  { inputRequests = {}, requestState }: CallResult,
  { answers }: Errand,
  payer: Payer,
): Promise<Pick<CallParams, "requestState" | "inputResponses">> {
  if (requestState === undefined) throw new Error("a question came without a state");
  const asked = Object.entries(inputRequests).map(async ([key, { params = {} }]) => {
    const { url } = params;
    return [key, url === undefined ? answers[key] : { action: await payer.answer(url) }] as const;
  });
  return { requestState, inputResponses: Object.fromEntries(await Promise.all(asked)) };
}

function endOf(result: CallResult): Ending {
  return { kind: "result", text: textIn(result), isError: result.isError === true };
}

function textIn({ content = [] }: CallResult): string {
  return content.map(({ text = "" }) => text).join("\n");
}
