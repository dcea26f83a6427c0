/**
 * What the shop writes to its customers. Pure text: the same order gives the same letter.
 */
import { formatMoney } from "../money.ts";
import type { Order, Payment, Refund } from "../payments/model.ts";

/** Languages an invoice can be written in. */
export const languages = ["en", "de", "fr"] as const;
/** One of `languages`. */
export type Language = (typeof languages)[number];

/** An e-mail before it has an address on it. */
export interface Letter {
  readonly subject: string;
  readonly text: string;
}

const invoiceWords = {
  en: { invoice: "Invoice for order", greeting: "Dear", total: "Total" },
  de: { invoice: "Rechnung zur Bestellung", greeting: "Guten Tag", total: "Summe" },
  fr: { invoice: "Facture de la commande", greeting: "Bonjour", total: "Total" },
} as const satisfies Record<Language, unknown>;

/** Tells that money went back. */
export function receiptLetter(order: Order, refund: Refund): Letter {
  return {
    subject: `Your refund for order ${order.id}`,
    text: `Dear ${order.customer},\n\nwe have refunded ${formatMoney(refund)} for order ${order.id} (${refund.id}).\n`,
  };
}

/** Tells that an invoice was paid. */
export function paymentLetter(order: Order, payment: Payment): Letter {
  return {
    subject: `Your payment for the delivery of order ${order.id}`,
    text: `Dear ${order.customer},\n\nwe have received ${formatMoney(payment)} for the delivery of order ${order.id} (${payment.id}, card ending in ${payment.card}).\n`,
  };
}

/** Lists what was bought, in the customer's language. */
export function invoiceLetter(order: Order, language: Language): Letter {
  const words = invoiceWords[language];
  const lines = order.items.map(
    ({ quantity, name, price }) => `${quantity} x ${name}: ${formatMoney(price)}`,
  );
  return {
    subject: `${words.invoice} ${order.id}`,
    text: [
      `${words.greeting} ${order.customer},`,
      "",
      ...lines,
      `${words.total}: ${formatMoney(order.total)}`,
      "",
    ].join("\n"),
  };
}
