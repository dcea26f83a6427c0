/**
 * The payment service's memory: which money moved, and which idempotency key moved it.
 *
 * 1. What it returns is in the ledger on disk; nothing is listed before that.
 * 2. A key moves money once. The same key and request give the first fact again, also while the first is still
 *    being written and after a restart; the same key with another request is a KeyReused.
 * 3. Nothing else stands between a request and the money. A rule such as "refund an order once" would hide a
 *    doubled request from whoever counts refunds, and counting them is what this service is for.
 */
import * as z from "zod";
import { AppendLog } from "../appendLog.ts";
import type {
  Booking,
  BookingRequest,
  Charge,
  Order,
  Recorded,
  Refund,
  RefundRequest,
} from "./model.ts";
import { paidOrders } from "./orders.ts";

/** An idempotency key came again with another request. */
export class KeyReused extends Error {}

/** How a request came. */
export interface Call {
  readonly idempotencyKey: string | null;
  /** Moves the money even if the key did so before: a service without idempotency keys. */
  readonly ignoreKeys?: boolean;
}

/** What moves money; also the part of a ledger entry that a repeated key is compared with. */
type Movement = { readonly refund: RefundRequest } | { readonly booking: BookingRequest };
type Entry = Recorded & Movement;

const money = { amount: z.int().positive(), currency: z.string().regex(/^[A-Z]{3}$/) };
const recorded = { id: z.string(), at: z.string(), idempotencyKey: z.string().nullable() };

/** What `POST /refunds` takes. */
export const refundRequest: z.ZodType<RefundRequest> = z.strictObject({
  orderId: z.string(),
  ...money,
});

/** What `POST /bookings` takes. */
export const bookingRequest: z.ZodType<BookingRequest> = z.strictObject({
  kind: z.enum(["flight", "hotel"]),
  city: z.string().min(1),
  departure: z.iso.date(),
  nights: z.int().positive(),
  ...money,
});

const ledgerEntry: z.ZodType<Entry> = z.union([
  z.strictObject({ ...recorded, refund: refundRequest }),
  z.strictObject({ ...recorded, booking: bookingRequest }),
]);

/** Orders, charges, refunds and bookings, kept in one ledger. */
export class PaymentBook {
  readonly #ledger: AppendLog<Entry>;
  readonly #entries: Entry[];
  /** By key: the first request with it, and its fact as soon as that is on disk. */
  readonly #first = new Map<
    string,
    { readonly request: string; readonly fact: Promise<Recorded> }
  >();
  #lastNumber: number;

  private constructor(ledger: AppendLog<Entry>, entries: Entry[]) {
    this.#ledger = ledger;
    this.#entries = entries;
    this.#lastNumber = entries.length;
    for (const { id, at, idempotencyKey, ...movement } of entries) {
      if (idempotencyKey === null || this.#first.has(idempotencyKey)) continue;
      const fact = Promise.resolve({ id, at, idempotencyKey });
      this.#first.set(idempotencyKey, { request: JSON.stringify(movement), fact });
    }
  }

  /** Opens the ledger, or begins an empty one. */
  static async open(path: string): Promise<PaymentBook> {
    const { log, entries } = await AppendLog.open(path, (value) => ledgerEntry.parse(value));
    return new PaymentBook(log, entries);
  }

  /** Every order, with what became of it. */
  orders(): Order[] {
    const refunded = new Set(this.refunds().map((refund) => refund.orderId));
    return paidOrders.map((order) => ({
      ...order,
      status: refunded.has(order.id) ? "refunded" : "paid",
    }));
  }

  /** What was taken for orders and bookings. */
  charges(): Charge[] {
    const taken = [...paidOrders.map(({ id, total }) => ({ id, ...total })), ...this.bookings()];
    return taken.map(({ id, amount, currency }) => ({
      id: `charge-${id}`,
      reference: id,
      amount,
      currency,
    }));
  }

  refunds(): Refund[] {
    return this.#entries.flatMap((entry) => {
      if (!("refund" in entry)) return [];
      const { refund, ...recorded } = entry;
      return [{ ...recorded, ...refund }];
    });
  }

  bookings(): Booking[] {
    return this.#entries.flatMap((entry) => {
      if (!("booking" in entry)) return [];
      const { booking, ...recorded } = entry;
      return [{ ...recorded, ...booking }];
    });
  }

  /** @throws KeyReused */
  async refund(refund: RefundRequest, call: Call): Promise<Refund> {
    return { ...(await this.#move({ refund }, call)), ...refund };
  }

  /** @throws KeyReused */
  async book(booking: BookingRequest, call: Call): Promise<Booking> {
    return { ...(await this.#move({ booking }, call)), ...booking };
  }

  /** Waits for what is being written. */
  close(): Promise<void> {
    return this.#ledger.close();
  }

  /** Looks at the key and takes it in one go, so that of two requests at once only one can move money. */
  async #move(movement: Movement, { idempotencyKey, ignoreKeys = false }: Call): Promise<Recorded> {
    if (idempotencyKey === null) return this.#record(movement, null);
    const request = JSON.stringify(movement);
    const first = this.#first.get(idempotencyKey);
    if (first === undefined) {
      const fact = this.#record(movement, idempotencyKey);
      this.#first.set(idempotencyKey, { request, fact });
      return fact;
    }
    if (ignoreKeys) return this.#record(movement, idempotencyKey);
    if (first.request !== request) throw new KeyReused("the key was used for another request");
    return first.fact;
  }

  async #record(movement: Movement, idempotencyKey: string | null): Promise<Recorded> {
    this.#lastNumber += 1;
    const kind = "refund" in movement ? "refund" : "booking";
    const fact = {
      id: `${kind}-${this.#lastNumber}`,
      at: new Date().toISOString(),
      idempotencyKey,
    };
    await this.#ledger.append({ ...fact, ...movement });
    this.#entries.push({ ...fact, ...movement });
    return fact;
  }
}
