/**
 * What lmdb throws, as the errors of the store port (P5).
 *
 * Called wherever an lmdb call can fail. A RepriseError passes as it is; the rest is told apart by error number,
 * never by message, except where lmdb-js gives nothing else.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";

/** EIO: also what lmdb makes of a write that the disk took only a part of. */
const PARTIAL_WRITE = 5;
/** MDB_MAP_FULL, ENOSPC, EFBIG and EDQUOT: no room for another page. */
const fullCodes: ReadonlySet<unknown> = new Set([-30792, 28, 27, 122, "ENOSPC", "EFBIG", "EDQUOT"]);
const fullWords = /MDB_MAP_FULL|No space left|File too large|quota/i;

/**
 * The error of the port that stands for a failure of the database.
 *
 * @param isDiskLow asked only where lmdb's own number leaves open whether the disk is full or broken
 */
export async function asStoreError(
  failure: unknown,
  isDiskLow: () => boolean,
): Promise<RepriseError> {
  if (isRepriseError(failure)) return failure;
  const cause = await rootOf(failure);
  if (isFull(cause) || (codeOf(cause) === PARTIAL_WRITE && isDiskLow())) {
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
  if (fullCodes.has(codeOf(cause))) return true;
  return cause instanceof Error && fullWords.test(cause.message);
}

function codeOf(cause: unknown): unknown {
  return typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
}
