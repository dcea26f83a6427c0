/**
 * What lmdb throws, as the errors of the store port (P5).
 *
 * Called wherever an lmdb call can fail. A RepriseError passes as it is; the rest is told apart by error number,
 * never by message, except where lmdb-js gives nothing else.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";

/** MDB_MAP_FULL, ENOSPC, EFBIG and EDQUOT: no room for another page. */
const fullCodes: ReadonlySet<unknown> = new Set([-30792, 28, 27, 122, "ENOSPC", "EFBIG", "EDQUOT"]);
const fullWords = /MDB_MAP_FULL|No space left|File too large|quota/i;

/** The error of the port that stands for a failure of the database. */
export async function asStoreError(failure: unknown): Promise<RepriseError> {
  if (isRepriseError(failure)) return failure;
  const cause = await rootOf(failure);
  if (isFull(cause)) {
    return new RepriseError("STORE_FULL", "the store has no room for another write", { cause });
  }
  return new RepriseError("STORE_UNAVAILABLE", "the store did not take the write", { cause });
}

/** lmdb-js rejects each write of a failed commit alike, with the reason in a promise that rejects later. */
async function rootOf(failure: unknown): Promise<unknown> {
  if (typeof failure !== "object" || failure === null || !("commitError" in failure))
    return failure;
  try {
    await failure.commitError;
    return failure;
  } catch (reason) {
    return reason;
  }
}

function isFull(cause: unknown): boolean {
  if (typeof cause !== "object" || cause === null) return false;
  if ("code" in cause && fullCodes.has(cause.code)) return true;
  return "message" in cause && typeof cause.message === "string" && fullWords.test(cause.message);
}
