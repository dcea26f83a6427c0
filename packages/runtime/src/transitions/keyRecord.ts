/**
 * The idempotency record follows its run: it lives as long, and is free when the run says so.
 */
import type { KeyRecord, RunHead, RunOrigin } from "../runRecord.ts";

/** The record after a write of `head`; undefined when the record already leads to another run, or is as it should be. */
export function keyAfter(
  key: KeyRecord | undefined,
  origin: Pick<RunOrigin, "runId">,
  head: RunHead,
): KeyRecord | undefined {
  if (key === undefined || key.runId !== origin.runId) return undefined;
  if (key.free === head.keyFree && key.expiresAt === head.expiresAt) return undefined;
  return { ...key, free: head.keyFree, expiresAt: head.expiresAt };
}
