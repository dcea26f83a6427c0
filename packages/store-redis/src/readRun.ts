/**
 * A run as it was read from Redis, put together as the transition functions want it.
 *
 * Called by the store with the reply of `readRun.lua`. Changes nothing.
 */
import { RepriseError } from "@reprise/errors";
import type { Entry } from "@reprise/journal";
import {
  type KeyRecord,
  RECORD_FORMAT,
  type RunHead,
  type RunOrigin,
  type StoredRun,
} from "@reprise/runtime";
import { decodeHead, decodeOrigin, type HeadNotes } from "./headText.ts";
import type { RecordText } from "./recordText.ts";
import type { ReadReply } from "./runScripts.ts";

/** A run with what the adapter knows of it besides. */
export interface ReadRun extends StoredRun {
  readonly runId: string;
  /** Counts the writes of the head. */
  readonly revision: number;
  readonly notes: HeadNotes;
  /** Length of the origin as text. */
  readonly originBytes: number;
}

/** Thrown where a decision turns out to need the entries of a run that was read without them. */
export class EntriesWanted extends Error {}

/** The run of a reply; undefined when there is none. @throws RepriseError FORMAT_UNKNOWN, STORE_UNAVAILABLE */
export function runOf(
  runId: string,
  reply: ReadReply,
  withEntries: boolean,
  text: RecordText,
): ReadRun | undefined {
  if (reply.tag === "NONE") return undefined;
  const { fields } = reply;
  const originText = fields.get("origin");
  const headText = fields.get("head");
  if (originText === undefined || headText === undefined) {
    throw new RepriseError("STORE_UNAVAILABLE", `run ${runId} is damaged in the store`);
  }
  const origin = decodeOrigin(text.open(originText), runId);
  checkFormat(origin);
  const { body, notes } = decodeHead(text.open(headText));
  const until = fields.get("leaseUntil");
  const head: RunHead = {
    ...body,
    lease:
      until === undefined
        ? undefined
        : { holder: fields.get("holder") ?? null, until: Number(until) },
    waiters: [...reply.waiters].map(([id, holder]) => ({ id, holder })),
    stopping: fields.has("stopping"),
  };
  return {
    runId,
    origin,
    head,
    revision: Number(fields.get("revision")),
    notes,
    originBytes: originText.length,
    entries: () => {
      if (!withEntries && head.entryCount > 0) throw new EntriesWanted();
      return reply.entries.map((entry) => JSON.parse(text.open(entry)) as Entry);
    },
  };
}

/**
 * The idempotency record. Redis holds only where it leads; the rest is what the run itself says, so that no write of a run
 * has to touch it.
 *
 * @param run undefined: the run is lost, and nothing but that is decided by it
 */
export function keyRecordOf(leadsTo: string, run: ReadRun | undefined): KeyRecord {
  return {
    format: RECORD_FORMAT,
    runId: leadsTo,
    generation: run?.origin.key?.generation ?? 0,
    argsDigest: run?.origin.key?.argsDigest ?? "",
    principal: run?.origin.caller.principal ?? "",
    free: run?.head.keyFree ?? false,
    expiresAt: run?.head.expiresAt ?? Number.POSITIVE_INFINITY,
  };
}

function checkFormat(origin: RunOrigin): void {
  if (origin.format <= RECORD_FORMAT) return;
  const message = `run ${origin.runId} was written in record format ${origin.format}; this release knows ${RECORD_FORMAT}`;
  throw new RepriseError("FORMAT_UNKNOWN", message);
}
