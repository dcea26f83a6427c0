/**
 * A front's hold on the record of a call that it drives.
 *
 * The driver changes the record only through this. Changes and looks wait for one another, so that what `record` says is
 * never older than what was seen before.
 *
 * H1 A change is made on the newest record or not at all; undefined says that the call is lost: another front has it, or its
 *    record is gone. From then on nothing is written any more.
 * H2 Rejects when the store can't be reached; the hold stays.
 */
import type { SharedRecords } from "@reprise/runtime";
import { type CallRecord, callKey, callValue, readCallRecord, recordExpiry } from "./callRecord.ts";

/** Others only add answers, a reader or a cancellation; more defeats in a row than this are a fault. */
const maxTries = 50;

/** What a hold needs. */
export interface HoldPorts {
  readonly shared: SharedRecords;
  /** This front among all. */
  readonly me: string;
}

/** The record of one call. */
export class RecordHold {
  record: CallRecord | undefined;
  readonly #callId: string;
  readonly #ports: HoldPorts;
  readonly #latest: number;
  #revision: string | undefined;
  #busy: Promise<unknown> | undefined;

  /** `latest`: epoch milliseconds that no record of the call outlives. */
  constructor(callId: string, latest: number, ports: HoldPorts) {
    this.#callId = callId;
    this.#latest = latest;
    this.#ports = ports;
  }

  /** Makes the record. False: there is one already. */
  create(record: CallRecord): Promise<boolean> {
    return this.#alone(async () => {
      const revision = await this.#put(record, undefined);
      if (revision === undefined) return false;
      this.#keep(record, revision);
      return true;
    });
  }

  /** Holds a record that was just written elsewhere in this process. */
  take(record: CallRecord, revision: string): void {
    this.#keep(record, revision);
  }

  /** Makes a change; one that changes nothing gives the record as it is. Undefined: lost (H1). */
  change(
    transition: (record: CallRecord) => CallRecord | undefined,
  ): Promise<CallRecord | undefined> {
    return this.#alone(async () => {
      for (let tries = 0; tries < maxTries; tries++) {
        const { record } = this;
        if (record === undefined) return undefined;
        const next = transition(record);
        if (next === undefined) return record;
        const revision = await this.#put(next, this.#revision);
        if (revision !== undefined) {
          this.#keep(next, revision);
          return next;
        }
        await this.#read();
      }
      throw new Error(`the record of call ${this.#callId} is always changed by somebody else`);
    });
  }

  /** Looks at the record. Undefined: lost (H1). */
  look(): Promise<CallRecord | undefined> {
    return this.#alone(async () => {
      if (this.record !== undefined) await this.#read();
      return this.record;
    });
  }

  /** Ends the call's record. */
  remove(): Promise<void> {
    return this.#alone(async () => {
      while (this.#revision !== undefined) {
        const isRemoved = await this.#ports.shared.remove(callKey(this.#callId), this.#revision);
        if (isRemoved) this.#lose();
        else await this.#read();
      }
    });
  }

  async #read(): Promise<void> {
    const found = await this.#ports.shared.get(callKey(this.#callId));
    const record = found === undefined ? undefined : readCallRecord(found);
    if (found === undefined || record === undefined || record.owner !== this.#ports.me) {
      this.#lose();
      return;
    }
    // The parameters never change, and may be long.
    const params = this.record?.params ?? record.params;
    this.#keep({ ...record, params }, found.revision);
  }

  #put(record: CallRecord, expected: string | undefined): Promise<string | undefined> {
    const expiresAt = recordExpiry(record, this.#latest);
    return this.#ports.shared.put(callKey(this.#callId), callValue(record), expected, expiresAt);
  }

  #keep(record: CallRecord, revision: string): void {
    this.record = record;
    this.#revision = revision;
  }

  #lose(): void {
    this.record = undefined;
    this.#revision = undefined;
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    while (this.#busy !== undefined) await this.#busy.catch(() => undefined);
    const busy = work();
    this.#busy = busy;
    try {
      return await busy;
    } finally {
      this.#busy = undefined;
    }
  }
}
