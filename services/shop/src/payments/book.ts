/**
 * The payment service's memory: which money moved, and which idempotency key moved it.
 * Called by the service's routes and its card page.
 *
 * 1. What it returns is in the ledger on disk; nothing is listed before that.
 * 2. A key moves money once. The same key and request give the first fact again, also while the first is still
 *    being written and after a restart; the same key with another request is a KeyReused.
 * 3. Nothing else stands between a request and the money. A rule such as "refund an order once" would hide a
 *    doubled request from whoever counts refunds, and counting them is what this service is for.
 * 4. An invoice is charged once, whoever pays it from however many pages: they are this service's own. An order has one.
 */
import * as z from "zod";
import { AppendLog } from "../appendLog.ts";
import type {
  Booking,
  BookingRequest,
  Cancellation,
  CancellationRequest,
  Charge,
  Invoice,
  InvoiceRequest,
  Order,
  Payment,
  PaymentRequest,
  Recorded,
  Refund,
  RefundRequest,
} from "./model.ts";
import { deliveries, paidOrders } from "./orders.ts";

/** An idempotency key came again with another request. */
export class KeyReused extends Error {}

/** The order has an invoice, and it is not this one. */
export class AlreadyBilled extends Error {}

/** How a request came. */
export interface Call {
  readonly idempotencyKey: string | null;
  /** Moves the money even if the key did so before: a service without idempotency keys. */
  readonly ignoreKeys?: boolean;
}

/** What moves money, or will; also the part of a ledger entry that a repeated key is compared with. */
type Movement =
  | { readonly invoice: InvoiceRequest }
  | { readonly refund: RefundRequest }
  | { readonly booking: BookingRequest }
  | { readonly cancellation: CancellationRequest }
  | { readonly payment: PaymentRequest };
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

/** What `POST /cancellations` takes. */
export const cancellationRequest: z.ZodType<CancellationRequest> = z.strictObject({
  bookingId: z.string(),
});

/** What `POST /invoices` takes. */
export const invoiceRequest: z.ZodType<InvoiceRequest> = z.strictObject({
  orderId: z.string().min(1),
  ...money,
});

const paymentRequest: z.ZodType<PaymentRequest> = z.strictObject({
  orderId: z.string(),
  reference: z.string().nullable(),
  card: z.string().regex(/^\d{4}$/),
  ...money,
});

const ledgerEntry: z.ZodType<Entry> = z.union([
  z.strictObject({ ...recorded, invoice: invoiceRequest }),
  z.strictObject({ ...recorded, refund: refundRequest }),
  z.strictObject({ ...recorded, booking: bookingRequest }),
  z.strictObject({ ...recorded, cancellation: cancellationRequest }),
  z.strictObject({ ...recorded, payment: paymentRequest }),
]);

/** Orders, invoices, charges, refunds, bookings, cancellations and payments, kept in one ledger. */
export class PaymentBook {
  readonly #ledger: AppendLog<Entry>;
  readonly #entries: Entry[];
  /** By key: the first request with it, and its fact as soon as that is on disk. */
  readonly #first = new Map<
    string,
    { readonly request: string; readonly fact: Promise<Recorded> }
  >();
  /** Orders whose invoice is on disk or being written. */
  readonly #billed = new Set(deliveries.map(({ orderId }) => orderId));
  /** By order: payments that are being written. */
  readonly #paying = new Map<string, Promise<unknown>>();
  #lastNumber: number;

  private constructor(ledger: AppendLog<Entry>, entries: Entry[]) {
    this.#ledger = ledger;
    this.#entries = entries;
    this.#lastNumber = entries.length;
    for (const { id, at, idempotencyKey, ...movement } of entries) {
      if ("invoice" in movement) this.#billed.add(movement.invoice.orderId);
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

  /** What is, or was, to be paid for each order besides its total. */
  invoices(): Invoice[] {
    const billed = this.#entries.flatMap((entry) => ("invoice" in entry ? [entry.invoice] : []));
    const paidBy = new Map(this.payments().map(({ orderId, id }) => [orderId, id]));
    return [...deliveries, ...billed].map(({ orderId, amount, currency }) => {
      const paymentId = paidBy.get(orderId) ?? null;
      return {
        id: `invoice-${orderId}`,
        ...{ orderId, amount, currency },
        status: paymentId === null ? "open" : "paid",
        paymentId,
      };
    });
  }

  /** What was taken for orders, bookings and invoices. */
  charges(): Charge[] {
    const paid = this.payments().map((payment) => ({
      ...payment,
      id: `invoice-${payment.orderId}`,
    }));
    const taken = [
      ...paidOrders.map(({ id, total }) => ({ id, ...total })),
      ...this.bookings(),
      ...paid,
    ];
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

  cancellations(): Cancellation[] {
    return this.#entries.flatMap((entry) => {
      if (!("cancellation" in entry)) return [];
      const { cancellation, ...recorded } = entry;
      return [{ ...recorded, ...cancellation }];
    });
  }

  payments(): Payment[] {
    return this.#entries.flatMap((entry) => {
      if (!("payment" in entry)) return [];
      const { payment, ...recorded } = entry;
      return [{ ...recorded, ...payment }];
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

  /** @throws KeyReused */
  async cancel(cancellation: CancellationRequest, call: Call): Promise<Cancellation> {
    return { ...(await this.#move({ cancellation }, call)), ...cancellation };
  }

  /**
   * Makes the invoice of an order, on disk when it resolves.
   * @throws KeyReused; AlreadyBilled for an order that has one
   */
  async bill(invoice: InvoiceRequest, call: Call): Promise<void> {
    const { orderId } = invoice;
    const isRepeated = call.idempotencyKey !== null && this.#first.has(call.idempotencyKey);
    if (!isRepeated) {
      if (this.#billed.has(orderId)) throw new AlreadyBilled(`order ${orderId} has an invoice`);
      this.#billed.add(orderId);
    }
    await this.#move({ invoice }, { ...call, ignoreKeys: false });
  }

  /**
   * Charges an order's open invoice: true, once it is on disk. False when it was paid already, also from another page
   * at the same time (4).
   */
  async pay(orderId: string, card: string, reference: string | null): Promise<boolean> {
    for (;;) {
      const invoice = this.invoices().find((each) => each.orderId === orderId);
      if (invoice === undefined || invoice.status === "paid") return false;
      const underWay = this.#paying.get(orderId);
      if (underWay === undefined) {
        const { amount, currency } = invoice;
        const paying = this.#record(
          { payment: { orderId, reference, card, amount, currency } },
          null,
        );
        this.#paying.set(orderId, paying);
        await paying.finally(() => this.#paying.delete(orderId));
        return true;
      }
      // If that one fails, this one is the next to try.
      await Promise.allSettled([underWay]);
    }
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
    const fact = {
      id: `${Object.keys(movement).join()}-${this.#lastNumber}`,
      at: new Date().toISOString(),
      idempotencyKey,
    };
    await this.#ledger.append({ ...fact, ...movement });
    this.#entries.push({ ...fact, ...movement });
    return fact;
  }
}
