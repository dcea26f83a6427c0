/**
 * Replies and answers as the tests look at them: what a state names, what would contradict an answer, and all of it in words.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { RunReply } from "@reprise/runtime";
import type { Fault, Reply } from "./calls.ts";
import type { AskNode } from "./program.ts";

/** The run and round that a signed state names; what the client never looks at, but the test does. */
export function readState(token: string): { readonly run: string; readonly round: number } {
  const text = Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8");
  const run = /"run":"([^"]+)"/.exec(text)?.[1];
  const round = Number(/"round":(\d+)/.exec(text)?.[1]);
  if (run === undefined || Number.isNaN(round))
    throw new Error(`a state that can't be read: ${text}`);
  return { run, round };
}

/** Another answer that fits the question just as well. */
export function opposite(ask: AskNode): JsonValue {
  if (ask.kind === "sample") {
    return { role: "assistant", model: "m", content: { type: "text", text: "other words" } };
  }
  if (ask.kind === "elicitUrl") return { action: ask.value === "no" ? "accept" : "decline" };
  if (ask.value === "no") {
    const content = ask.kind === "confirm" ? { confirm: true } : { amount: 999 };
    return { action: "accept", content };
  }
  return { action: "decline" };
}

/**
 * Two results of one round that differ, in words; undefined when there are none.
 * @param isFirst whether they are of a first call: one that was held up until the run had failed goes on from its failed step
 */
export function twoResults(replies: readonly Reply[], isFirst: boolean): string | undefined {
  // A first call that was held up until the run had ended without doing anything begins another, and its key was free.
  const results = new Map<string, string>();
  for (const reply of replies) {
    if (reply.kind !== "complete" || (isFirst && reply.result["isError"] === true)) continue;
    const result = JSON.stringify(reply.result);
    const run = /\\"run\\":\\"([^"\\]+)/.exec(result)?.[1] ?? "";
    const other = results.get(run) ?? result;
    if (other !== result) return `one round, several results: ${other} / ${result}`;
    results.set(run, result);
  }
  return undefined;
}

/** A reply in words. */
export function told(reply: Reply | undefined): string {
  switch (reply?.kind) {
    case "complete":
      return `complete ${JSON.stringify(reply.result)}`;
    case "question":
      return `asks ${Object.keys(reply.inputRequests).join(", ")}`;
    case "error":
      return `${reply.code} ${JSON.stringify(reply.data)}`;
    case "cancelled":
      return `cancelling: ${reply.how}`;
    case "completed":
      return `completing: ${reply.how}`;
    default:
      return "lost";
  }
}

/** A fault in words. */
export function toldFault(fault: Fault | undefined): string {
  return fault === undefined ? "" : ` [${fault.does} ${fault.when} port call ${fault.at}]`;
}

/** A reply of the runtime as it leaves an instance. */
export function asData(reply: RunReply): Reply {
  switch (reply.kind) {
    case "complete":
      return reply;
    case "input_required":
      return {
        kind: "question",
        inputRequests: reply.inputRequests,
        requestState: reply.requestState,
      };
    case "error": {
      const { code, data } = reply.error;
      return {
        kind: "error",
        code,
        data: { ...(data as JsonObject), message: reply.error.message },
      };
    }
  }
}
