/**
 * Whether a front lives: one shared record that it renews, for all the calls that it holds.
 *
 * A call's record names the front that drives it. A lease for each call would be a write for each waiting call every few
 * seconds; this is one for each front, whatever it holds.
 *
 * 1. The record's expiry is the lease: no instance's clock decides who is dead.
 * 2. A front that could not renew in time may have lost its calls; `lapsed` tells it to look.
 * 3. Nothing is written while the front holds nothing.
 */
import type { Clock, SharedRecords } from "@reprise/runtime";
import type { Ticked, Wheel } from "../wheel.ts";

const kind = "front";

/** What presence needs of the lane. */
export interface PresencePorts {
  readonly shared: SharedRecords;
  readonly clock: Clock;
  readonly leaseMs: number;
  readonly wheel: Wheel;
  /** Whether this front holds a call or a stream. */
  readonly isNeeded: () => boolean;
  /** The lease was over before it was renewed. */
  readonly lapsed: () => void;
  readonly failed: (error: unknown) => void;
}

/** This front's sign of life, and the look at others'. */
export class Presence implements Ticked {
  readonly id: string;
  readonly #ports: PresencePorts;
  #revision: string | undefined;
  #renewedAt = Number.NEGATIVE_INFINITY;
  #renewing: Promise<void> | undefined;
  #isClosed = false;

  /** `id` is this process's name among the fronts. */
  constructor(id: string, ports: PresencePorts) {
    this.id = id;
    this.#ports = ports;
  }

  /** Whether this front stops: what it still holds, others may take. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves once others see that this front lives, unless it stops. Rejects when the store can't be reached. */
  ensure(): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    // Also for a young lease: the wheel forgot this front if it held nothing for a moment, and nobody would renew.
    this.#ports.wheel.add(this);
    return this.#age() < this.#ports.leaseMs / 2 ? undefined : this.#renew();
  }

  /** Whether a front lives, this one included. */
  async isAlive(front: string): Promise<boolean> {
    if (front === this.id) return !this.#isClosed;
    return (await this.#ports.shared.get({ kind, id: front })) !== undefined;
  }

  tick(): void {
    if (this.#isClosed || !this.#ports.isNeeded()) this.#ports.wheel.delete(this);
    else if (this.#age() >= this.#ports.leaseMs / 3) this.#renew().catch(this.#ports.failed);
  }

  /** Says at once that this front drives nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#renewing?.catch(() => undefined);
    const revision = this.#revision;
    this.#revision = undefined;
    if (revision !== undefined) await this.#ports.shared.remove({ kind, id: this.id }, revision);
  }

  #age(): number {
    return this.#ports.clock.monotonic() - this.#renewedAt;
  }

  #renew(): Promise<void> {
    this.#renewing ??= this.#write().finally(() => {
      this.#renewing = undefined;
    });
    return this.#renewing;
  }

  async #write(): Promise<void> {
    const { shared, clock, leaseMs } = this.#ports;
    const at = clock.monotonic();
    const key = { kind, id: this.id };
    const wasHeld = this.#revision !== undefined;
    let revision = await shared.put(key, {}, this.#revision, clock.now() + leaseMs);
    if (revision === undefined) {
      const found = await shared.get(key);
      revision = await shared.put(key, {}, found?.revision, clock.now() + leaseMs);
    }
    const hasLapsed = wasHeld && at - this.#renewedAt >= leaseMs;
    this.#revision = revision;
    if (revision !== undefined) this.#renewedAt = at;
    if (hasLapsed && this.#ports.isNeeded()) this.#ports.lapsed();
  }
}
