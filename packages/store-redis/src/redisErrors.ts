/**
 * What ioredis and Redis throw, as the errors of the store port (P5).
 *
 * Called wherever a command can fail. Redis names its refusals by the first word of the message; that word alone is read.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";

/** Refusals that pass by themselves, in plain words. */
const reasons: ReadonlyMap<string, string> = new Map([
  ["LOADING", "Redis is loading its data after a start; repeat in a moment"],
  ["READONLY", "this Redis is a replica now; the connection looks for the new master"],
  ["MASTERDOWN", "this Redis is a replica that lost its master"],
  ["CLUSTERDOWN", "a part of the Redis Cluster has no master at the moment"],
  ["TRYAGAIN", "the Redis Cluster is moving keys; repeat in a moment"],
  ["NOREPLICAS", "too few replicas of Redis are connected (min-replicas-to-write)"],
  ["BUSY", "Redis is busy with a script"],
  [
    "MISCONF",
    "Redis can't write to its disk and refuses writes; see its log, and the disk's free space",
  ],
  ["NOAUTH", "Redis asks for a password; give one in the URL"],
  ["WRONGPASS", "Redis does not take this user and password"],
  [
    "NOPERM",
    "this Redis user may not do what the store needs; see the package's README for the rights",
  ],
]);

/** The error of the port that stands for a failed command. */
export function asStoreError(failure: unknown): RepriseError {
  if (isRepriseError(failure)) return failure;
  const message = failure instanceof Error ? failure.message : String(failure);
  // Refused inside a script, the word comes later in the line.
  const word = /^(?:ERR Error running script[^:]*: )?-?([A-Z]+) /.exec(message)?.[1] ?? "";
  if (word === "OOM") {
    const full =
      "Redis has reached maxmemory and refuses writes; raise it with CONFIG SET maxmemory";
    return new RepriseError("STORE_FULL", full, { cause: failure });
  }
  const reason = reasons.get(word) ?? "Redis can't be reached, or refused a command (see cause)";
  return new RepriseError("STORE_UNAVAILABLE", reason, { cause: failure });
}
