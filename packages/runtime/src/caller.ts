/**
 * Who calls, and with which client: facts of one request that handlers and bindings see.
 */
import type { JsonObject } from "@reprise/journal";
import type { ClientCapabilities } from "./wireTypes.ts";

/** Who called: one person or machine with one MCP client. */
export interface Caller {
  /**
   * Issuer, subject and client in one canonical string, or `anonymous` without auth. A refreshed token of the
   * same person through the same client gives the same string.
   */
  readonly principal: string;
  /** Issuer and subject alone: the same person, whatever the client. `anonymous` without auth. */
  readonly person: string;
  /** Scopes of the token; empty without auth. */
  readonly scopes: readonly string[];
  /** Claims of the token as verified; empty without auth. */
  readonly claims: JsonObject;
}

/** The caller of a server without auth. */
export const anonymous: Caller = {
  principal: "anonymous",
  person: "anonymous",
  scopes: [],
  claims: {},
};

/** The MCP client that sent the request. Self-reported: never trusted for a decision about rights. */
export interface ClientIdentity {
  readonly info: { readonly name: string; readonly version: string } | undefined;
  readonly capabilities: ClientCapabilities;
  readonly protocolVersion: string;
}
