/**
 * Asks as requests to a legacy client, and its answers back.
 *
 * The front calls `lowerAsk` for each open ask, sends it with `askRequest`, and gives what `liftAnswer` makes of the
 * response to the runtime. An ask that the revision can't carry without becoming another question is refused, in the
 * shape of the error that a client of that revision would have given: the runtime turns both into CLIENT_CANNOT_ANSWER.
 */
import type { AskWire } from "../asks.ts";
import type { JsonObject } from "../json.ts";
import type { RequestId } from "../jsonRpc.ts";
import { lowerForm } from "./forms.ts";
import { type RevisionRules, rulesOf } from "./loweringTable.ts";
import type { ResponseMessage } from "./messages.ts";
import type { Revision } from "./revisions.ts";
import { lowerSampling } from "./sampling.ts";

/** What a client answers instead of a result. */
export interface ClientError {
  readonly code: number;
  readonly message: string;
}

/** An ask, lowered, or the error in its place. */
export type LoweredAsk =
  | { readonly kind: "ask"; readonly ask: AskWire }
  | { readonly kind: "refused"; readonly error: ClientError };

const methodNotFound = -32601;
const invalidParams = -32602;

/**
 * Lowers an ask. `elicitationId` is the stable id of a URL ask; 2025-11-25 requires it, others know none.
 * @throws TypeError for a URL ask without an id on 2025-11-25
 */
export function lowerAsk(ask: AskWire, revision: Revision, elicitationId?: string): LoweredAsk {
  if (revision === "2026-07-28") return { kind: "ask", ask };
  const rules = rulesOf(revision);
  switch (ask.method) {
    case "elicitation/create":
      if (!rules.has.elicitation) {
        return refused(methodNotFound, `revision ${revision} has no elicitation`);
      }
      return ask.params?.["mode"] === "url"
        ? lowerUrlAsk(ask.params, rules, elicitationId)
        : lowerFormAsk(ask.params ?? {}, rules);
    case "sampling/createMessage": {
      const lowered = lowerSampling(ask.params ?? {}, rules);
      return lowered.kind === "refused"
        ? refused(invalidParams, `revision ${revision} can't carry this sampling: ${lowered.why}`)
        : { kind: "ask", ask: { method: ask.method, params: lowered.params } };
    }
    case "roots/list":
      return { kind: "ask", ask };
  }
}

function lowerFormAsk(params: JsonObject, rules: RevisionRules): LoweredAsk {
  const { message = "", requestedSchema } = params;
  const form = lowerForm(requestedSchema, rules);
  if (form.kind === "refused") {
    return refused(invalidParams, `revision ${rules.revision} can't show this form: ${form.why}`);
  }
  return {
    kind: "ask",
    ask: {
      method: "elicitation/create",
      params: {
        ...(rules.has.elicitationModes ? { mode: "form" } : {}),
        message,
        requestedSchema: form.requestedSchema,
      },
    },
  };
}

function lowerUrlAsk(
  params: JsonObject,
  { has, revision }: RevisionRules,
  elicitationId: string | undefined,
): LoweredAsk {
  if (!has.elicitationModes) {
    return refused(invalidParams, `revision ${revision} has no URL mode`);
  }
  if (has.elicitationIds && elicitationId === undefined) {
    throw new TypeError("elicitationId is required for a URL ask on this revision");
  }
  const { message = "", url = "" } = params;
  return {
    kind: "ask",
    ask: {
      method: "elicitation/create",
      params: {
        mode: "url",
        message,
        ...(has.elicitationIds && elicitationId !== undefined ? { elicitationId } : {}),
        url,
      },
    },
  };
}

function refused(code: number, message: string): LoweredAsk {
  return { kind: "refused", error: { code, message } };
}

/** An ask as the text of a request of ours. */
export function askRequest(id: RequestId, ask: AskWire): string {
  const { method, params } = ask;
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method,
    ...(params === undefined ? {} : { params }),
  });
}

/** A client's answer as the runtime takes it. */
export type LiftedAnswer =
  | { readonly kind: "result"; readonly result: JsonObject }
  | { readonly kind: "error"; readonly error: ClientError };

const answerMembers: Readonly<Record<AskWire["method"], readonly string[]>> = {
  "elicitation/create": ["action", "content"],
  "sampling/createMessage": ["role", "content", "model", "stopReason"],
  "roots/list": ["roots"],
};

/** Error texts come from the client and are recorded with the run. */
const maxMessageChars = 500;

/**
 * The answer in the shape of an entry of `inputResponses`. Only the members that the method's result has are kept:
 * the answer is recorded, and compared with a second one, in which `_meta` and the like may differ. Whether it is
 * usable is for the runtime to say; a sampled `content` may be one block or a list, which 2026-07-28 allows both.
 */
export function liftAnswer(method: AskWire["method"], response: ResponseMessage): LiftedAnswer {
  if (response.error !== undefined) {
    const { code, message } = response.error;
    return { kind: "error", error: { code, message: message.slice(0, maxMessageChars) } };
  }
  const { result } = response;
  const kept = answerMembers[method].flatMap((member) => {
    const value = Object.hasOwn(result, member) ? result[member] : undefined;
    return value === undefined ? [] : [[member, value] as const];
  });
  return { kind: "result", result: Object.fromEntries(kept) };
}
