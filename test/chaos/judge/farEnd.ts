/**
 * What the payment service and the mail server have in their books, which no fault here reaches: the far end of every run.
 */
import type { AcceptedMail, Booking, Payment, Refund } from "@reprise/shop";
import type { Effects } from "../load/errands.ts";
import { tagPattern } from "../role/trail.ts";

/** The books, by the errand's tag. */
export interface FarEnd {
  of(tag: string): Effects;
}

/** Reads them. */
export async function readFarEnd(outside: string): Promise<FarEnd> {
  const read = async <T>(what: string): Promise<readonly T[]> => {
    const response = await fetch(new URL(what, outside));
    if (!response.ok) throw new Error(`${what} answered ${response.status}`);
    return (await response.json()) as T[];
  };
  const [refunds, bookings, mails, payments] = await Promise.all([
    read<Refund>("/refunds"),
    read<Booking>("/bookings"),
    read<AcceptedMail>("/mails"),
    read<Payment>("/payments"),
  ]);
  const counts = {
    refunds: countTags(refunds.map(({ orderId }) => orderId)),
    bookings: countTags(bookings.map(({ city }) => city)),
    mails: countTags(mails.map(({ to }) => to.join())),
    payments: countTags(payments.map(({ orderId }) => orderId)),
  };
  return {
    of: (tag) => ({
      refunds: counts.refunds.get(tag) ?? 0,
      bookings: counts.bookings.get(tag) ?? 0,
      mails: counts.mails.get(tag) ?? 0,
      payments: counts.payments.get(tag) ?? 0,
    }),
  };
}

function countTags(texts: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const tag = tagPattern.exec(text)?.[0] ?? "";
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  return counts;
}
