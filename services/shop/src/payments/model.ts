/**
 * The words that the shop and its payment service share. All of it is JSON: it crosses HTTP and the journal.
 */
import type { Money } from "../money.ts";

/** One line of an order. */
export interface OrderItem {
  readonly name: string;
  readonly quantity: number;
  readonly price: Money;
}

/** What a customer bought. */
export interface Order {
  readonly id: string;
  readonly customer: string;
  readonly email: string;
  /** ISO date, for example `2026-05-04`. */
  readonly placedOn: string;
  readonly items: readonly OrderItem[];
  readonly total: Money;
  readonly status: "paid" | "refunded";
}

/** What a fact of the ledger has besides its own members. */
export interface Recorded {
  readonly id: string;
  /** ISO time of its entry. */
  readonly at: string;
  /** The key it was requested with; `null` when it came without one. */
  readonly idempotencyKey: string | null;
}

/** What is asked for when money goes back. */
export interface RefundRequest extends Money {
  readonly orderId: string;
}

/** Money that went back to a customer. */
export interface Refund extends RefundRequest, Recorded {}

/** A journey somebody thinks of. */
export interface Trip {
  readonly city: string;
  /** ISO date. */
  readonly departure: string;
  readonly nights: number;
  readonly travelClass: "economy" | "business";
  readonly hotelStars: "3" | "4" | "5";
}

/** What a trip would cost. */
export interface Quote {
  readonly flight: Money;
  readonly hotel: Money;
  readonly total: Money;
}

/** What is asked for when a part of a trip is booked. */
export interface BookingRequest extends Money {
  readonly kind: "flight" | "hotel";
  readonly city: string;
  readonly departure: string;
  readonly nights: number;
}

/** A part of a trip that is booked and paid. */
export interface Booking extends BookingRequest, Recorded {}

/** What is asked for when a booking is taken back. */
export interface CancellationRequest {
  readonly bookingId: string;
}

/** A booking that was taken back, and its money with it. */
export interface Cancellation extends CancellationRequest, Recorded {}

/** What is asked for when an order is billed for something besides its total. */
export interface InvoiceRequest extends Money {
  readonly orderId: string;
}

/** What is still to be paid for an order: its delivery, which is billed when it is known what it cost. */
export interface Invoice extends InvoiceRequest {
  readonly id: string;
  readonly status: "open" | "paid";
  /** The payment that paid it; `null` while it is open. */
  readonly paymentId: string | null;
}

/** What is recorded when an invoice is paid by card. */
export interface PaymentRequest extends Money {
  readonly orderId: string;
  /** What the merchant put into the card page's address to know the payment by; `null` without. */
  readonly reference: string | null;
  /** The last four digits. No more of a card is kept anywhere. */
  readonly card: string;
}

/** An invoice that was paid by card. */
export interface Payment extends PaymentRequest, Recorded {}

/** Money that was taken for an order, a booking or an invoice. */
export interface Charge extends Money {
  readonly id: string;
  /** The id of the order, the booking or the invoice. */
  readonly reference: string;
}
