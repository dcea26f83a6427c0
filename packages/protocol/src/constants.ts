/**
 * Names and numbers of MCP 2026-07-28 that are compared or written on every request.
 *
 * They are repeated here instead of imported: loading the official package for a few strings costs a quarter of a
 * second at start. A test compares them with the official ones.
 */

/** The modern revisions served, newest first. */
export const supportedVersions: readonly string[] = ["2026-07-28"];

/** Keys of `_meta` that the protocol reserves, and ours. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  idempotencyKey: "reprise/idempotencyKey",
  answerBefore: "reprise/answerBefore",
} as const;

/** Severity of a log message, least first (RFC 5424). */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

/** One of `logLevels`. */
export type LogLevelName = (typeof logLevels)[number];

const revision = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Whether a version string names a revision with the initialize handshake, served or not. Revisions are dates
 * and 2026-07-28 is the first without one. What is no date is not legacy either: it gets the version error.
 */
export function isLegacyVersion(version: string): boolean {
  return revision.test(version) && version < "2026-07-28";
}
