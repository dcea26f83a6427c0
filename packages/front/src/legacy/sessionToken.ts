/**
 * `Mcp-Session-Id`: a session as a sealed token, so that any instance knows it and none keeps it (docs/design.md 8.2).
 *
 * The lane issues one at `initialize` and opens it with every later request. It is sealed with the keys of the request
 * states, under an audience of its own.
 *
 * 1. A session id never opens as a request state, nor the other way round: their audiences differ.
 * 2. Unknown, altered, expired and foreign ids are refused alike, with SESSION_UNKNOWN: the client can only initialize
 *    anew, and nobody learns that another's session exists.
 * 3. The token is visible ASCII (MCP 2025-11-25, transports, "Session Management") and at most `maxTokenBytes` long.
 */
import { hash } from "node:crypto";
import { isRepriseError, RepriseError } from "@reprise/errors";
import {
  isJsonObject,
  isLegacyRevision,
  type JsonObject,
  type LegacyRevision,
} from "@reprise/protocol";
import type { Clock, StateBinding, StateSealer } from "@reprise/runtime";

/** The longest session id: proxies and servers limit headers, and it travels with every request. */
const maxTokenBytes = 2048;
const format = 1;

/** What `initialize` agreed on, as every later request has it. */
export interface LegacySession {
  /** Random; names the session's record, and begins the ids of its calls and asks. */
  readonly id: string;
  readonly revision: LegacyRevision;
  readonly client: { readonly name: string; readonly version: string };
  /** In the words of 2026-07-28, cut to what the revision has. */
  readonly capabilities: JsonObject;
  readonly principal: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

/** Issues and opens the session ids of one server. */
export class SessionTokens {
  readonly #sealer: StateSealer;
  readonly #audience: string;
  readonly #clock: Clock;

  constructor(sealer: StateSealer, audience: string, clock: Clock) {
    this.#sealer = sealer;
    this.#audience = sha256(`legacy session: ${audience}`);
    this.#clock = clock;
  }

  /** @throws RepriseError INVALID_PARAMS when it would be too long */
  async issue(session: LegacySession): Promise<string> {
    const { id, revision, client, capabilities, principal, expiresAt } = session;
    let token: string;
    try {
      token = await this.#sealer.seal({
        payload: { format, id, revision, client, capabilities },
        binding: this.#binding(principal),
        issuedAtMs: this.#clock.now(),
        expiresAtMs: expiresAt,
        confidential: false,
      });
    } catch (error) {
      if (isRepriseError(error, "STATE_TOO_LARGE")) throw tooLarge();
      throw error;
    }
    if (token.length > maxTokenBytes) throw tooLarge();
    return token;
  }

  /** @throws RepriseError SESSION_UNKNOWN, REQUEST_STATE_UNAVAILABLE */
  async open(token: string, principal: string): Promise<LegacySession> {
    if (token.length > maxTokenBytes) throw unknownSession();
    const binding = this.#binding(principal);
    const opened = await this.#sealer.open({ token, binding, nowMs: this.#clock.now() });
    if (!opened.ok) {
      if (opened.retryable !== true) throw unknownSession();
      throw new RepriseError("REQUEST_STATE_UNAVAILABLE", "The session id can't be judged now.", {
        data: { retryAfterMs: 1000 },
      });
    }
    const session = opened.expired ? undefined : readPayload(opened.payload);
    if (session === undefined) throw unknownSession();
    // Held by every call of the session: a literal without spreads, because V8 gives each object with those a hidden class of its own.
    const { id, revision, client, capabilities } = session;
    return { id, revision, client, capabilities, principal, expiresAt: opened.expiresAtMs };
  }

  #binding(principal: string): StateBinding {
    return {
      audience: this.#audience,
      operation: "initialize",
      principal: sha256(principal),
      params: "session",
    };
  }
}

/** The one refusal of a session that can't be used. */
export function unknownSession(): RepriseError {
  return new RepriseError("SESSION_UNKNOWN", "There is no such session: initialize anew.");
}

function tooLarge(): RepriseError {
  return new RepriseError(
    "INVALID_PARAMS",
    `The client's name, version and capabilities make a session id of more than ${maxTokenBytes} bytes.`,
    { data: { limit: maxTokenBytes } },
  );
}

/** The seal vouches for the shape; the format is checked because another release may have sealed it. */
function readPayload(
  payload: Readonly<Record<string, unknown>>,
): Omit<LegacySession, "principal" | "expiresAt"> | undefined {
  const { id, revision, client, capabilities } = payload;
  if (payload["format"] !== format || typeof id !== "string" || !isLegacyRevision(revision)) {
    return undefined;
  }
  if (!isJsonObject(client) || !isJsonObject(capabilities)) return undefined;
  const { name, version } = client;
  if (typeof name !== "string" || typeof version !== "string") return undefined;
  return { id, revision, client: { name, version }, capabilities };
}

function sha256(text: string): string {
  return hash("sha256", text, "base64url");
}
