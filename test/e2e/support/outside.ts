/**
 * The outside world of one case, and what it counts: refunds and bookings in the payment service's ledger, messages in
 * the mail server's log. It runs in the test's process, out of reach of every kill.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AcceptedMail,
  type Booking,
  type Cancellation,
  type Fault,
  type OutsideWorld,
  type Refund,
  startOutsideWorld,
} from "@reprise/shop";
import type { Composition } from "./messages.ts";

/** What happened outside, without the times and keys that differ from run to run. */
export interface Facts {
  readonly refunds: readonly { readonly orderId: string; readonly amount: number }[];
  readonly bookings: readonly { readonly kind: string; readonly amount: number }[];
  /** Kinds of the bookings that were taken back. */
  readonly cancelled: readonly string[];
  readonly mails: readonly { readonly to: readonly string[]; readonly subject: string }[];
}

/** One case's world. */
export class CaseWorld {
  readonly #directory: string;
  readonly #world: OutsideWorld;

  private constructor(directory: string, world: OutsideWorld) {
    this.#directory = directory;
    this.#world = world;
  }

  /** A fresh world and an empty data directory. */
  static async start(): Promise<CaseWorld> {
    const directory = await mkdtemp(join(tmpdir(), "reprise-matrix-"));
    const dataDir = join(directory, "outside");
    return new CaseWorld(directory, await startOutsideWorld({ port: 0, smtpPort: 0, dataDir }));
  }

  /** How a server process serves the shop in this world. */
  composition(more: Partial<Composition> = {}): Composition {
    const { url, smtpPort } = this.#world;
    const dataDir = join(this.#directory, "server");
    return { server: "shop", dataDir, outsideUrl: url, smtpPort, ...more };
  }

  /** A path for a file of this case. */
  path(name: string): string {
    return join(this.#directory, name);
  }

  /** Breaks something. */
  async suffer(fault: Partial<Fault>): Promise<void> {
    const headers = { "content-type": "application/json" };
    const url = new URL("/faults", this.#world.url);
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(fault) });
    if (!response.ok) throw new Error(await response.text());
  }

  /** What happened so far. */
  async facts(): Promise<Facts> {
    const [refunds, bookings, cancellations, mails] = await Promise.all([
      this.#list<Refund>("/refunds"),
      this.#list<Booking>("/bookings"),
      this.#list<Cancellation>("/cancellations"),
      this.#list<AcceptedMail>("/mails"),
    ]);
    return {
      refunds: refunds.map(({ orderId, amount }) => ({ orderId, amount })),
      bookings: bookings.map(({ kind, amount }) => ({ kind, amount })),
      cancelled: cancellations.map(
        ({ bookingId }) => bookings.find(({ id }) => id === bookingId)?.kind ?? bookingId,
      ),
      mails: mails.map(({ to, subject }) => ({ to, subject })),
    };
  }

  async close(): Promise<void> {
    await this.#world.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #list<T>(path: string): Promise<readonly T[]> {
    return (await (await fetch(new URL(path, this.#world.url))).json()) as readonly T[];
  }
}
