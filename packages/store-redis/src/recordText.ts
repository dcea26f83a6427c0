/**
 * What records hold, as it stands in Redis: open, or wrapped under `recordEncryptionKey`.
 *
 * Called by whoever writes or reads a head, an origin, an entry, a shared record's value or a log's item. Status fields, leases, times and ids stay open: scripts
 * compare them.
 *
 * T1 With a key everything is written wrapped; what was written open before the key came is still read.
 * T2 Against whoever can write to Redis this is no protection: a record can be replaced by an older one of its own.
 */
import { RepriseError } from "@reprise/errors";
import { createRecordWrapping, type Secrets } from "@reprise/request-state";

/** Writes and reads texts of records, which are JSON. */
export interface RecordText {
  seal(text: string): string;
  /** @throws RepriseError CONFIG_INVALID when no key of this process wrapped it, STORE_UNAVAILABLE when it was altered */
  open(text: string): string;
}

/** @param secrets undefined: nothing is wrapped */
export function recordTextOf(secrets: Secrets | undefined): RecordText {
  const wrapping = secrets === undefined ? undefined : createRecordWrapping(secrets);
  return {
    seal: (text) => wrapping?.wrap(text) ?? text,
    open(text) {
      // A wrapped text starts with its header, `{"` in base64url; no JSON text starts with that letter.
      if (!text.startsWith("e")) return text;
      const opened = wrapping?.unwrap(text) ?? "wrapped_by_another";
      if (typeof opened === "object") return opened.text;
      if (opened === "altered") {
        throw new RepriseError("STORE_UNAVAILABLE", "a record was altered in the store");
      }
      throw new RepriseError(
        "CONFIG_INVALID",
        "a record is encrypted with a key that this process lacks; give all processes the same recordEncryptionKey",
      );
    },
  };
}
