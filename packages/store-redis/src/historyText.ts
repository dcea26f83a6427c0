/**
 * What is known of a run as the text that Redis holds: without what follows from the rest.
 *
 * Called by `redisHistory.ts`. The run's id stands in the key's name; what it waits for is what it asked last, while it waits.
 */
import { randomBytes } from "node:crypto";
import type { KeptHistory } from "@reprise/runtime";

/** The text; no two are alike, so that a write which is sent again after a lost reply is known. */
export function encodeKept({ summary, ...kept }: KeptHistory): string {
  const { runId: _inTheKey, waiting: _asked, ...row } = summary;
  const mark = randomBytes(6).toString("base64url");
  return JSON.stringify({ ...kept, summary: row, mark });
}

/** What the text of run `runId` says. */
export function decodeKept(text: string, runId: string): KeptHistory {
  const { mark: _mark, ...kept } = JSON.parse(text) as KeptHistory & { readonly mark: string };
  const { asked, summary } = kept;
  const waiting = summary.status === "waiting" ? asked : undefined;
  return { ...kept, summary: { ...summary, runId, waiting } };
}
