/**
 * Whether there is room: for a new run, for one that exists, and for readiness to stay green.
 *
 * Called inside transactions before anything is written, and by `health`.
 *
 * C1 New runs are refused while less than the reserve is left, so that the runs that exist have room to end.
 * C2 `health` is red from the moment new runs are refused on: before the store is full.
 * C3 Looking costs a few microseconds and is done at most once in a quarter of a second.
 */
import { RepriseError } from "@reprise/errors";
import type { Environment } from "./environment.ts";
import type { FileSystemProbe } from "./ports.ts";

const RECHECK_MS = 250;

/** What may be used. */
export interface CapacityLimits {
  /** Bytes that stored values may take up. */
  readonly maxBytes: number;
  /** Bytes, of `maxBytes` and of the disk, that are kept for runs that exist. */
  readonly reserveBytes: number;
}

/** Room in one store. */
export class Capacity {
  readonly #environment: Environment;
  readonly #limits: CapacityLimits;
  readonly #probe: FileSystemProbe;
  readonly #monotonicNow: () => number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #used = 0;
  #free = Number.POSITIVE_INFINITY;

  constructor(
    environment: Environment,
    limits: CapacityLimits,
    probe: FileSystemProbe,
    monotonicNow: () => number,
  ) {
    this.#environment = environment;
    this.#limits = limits;
    this.#probe = probe;
    this.#monotonicNow = monotonicNow;
  }

  /** Throws STORE_FULL when there is no room for another write of a run that exists, or for a new run. */
  check(isNewRun: boolean): void {
    this.#look();
    const reason = isNewRun ? this.#reserveReason() : this.#limitReason();
    if (reason !== undefined) throw new RepriseError("STORE_FULL", reason);
  }

  /** Why new runs are refused; undefined when they are not. */
  lack(): string | undefined {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    this.#look();
    return this.#reserveReason();
  }

  /**
   * What is held, and what may be: `maxBytes`, or less where the disk ends before. New runs are refused while less than the reserve
   * is left of it.
   */
  room(): { readonly usedBytes: number; readonly limitBytes: number } {
    this.#look();
    return {
      usedBytes: this.#used,
      limitBytes: Math.min(this.#limits.maxBytes, this.#used + this.#free),
    };
  }

  #look(): void {
    const now = this.#monotonicNow();
    if (now - this.#lookedAt < RECHECK_MS) return;
    this.#lookedAt = now;
    this.#used = this.#environment.usedBytes();
    this.#free = this.#probe.freeBytes(this.#environment.directory);
  }

  #limitReason(): string | undefined {
    const { maxBytes } = this.#limits;
    if (this.#used < maxBytes) return undefined;
    return `the store holds ${this.#used} bytes and maxBytes is ${maxBytes}`;
  }

  #reserveReason(): string | undefined {
    const { maxBytes, reserveBytes } = this.#limits;
    if (this.#used >= maxBytes - reserveBytes) {
      return `the store holds ${this.#used} of ${maxBytes} bytes; the last ${reserveBytes} are kept for runs that exist`;
    }
    if (this.#free < reserveBytes) {
      return `the disk has ${this.#free} bytes left; the last ${reserveBytes} are kept for runs that exist`;
    }
    return undefined;
  }
}
