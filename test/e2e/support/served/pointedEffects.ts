/**
 * The shop's clients with a point before each call is sent and one after it was answered.
 */
import type { Mail, Payments } from "@reprise/shop";
import type { Points } from "./points.ts";

/** Payments with points. */
export function pointedPayments(inner: Payments, points: Points): Payments {
  return {
    orders: points.around("payments.orders", inner.orders),
    order: points.around("payments.order", inner.order),
    refund: points.around("payments.refund", inner.refund),
    quote: points.around("payments.quote", inner.quote),
    book: points.around("payments.book", inner.book),
    cancel: points.around("payments.cancel", inner.cancel),
    bookingWith: points.around("payments.bookingWith", inner.bookingWith),
    invoice: points.around("payments.invoice", inner.invoice),
    cardPage: inner.cardPage,
    payment: points.around("payments.payment", inner.payment),
    paymentWith: points.around("payments.paymentWith", inner.paymentWith),
  };
}

/** Mail with points. */
export function pointedMail(inner: Mail, points: Points): Mail {
  return {
    receipt: points.around("mail.receipt", inner.receipt),
    paymentReceipt: points.around("mail.paymentReceipt", inner.paymentReceipt),
    invoice: points.around("mail.invoice", inner.invoice),
    find: points.around("mail.find", inner.find),
  };
}
