/**
 * The registry of every error that Reprise raises on purpose.
 *
 * One row a code: when it is raised, what the caller may do, and how it looks on the wire.
 * `docs/errors.md` is checked against this table by a test. A code is never reused for another meaning.
 *
 * JSON-RPC codes: -32700..-32600 as in JSON-RPC 2.0; -32020..-32022 as in MCP 2026-07-28 (basic, "Error codes");
 * ours lie outside the reserved range -32768..-32000.
 */

/** One row of the registry. */
export interface ErrorSpec {
  /** When the error is raised, as a sentence. */
  readonly when: string;
  /** HTTP status of the response that carries the error on revision 2026-07-28. */
  readonly httpStatus: number;
  /** JSON-RPC error code. */
  readonly rpcCode: number;
  /** Whether the same request can succeed later without a change. */
  readonly retryable: boolean;
  /** What the one who sees the error can do. */
  readonly remedy: string;
}

/** A row as it is written below: rpcCode, httpStatus, retryable, when, remedy. */
type Row = readonly [number, number, boolean, string, string];

// biome-ignore format: one row a line, so that the registry reads as the table it is
const rows = {
  // The wire: what a request can get wrong before a handler is looked up.
  PARSE_ERROR: [-32700, 400, false, "The body is not JSON.", "Send one JSON-RPC message as JSON."],
  INVALID_REQUEST: [-32600, 400, false, "The body is JSON but not one JSON-RPC request or notification.", "Send a single JSON-RPC 2.0 object."],
  HTTP_MALFORMED: [-32600, 400, false, "The request is not HTTP as RFC 9112 has it, or two readers could understand it differently.", "Send one Host, Content-Type and Authorization header each, and a path as the target."],
  HEADERS_TOO_LARGE: [-32600, 431, false, "The headers of the request are larger than 16 KiB.", "Send fewer or shorter headers."],
  REQUEST_TOO_SLOW: [-32600, 408, false, "The request did not arrive within requestTimeoutMs, or its head within headersTimeoutMs.", "Send it again without pauses, or raise the limits."],
  PATH_UNKNOWN: [-32600, 404, false, "Nothing is served at the path of the request.", "Send POST to the path where MCP is served."],
  CONTENT_TYPE: [-32600, 415, false, "The Content-Type is not application/json.", "Send Content-Type: application/json."],
  NOT_ACCEPTABLE: [-32600, 406, false, "The Accept header does not allow application/json and text/event-stream.", "Send Accept: application/json, text/event-stream."],
  BODY_TOO_LARGE: [-32600, 413, false, "The body is larger than maxBodyBytes.", "Send less, or raise maxBodyBytes."],
  FORBIDDEN_ORIGIN: [-32600, 403, false, "The Host or Origin header is not allowed.", "Call from an allowed host; the log names the setting."],
  UNAUTHORIZED: [-32600, 401, false, "A token is missing or not valid.", "Send a valid bearer token."],
  INSUFFICIENT_SCOPE: [-32600, 403, false, "The token lacks a scope that the handler needs.", "Ask for a token with the scopes that the challenge names."],
  AUTH_UNAVAILABLE: [-31020, 503, true, "The token's issuer cannot be reached, so the token can't be judged.", "Repeat the same request after data.retryAfterMs; keep the token."],
  HEADER_MISMATCH: [-32020, 400, false, "A required header is missing, malformed or differs from the body.", "Send headers that mirror the body."],
  MISSING_CAPABILITY: [-32021, 400, false, "The client did not declare a capability that the handler needs.", "Declare the capability, or use a client that has it."],
  UNSUPPORTED_VERSION: [-32022, 400, false, "The protocol version is not served.", "Speak one of data.supported, or call another server."],
  METHOD_NOT_FOUND: [-32601, 404, false, "The method is not served.", "See server/discover for what is."],
  INVALID_META: [-32602, 400, false, "A required member of _meta is missing or malformed.", "Send protocolVersion and clientCapabilities in _meta."],
  INVALID_PARAMS: [-32602, 200, false, "The parameters do not fit the method.", "Correct the parameters that the message names."],
  UNKNOWN_TARGET: [-32602, 200, false, "No tool, prompt, resource or cursor has that name.", "List what there is."],
  REQUEST_STATE_INVALID: [-32602, 200, false, "The requestState was altered, expired, or belongs to another request or person.", "Start the call anew without requestState."],
  SESSION_REQUIRED: [-32600, 400, false, "A message of a revision with sessions came without Mcp-Session-Id.", "Send initialize first, then the session id of its response with every request."],
  SESSION_UNKNOWN: [-32600, 404, false, "The session ended, expired, was altered or belongs to somebody else.", "Send initialize without a session id to start a new session."],
  INTERNAL: [-32603, 200, false, "A prompt or resource handler failed, or the server did.", "See the server's log under the run id."],

  // The run: what the records say of it.
  BUSY: [-31001, 200, true, "The server has as many calls as it may hold.", "Repeat after data.retryAfterMs."],
  IN_FLIGHT: [-31002, 200, true, "Another request is executing this round and did not end in time.", "Repeat the same request after data.retryAfterMs."],
  ANSWER_SETTLED: [-31003, 200, false, "An answer differs from the one that the run already took.", "Read data.status; a settled answer cannot be changed."],
  RUN_LOST: [-31004, 200, false, "The record of the run is missing or older than the requestState.", "Find out what the run did before starting it anew; nothing was executed."],
  RUN_PARKED: [-31005, 200, false, "The run waits for an operator.", "Ask the operator to release or finish it."],
  STORE_UNAVAILABLE: [-31006, 200, true, "The store cannot be reached or refuses writes.", "Repeat the same request after data.retryAfterMs."],
  JOURNAL_MISMATCH: [-31007, 200, true, "The handler no longer does what the journal of the run says it did.", "Deploy the handler of the recorded version, or release the run."],
  IDEMPOTENCY_CONFLICT: [-31008, 200, false, "The idempotency key was used with other arguments.", "Use a new key for another request."],
  ALREADY_RUNNING: [-31009, 200, true, "Another caller's run holds this tool's idempotency key.", "Wait for that run to end."],
  ALREADY_DONE: [-31010, 200, false, "Another caller's run did this already.", "Nothing is left to do."],
  INTERRUPTED: [-31011, 200, true, "The attempt was stopped before it ended.", "Repeat the same request: it goes on from what is recorded."],
  STATE_TOO_LARGE: [-31012, 200, false, "The sealed state would be larger than maxRequestStateBytes.", "Declare the handler effects: \"once\", or keep less."],
  TOO_MANY_WAITING_RUNS: [-31013, 200, true, "The caller has as many waiting runs as allowed.", "Answer or let expire some of the open questions."],
  ASK_UNSTABLE: [-31014, 200, false, "The question under one key changed twice in a row without a deploy.", "Ask the same question on every attempt, or give each its own key."],
  RUN_TIMEOUT: [-31015, 200, true, "The handler ran longer than its timeoutMs.", "Repeat the same request, or raise timeoutMs."],
  REQUEST_STATE_UNAVAILABLE: [-31016, 200, true, "The key ring cannot be reached, so the state can't be judged.", "Repeat the same request after data.retryAfterMs."],
  RUN_CANCELLED: [-31017, 200, false, "The run was cancelled.", "Start the call anew if it is still wanted."],
  RUN_EXPIRED: [-31025, 200, false, "The last question was not answered in time, and what the run had done is undone.", "Start the call anew if it is still wanted."],
  UNDO_FAILED: [-31026, 200, false, "A step of a failed, cancelled or expired run could not be undone.", "Ask the operator to release or finish the run; data.step still stands."],
  ANSWER_OVERDUE: [-31023, 200, false, "A question of a call with a session was not answered while it could be.", "Start the call anew if it is still wanted."],
  CLIENT_CANNOT_ANSWER: [-31018, 200, false, "The client cannot be asked this question.", "Use a client that can."],
  ELICITATION_REFUSED: [-31024, 200, false, "A page completed a URL ask that is unknown, over or another person's.", "Complete the id that ctx.elicitUrl gave, as the person who was asked, while the question is open."],
  INVALID_IDEMPOTENCY_KEY: [-32602, 200, false, "The client's idempotency key is too short, too long or no string.", "Send 22 to 512 characters of at least 128 random bits."],

  // The author: programming errors found at start or during an attempt.
  DEFINITION_INVALID: [-32603, 200, false, "A definition of a server, tool, prompt or resource is not usable.", "Mend what the message names."],
  SCHEMA_UNSUPPORTED: [-32603, 200, false, "A schema can't be published as JSON Schema.", "Install a schema library that can, or give JSON Schema."],
  NAME_REUSED: [-32603, 200, false, "A step, read or ask name is used twice in one run.", "Put the item into the name."],
  CTX_IN_STEP: [-32603, 200, false, "ctx was used inside a step's function.", "Use ctx between steps, not in them."],
  VALUE_UNSUPPORTED: [-32603, 200, false, "A value can't be journaled.", "Return JSON, Date, bytes, bigint or undefined."],
  SECRET_IN_FORM: [-32603, 200, false, "A form asks for a secret.", "Use elicitUrl, or list the field in notSecret."],
  FORM_UNSUPPORTED: [-32603, 200, false, "A form schema has more than MCP forms can show.", "Use flat strings, numbers, booleans and enums."],
  URL_REFUSED: [-32603, 200, false, "A URL ask is not https (loopback excepted) or has userinfo.", "Give an https URL without user and password."],
  NOTHING_DONE_REFUSED: [-32603, 200, false, "ctx.nothingDone was called after a step was started.", "Return a result instead."],
  STEP_FAILED: [-32603, 200, false, "A step failed and nothing happened.", "See cause; the next call tries it again."],
  STEP_UNCERTAIN: [-32603, 200, false, "A step may or may not have happened.", "Ask the remote system, then repeat or finish the run."],

  // The host side: what `@reprise/client` finds out by itself; none of these comes over the wire.
  TOO_MANY_ROUNDS: [-32603, 500, false, "The server asked again after maxInputRounds rounds of answers.", "Raise maxInputRounds, or report the server: its call may never end."],
  SERVER_UNREACHABLE: [-32603, 500, true, "The server could not be reached, or every repeat of a broken call broke too.", "Check that the server runs and its address. A saved call can be resumed: it repeats the same round under the same key."],
  ANSWER_UNUSABLE: [-32603, 500, false, "An answer does not fit the question it is meant for.", "Give the answer that the message describes."],
  CALL_CANNOT_WAIT: [-32603, 500, false, "A call to a server of the handshake era was to be saved, resumed or answered later.", "Answer while the call is open: at a terminal, or with prepared answers. Only revision 2026-07-28 lets a call wait."],
  SAVED_CALL_INVALID: [-32603, 500, false, "A saved call cannot be read, or a file is in its place.", "Use a file that `reprise call --save` wrote."],

  // The dashboard: what its own pages and whoever calls `/ops/api` get. Never on the MCP endpoint.
  OPS_SIGN_IN: [-32600, 401, false, "Nobody has signed in, or the session has ended.", "Sign in at /ops."],
  OPS_FORBIDDEN: [-32600, 403, false, "The role does not allow it, or the request did not come from a page of the dashboard.", "Act as an operator, on the dashboard's own page and address."],
  OPS_REQUEST_INVALID: [-32602, 400, false, "A filter, id, cursor or body of a request to the dashboard is not usable.", "Mend what the message names."],
  OPS_UNKNOWN: [-32602, 404, false, "The dashboard has no such page, run, key, queue or instance.", "Look at its list: it may have ended meanwhile."],

  // The process: configuration and environment.
  CONFIG_INVALID: [-32603, 500, false, "A setting is missing, malformed or contradicts another.", "Mend the setting that the message names."],
  PORT_IN_USE: [-32603, 500, true, "The port is taken.", "Stop the process that the message names, or choose another port."],
  STORE_UNUSABLE: [-32603, 500, false, "The store's directory can't be used.", "Mend what the message names."],
  STORE_FULL: [-31019, 200, true, "The store has no room for another write.", "Free disk space or raise the store's size."],
  FORMAT_UNKNOWN: [-32603, 500, false, "A stored or sealed format is newer than this release.", "Run a release that knows the format."],
  NODE_TOO_OLD: [-32603, 500, false, "Node.js is older than 20.19.", "Install Node.js 20.19 or newer."],
} as const;

/** The code of an error that Reprise raised. */
export type ErrorCode = keyof typeof rows;

/** All codes, in the order of the registry. */
export const errorCodes: readonly ErrorCode[] = Object.freeze(Object.keys(rows) as ErrorCode[]);

const toSpec = ([rpcCode, httpStatus, retryable, when, remedy]: Row): ErrorSpec =>
  Object.freeze({ when, httpStatus, rpcCode, retryable, remedy });

/** Each code with its row. Frozen: a row is a promise to those who match on it. */
export const errorSpecs: Readonly<Record<ErrorCode, ErrorSpec>> = Object.freeze(
  Object.fromEntries(errorCodes.map((code) => [code, toSpec(rows[code])])) as Record<
    ErrorCode,
    ErrorSpec
  >,
);
