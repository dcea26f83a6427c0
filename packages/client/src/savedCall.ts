/**
 * A call as plain JSON: all that another process needs to go on with it, on another day.
 *
 * Written by the call loop at every turn, read by `resume`. Invariants:
 *
 * 1. Format and version are checked before anything else is believed: a newer one is FORMAT_UNKNOWN, anything else that is not
 *    as described is SAVED_CALL_INVALID.
 * 2. `requestState` is kept as the exact string; nothing looks into it.
 * 3. It holds no credentials: headers and tokens are given anew on resume. It does hold the arguments and answers, which the
 *    server has or is to get, and the idempotency key, with which another person could read the call's result where the server
 *    has no authentication. Keep it like a draft letter; `saveCallFile` makes it readable by its owner only.
 */
import type { InputResponse } from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import type { CallMethod } from "./host.ts";

const FORMAT = "reprise.call";
const VERSION = 1;

/** The request itself, as the caller gave it: no `_meta`, answers or state. */
export interface CallRequest {
  readonly method: CallMethod;
  /** `name` and `arguments`, or `uri`. */
  readonly params: Readonly<Record<string, unknown>>;
}

/** A call between two of its requests. */
export interface SavedCall {
  readonly format: typeof FORMAT;
  readonly version: typeof VERSION;
  /** The endpoint. */
  readonly url: string;
  readonly request: CallRequest;
  /** Repeated with every request of this call: makes a repeated first call join the first one. */
  readonly idempotencyKey: string;
  /** How many responses asked for something. Not moved by sending, so that a repeat after a crash is the same round. */
  readonly round: number;
  /** The open round: absent until the server asked for something. */
  readonly pending?: PendingRound;
}

/** What the last response asked for, and what was answered so far. */
export interface PendingRound {
  /** As they came over the wire. Empty when the server gave only a state, which asks to come back. */
  readonly inputRequests: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
  readonly answers: Readonly<Record<string, InputResponse>>;
  /** ISO 8601; until when the server takes an answer, if it said so. */
  readonly answerBefore?: string;
}

/** As many characters as 128 random bits take in base64url: a shorter key could be guessed where nobody signs in. */
const SHORTEST_KEY = 22;

/** A key that no other call has: 192 random bits. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_");
}

/** A call of which nothing was sent yet. @throws TypeError for a key that could be guessed */
export function newCall(url: string, request: CallRequest, idempotencyKey: string): SavedCall {
  if (idempotencyKey.length < SHORTEST_KEY) {
    throw new TypeError(`idempotencyKey must have at least ${SHORTEST_KEY} characters`);
  }
  return { format: FORMAT, version: VERSION, url, request, idempotencyKey, round: 0 };
}

/** Reads what `JSON.stringify` made of a saved call. */
export function parseSavedCall(json: string): SavedCall {
  const value = parseJson(json);
  if (!isObject(value) || value["format"] !== FORMAT) {
    throw invalid("it is not a saved call");
  }
  if (value["version"] !== VERSION) {
    throw new RepriseError(
      "FORMAT_UNKNOWN",
      `The saved call has format version ${String(value["version"])}; this release knows ${VERSION}.`,
    );
  }
  const { url, request, idempotencyKey, round, pending } = value as Partial<
    Record<keyof SavedCall, unknown>
  >;
  if (typeof url !== "string" || !URL.canParse(url)) throw invalid("its url is no URL");
  if (typeof idempotencyKey !== "string" || idempotencyKey.length < SHORTEST_KEY) {
    throw invalid("its idempotencyKey is missing");
  }
  if (!Number.isSafeInteger(round) || (round as number) < 0) throw invalid("its round is no count");
  return {
    ...newCall(url, parseRequest(request), idempotencyKey),
    round: round as number,
    ...(pending === undefined ? {} : { pending: parsePending(pending) }),
  };
}

function parseRequest(value: unknown): CallRequest {
  if (!isObject(value) || !isObject(value["params"])) throw invalid("its request is missing");
  const { method, params } = value as {
    readonly method?: unknown;
    readonly params: CallRequest["params"];
  };
  if (method !== "tools/call" && method !== "prompts/get" && method !== "resources/read") {
    throw invalid("its method is none that can ask");
  }
  if (typeof params[method === "resources/read" ? "uri" : "name"] !== "string") {
    throw invalid("its request names no target");
  }
  return { method, params };
}

function parsePending(value: unknown): PendingRound {
  if (!isObject(value) || !isObject(value["inputRequests"]) || !isObject(value["answers"])) {
    throw invalid("its open round is malformed");
  }
  const { inputRequests, answers, requestState, answerBefore } = value as {
    readonly inputRequests: PendingRound["inputRequests"];
    readonly answers: PendingRound["answers"];
    readonly requestState?: unknown;
    readonly answerBefore?: unknown;
  };
  if (Object.values(answers).some((answer) => !isObject(answer))) {
    throw invalid("one of its answers is malformed");
  }
  if (requestState !== undefined && typeof requestState !== "string") {
    throw invalid("its requestState is no string");
  }
  return {
    inputRequests,
    answers,
    ...(requestState === undefined ? {} : { requestState }),
    ...(typeof answerBefore === "string" ? { answerBefore } : {}),
  };
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw invalid("it is not JSON", cause);
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(why: string, cause?: unknown): RepriseError {
  return new RepriseError("SAVED_CALL_INVALID", `The saved call can't be used: ${why}.`, { cause });
}
