/**
 * One good call in the words of each revision, and the way there: what attacks on bodies are made of.
 */
import { metaKeys } from "@reprise/protocol";
import { openSession, postBody, type SessionReply } from "./handshake.ts";
import type { Target } from "./target.ts";

const envelope = {
  [metaKeys.protocolVersion]: "2026-07-28",
  [metaKeys.clientCapabilities]: { elicitation: { form: {} } },
};
/** What goes with a good body in 2026-07-28. */
export const modernHeaders = {
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": "echo",
};
/** A call of `echo` whose arguments are given as JSON text. */
export const modernText = (args: string): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args},"_meta":${JSON.stringify(envelope)}}}`;
/** The same in the handshake era. */
export const legacyText = (args: string): string =>
  `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`;

/** Sends a body as it is. */
export type Send = (body: string | Uint8Array) => Promise<SessionReply>;
/** All revisions that are served. */
export const eras = ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] as const;

/** How bodies are sent in an era, with what a good one carries around them. */
export async function senderOf(target: Target, era: string): Promise<Send> {
  if (era === "2026-07-28") return (body) => postBody(target.url, body, modernHeaders);
  const session = await openSession(target.url, era);
  return session.send;
}

/** The text of a call of `echo` in an era. */
export const textOf = (era: string): ((args: string) => string) =>
  era === "2026-07-28" ? modernText : legacyText;
