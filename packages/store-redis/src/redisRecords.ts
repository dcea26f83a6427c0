/**
 * Shared records in Redis: one script a call, under keys of the record's own hash tag.
 *
 * Called through the port; the store makes and ends it.
 *
 * S1 as the store's P1. S4, S6 by the server's clock inside the scripts; keys go a minute after what is in them has expired.
 * S2 Revisions are drawn, 96 bits, so none is given twice whatever was removed, has expired or was lost.
 * R1 A write that ioredis sends again after a lost reply is known by what its writer drew, and counts once, as long as not more
 *    than 8 writes of the record or 16 appends to the log came in between; later it counts as lost, or is appended again.
 * R2 Values and items are JSON, wrapped where the store has a `recordEncryptionKey`. Notices are not: they name what changed.
 */
import { randomBytes } from "node:crypto";
import type { JsonValue } from "@reprise/journal";
import {
  checkAppended,
  checkExpiry,
  checkNotice,
  checkPart,
  type SharedRecords,
  sharedText,
} from "@reprise/runtime";
import type { Capacity } from "./capacity.ts";
import type { RedisClient } from "./connection.ts";
import type { Keys } from "./keys.ts";
import type { Notices } from "./notices.ts";
import type { RecordText } from "./recordText.ts";
import { runScript } from "./script.ts";
import {
  appendToLog,
  putSharedRecord,
  readLog,
  readSharedRecord,
  removeSharedRecord,
} from "./sharedScripts.ts";
import type { ServerTime } from "./storeClock.ts";

/** So that a key is still there when its record expires, and what decides is the record. */
const KEPT_AHEAD_MS = 60_000;
/** Far longer than any command waits for its reply. */
const REMOVAL_KNOWN_MS = 60_000;

/** What they are made of. */
export interface RecordParts {
  readonly client: RedisClient;
  readonly keys: Keys;
  readonly time: ServerTime;
  readonly text: RecordText;
  readonly capacity: Capacity;
  readonly notices: Notices;
  /** Runs a call that the store's `close` waits for, and makes its failure one of the port. */
  readonly tracked: <Value>(call: () => Promise<Value>) => Promise<Value>;
}

/** The shared records of one store. */
export class RedisRecords implements SharedRecords {
  readonly #parts: RecordParts;

  constructor(parts: RecordParts) {
    this.#parts = parts;
  }

  get: SharedRecords["get"] = (key) =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text } = this.#parts;
      const args = { clock: time.argument };
      const reply = await runScript(client, readSharedRecord, keys.ofShared(key), args);
      if (reply.tag === "NONE") return undefined;
      const value = JSON.parse(text.open(reply.value)) as JsonValue;
      return { value, revision: reply.revision };
    });

  put: SharedRecords["put"] = (key, value, expected, expiresAt) =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text, capacity } = this.#parts;
      const names = keys.ofShared(key);
      const revision = drawn();
      const args = {
        clock: time.argument,
        expected: expected ?? "",
        revision,
        value: text.seal(sharedText(value)),
        expiresAt: checkExpiry(expiresAt),
        aheadMs: KEPT_AHEAD_MS,
      };
      // A revision that was never given; to the script it would say that none stands.
      if (expected === "") return undefined;
      if (expected === undefined) await capacity.check();
      const reply = await runScript(client, putSharedRecord, names, args);
      return reply === "WRITTEN" ? revision : undefined;
    });

  remove: SharedRecords["remove"] = (key, expected) =>
    this.#parts.tracked(async () => {
      const { client, keys, time } = this.#parts;
      const args = { clock: time.argument, expected, mark: drawn(), keptMs: REMOVAL_KNOWN_MS };
      const reply = await runScript(client, removeSharedRecord, keys.ofShared(key), args);
      return reply === "REMOVED";
    });

  append: SharedRecords["append"] = (log, items, limits) =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text } = this.#parts;
      const names = keys.ofShared(log);
      checkAppended(items, limits);
      const args = {
        clock: time.argument,
        // Hexadecimal: it is looked for as a pattern.
        mark: randomBytes(8).toString("hex"),
        expiresAt: checkExpiry(limits.expiresAt),
        keep: limits.keep,
        aheadMs: KEPT_AHEAD_MS,
      };
      const texts = items.map((item) => text.seal(JSON.stringify(item)));
      return await runScript(client, appendToLog, names, args, texts);
    });

  read: SharedRecords["read"] = (log, after, limit) =>
    this.#parts.tracked(async () => {
      const { client, keys, time, text } = this.#parts;
      const names = keys.ofShared(log);
      checkPart(after, limit);
      const args = { clock: time.argument, after, limit };
      const { last, first, texts } = await runScript(client, readLog, names, args);
      const items = texts.map((item, index) => ({
        number: first + index,
        text: JSON.parse(text.open(item)) as string,
      }));
      return { items, last };
    });

  publish: SharedRecords["publish"] = (channel, notice) =>
    this.#parts.tracked(async () => {
      checkNotice(channel, notice);
      await this.#parts.client.publish(this.#parts.keys.notices + channel, notice);
    });

  listen: SharedRecords["listen"] = (channel, listener) =>
    this.#parts.tracked(async () => {
      checkNotice(channel);
      return await this.#parts.notices.listen(channel, listener);
    });
}

function drawn(): string {
  return randomBytes(12).toString("base64url");
}
