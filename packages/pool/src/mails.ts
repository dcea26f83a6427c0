/**
 * What workers send to the front that holds a response: a stream per front.
 *
 * M1 A stream is read from where the last reading ended, so a broken connection loses nothing; who reads trims.
 * M2 Only its front makes a stream. What is sent to a front that is gone for a minute is dropped by the server.
 * M3 A mail is a hint in a hurry: its loss costs time, never a result (the dispatcher looks for jobs that are missing).
 */
import type { JsonValue } from "@reprise/journal";
import type { CallReply, Logger } from "@reprise/runtime";
import type { JobCodec } from "./jobCodec.ts";
import type { PoolRedis } from "./redisPort.ts";

/** A mail about one job. */
export type Mail =
  | { readonly id: string; readonly kind: "reply"; readonly reply: CallReply }
  | { readonly id: string; readonly kind: "done" }
  | {
      readonly id: string;
      readonly kind: "progress";
      readonly value: number;
      readonly total?: number | undefined;
      readonly message?: string | undefined;
    }
  | {
      readonly id: string;
      readonly kind: "log";
      readonly level: string;
      readonly data: JsonValue;
      readonly logger?: string | undefined;
    }
  | { readonly id: string; readonly kind: "asksChecked" };

const LIFE_MS = 60_000;
/** Most mails that wait for a front that does not read; more are dropped, oldest first. */
const MOST = 10_000;
const BLOCK_MS = 5_000;
const BATCH = 256;

/** Mails on their way out of a worker: those of one turn of the event loop go to a front as one entry, in their order. */
export class Outbox {
  readonly #client: PoolRedis;
  readonly #codec: JobCodec;
  readonly #log: Logger;
  #waiting = new Map<string, string[]>();

  constructor(client: PoolRedis, codec: JobCodec, log: Logger) {
    this.#client = client;
    this.#codec = codec;
    this.#log = log;
  }

  /** Sends a mail, not waited for: what is lost is missed by its front (M3). */
  send(mailbox: string, mail: Mail): void {
    const text = JSON.stringify(this.#codec.pack(mail));
    const waiting = this.#waiting.get(mailbox);
    if (waiting !== undefined) {
      waiting.push("m", text);
      return;
    }
    if (this.#waiting.size === 0) setImmediate(() => this.#flush());
    this.#waiting.set(mailbox, ["m", text]);
  }

  #flush(): void {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [mailbox, fields] of waiting) {
      this.#client
        .call("XADD", mailbox, "NOMKSTREAM", "MAXLEN", "~", MOST, "*", ...fields)
        .catch((error: unknown) => {
          this.#log.warn({ err: error }, "mails to a front could not be sent");
        });
    }
  }
}

/** A front's mailbox. */
export class Mailbox {
  readonly #client: PoolRedis;
  readonly #reader: PoolRedis;
  readonly #key: string;
  readonly #codec: JobCodec;
  readonly #log: Logger;
  readonly #receive: (mail: Mail) => void;
  #last = "0";
  #trimmed = "0";
  #closed = false;

  /** @param reader a client of this mailbox's own: it blocks */
  constructor(
    client: PoolRedis,
    reader: PoolRedis,
    key: string,
    codec: JobCodec,
    log: Logger,
    receive: (mail: Mail) => void,
  ) {
    this.#client = client;
    this.#reader = reader;
    this.#key = key;
    this.#codec = codec;
    this.#log = log;
    this.#receive = receive;
  }

  /** Makes the stream and begins to read. Rejects when Redis can't be reached. */
  async open(): Promise<void> {
    await this.#make();
    void this.#read();
  }

  /** Keeps the stream, and takes out what was read. Rejects when Redis can't be reached. */
  async keep(): Promise<void> {
    const kept = await this.#client.call("PEXPIRE", this.#key, LIFE_MS);
    if (kept === 0) await this.#make();
    if (this.#last === this.#trimmed) return;
    const last = this.#last;
    await this.#client.call("XTRIM", this.#key, "MINID", last);
    this.#trimmed = last;
  }

  /** Reads no more and lets the stream go. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#reader.disconnect();
    await this.#client.call("DEL", this.#key);
  }

  async #make(): Promise<void> {
    await this.#client.call("XADD", this.#key, "MAXLEN", "~", MOST, "*", "open", "1");
    await this.#client.call("PEXPIRE", this.#key, LIFE_MS);
  }

  async #read(): Promise<void> {
    while (!this.#closed) {
      try {
        const reply = await this.#reader.call(
          ...(["XREAD", "COUNT", BATCH, "BLOCK", BLOCK_MS, "STREAMS", this.#key, this.#last] as [
            string,
            ...(string | number)[],
          ]),
        );
        this.#deliver(entriesOf(reply));
      } catch (error) {
        if (this.#closed) return;
        this.#log.warn({ err: error }, "the mailbox could not be read; it is read again");
        await new Promise((resolve) => setTimeout(resolve, 100).unref());
      }
    }
  }

  #open(text: string): void {
    try {
      this.#receive(this.#codec.unpack(JSON.parse(text)) as unknown as Mail);
    } catch (error) {
      this.#log.warn({ err: error }, "a mail of a worker could not be read");
    }
  }

  #deliver(entries: readonly StreamEntry[]): void {
    for (const [id, fields] of entries) {
      this.#last = id;
      for (let index = 0; index < fields.length; index += 2) {
        const text = fields[index + 1];
        if (fields[index] === "m" && text !== undefined) this.#open(text);
      }
    }
  }
}

type StreamEntry = readonly [id: string, fields: readonly string[]];

/** The entries in a reply to XREAD of one stream: `[[key, entries]]`, or with RESP3 `[key, entries]`. */
function entriesOf(reply: unknown): readonly StreamEntry[] {
  if (!Array.isArray(reply)) return [];
  const [, entries] = (typeof reply[0] === "string" ? reply : reply[0]) as [string, StreamEntry[]];
  return entries;
}
