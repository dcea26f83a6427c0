/**
 * How the shop talks to its payment service: HTTP, with the idempotency key of the step that pays.
 *
 * A failure is thrown as `notDone` only where the service says so (503, 422) or was not reached at all. After
 * anything else the money may have moved, and the step's `onUncertain` decides.
 */
import { notDone } from "reprise";
import * as z from "zod";
import type { Money } from "../money.ts";
import type {
  Booking,
  BookingRequest,
  Invoice,
  Order,
  Payment,
  Quote,
  Refund,
  Trip,
} from "./model.ts";

/** What a step hands on so that a repetition moves no money twice. */
export interface PaymentCall {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** What the tools need of the payment service. */
export interface Payments {
  orders(): Promise<readonly Order[]>;
  order(id: string): Promise<Order | undefined>;
  /** Gives all of the order's money back. */
  refund(order: Order, call: PaymentCall): Promise<Refund>;
  quote(trip: Trip): Promise<Quote>;
  book(booking: BookingRequest, call: PaymentCall): Promise<Booking>;
  /** Takes a booking back. */
  cancel(booking: Pick<Booking, "id">, call: PaymentCall): Promise<void>;
  /** The booking that was made with this idempotency key. */
  bookingWith(idempotencyKey: string): Promise<Booking | undefined>;
  /** What is, or was, to be paid for an order besides its total. */
  invoice(orderId: string): Promise<Invoice | undefined>;
  /** Address of the page on which a person pays an order's invoice; the payment will have this reference. */
  cardPage(orderId: string, reference: string): string;
  payment(id: string): Promise<Payment | undefined>;
  /** The payment that was made from the card page with this reference. */
  paymentWith(reference: string): Promise<Payment | undefined>;
}

const money = { amount: z.number(), currency: z.string() };
const moneySchema: z.ZodType<Money> = z.object(money);
const recorded = { id: z.string(), at: z.string(), idempotencyKey: z.string().nullable() };
const orderSchema: z.ZodType<Order> = z.object({
  id: z.string(),
  customer: z.string(),
  email: z.string(),
  placedOn: z.string(),
  items: z.array(z.object({ name: z.string(), quantity: z.number(), price: moneySchema })),
  total: moneySchema,
  status: z.enum(["paid", "refunded"]),
});
const refundSchema: z.ZodType<Refund> = z.object({ ...recorded, orderId: z.string(), ...money });
const quoteSchema: z.ZodType<Quote> = z.object({
  flight: moneySchema,
  hotel: moneySchema,
  total: moneySchema,
});
const bookingSchema: z.ZodType<Booking> = z.object({
  ...recorded,
  kind: z.enum(["flight", "hotel"]),
  city: z.string(),
  departure: z.string(),
  nights: z.number(),
  ...money,
});

const invoiceSchema: z.ZodType<Invoice> = z.object({
  id: z.string(),
  orderId: z.string(),
  ...money,
  status: z.enum(["open", "paid"]),
  paymentId: z.string().nullable(),
});
const paymentSchema: z.ZodType<Payment> = z.object({
  ...recorded,
  orderId: z.string(),
  reference: z.string().nullable(),
  card: z.string(),
  ...money,
});

/**
 * Payments at `baseUrl`, for example `http://127.0.0.1:3001`. `publicUrl` is how a person's browser reaches it, default
 * the same.
 */
export function createPayments(baseUrl: string, publicUrl: string = baseUrl): Payments {
  const get = (path: string) => request(new URL(path, baseUrl));
  const post = (path: string, body: object, { idempotencyKey, signal }: PaymentCall) =>
    request(new URL(path, baseUrl), {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": idempotencyKey },
      body: JSON.stringify(body),
      signal,
    });

  return {
    async orders() {
      return z.array(orderSchema).parse(await (await get("/orders")).json());
    },
    async order(id) {
      const response = await get(`/orders/${encodeURIComponent(id)}`);
      return response.status === 404 ? undefined : orderSchema.parse(await response.json());
    },
    async refund({ id, total }, call) {
      const response = await post("/refunds", { orderId: id, ...total }, call);
      return refundSchema.parse(await response.json());
    },
    async quote(trip) {
      const query = new URLSearchParams({ ...trip, nights: String(trip.nights) });
      const response = await get(`/quotes?${query.toString()}`);
      return quoteSchema.parse(await response.json());
    },
    async book(booking, call) {
      const response = await post("/bookings", booking, call);
      return bookingSchema.parse(await response.json());
    },
    async cancel({ id }, call) {
      await post("/cancellations", { bookingId: id }, call);
    },
    async bookingWith(idempotencyKey) {
      const query = new URLSearchParams({ idempotencyKey });
      const response = await get(`/bookings?${query.toString()}`);
      return z.array(bookingSchema).parse(await response.json())[0];
    },
    async invoice(orderId) {
      const response = await get(`/invoices/${encodeURIComponent(orderId)}`);
      return response.status === 404 ? undefined : invoiceSchema.parse(await response.json());
    },
    cardPage(orderId, reference) {
      const url = new URL(`/pay/${encodeURIComponent(orderId)}`, publicUrl);
      url.searchParams.set("reference", reference);
      return url.href;
    },
    async payment(id) {
      const response = await get(`/payments/${encodeURIComponent(id)}`);
      return response.status === 404 ? undefined : paymentSchema.parse(await response.json());
    },
    async paymentWith(reference) {
      const query = new URLSearchParams({ reference });
      const response = await get(`/payments?${query.toString()}`);
      return z.array(paymentSchema).parse(await response.json())[0];
    },
  };
}

/** The response, unless it says or means that the service failed. 404 is an answer. */
async function request(url: URL, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(url, init).catch((error: unknown) => {
    throw wasUnreachable(error) ? notDone(error) : error;
  });
  if (response.ok || response.status === 404) return response;
  const failure = new Error(
    `the payment service answered ${response.status}: ${await response.text()}`,
  );
  throw response.status === 503 || response.status === 422 ? notDone(failure) : failure;
}

function wasUnreachable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
