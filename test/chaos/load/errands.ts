/**
 * What people come to the shop for: one call with the answers that they will give, what it shall come to, and what it shall
 * leave at the payment service and in the mail log.
 *
 * Every errand has a tag that stands in all that it does outside, and nothing else has it.
 */
import type { Draw } from "../draw.ts";

/** Effects outside, counted by tag. */
export interface Effects {
  readonly refunds: number;
  readonly bookings: number;
  readonly mails: number;
  /** Charges of a card. */
  readonly payments: number;
}

/** Names of the errands' shapes. */
export type ErrandName =
  | "refund"
  | "refundDeclined"
  | "trip"
  | "invoice"
  | "payOut"
  | "pay"
  | "payLate"
  | "payNever"
  | "payDeclined";

/** What a person does on the payment service's card page, before saying "done" or later. */
type OnPage = "pays" | "paysLate" | "neverPays" | "isDeclined";

/** One call. */
export interface Errand {
  readonly name: ErrandName;
  readonly tag: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Answers by ask key. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** Of the one that is asked by URL. */
  readonly page?: OnPage;
  readonly effects: Effects;
}

const yes = { action: "accept", content: { confirm: true } };
const nothing: Effects = { refunds: 0, bookings: 0, mails: 0, payments: 0 };

/** All shapes, the usual ones more than once: a draw takes them by weight. */
export const usualErrands: readonly ErrandName[] = [
  "refund",
  "refund",
  "refund",
  "refundDeclined",
  "trip",
  "trip",
  "invoice",
  "payOut",
  "payOut",
  "pay",
  "pay",
  "payLate",
  "payNever",
  "payDeclined",
];

/** The errand of that shape under a tag of letters and digits. */
export function errandOf(name: ErrandName, tag: string): Errand {
  const order = { orderId: `1001-${tag}` };
  switch (name) {
    case "refund":
      return {
        name,
        tag,
        tool: "refund_order",
        args: order,
        answers: { confirm: yes },
        effects: { ...nothing, refunds: 1, mails: 1 },
      };
    case "refundDeclined":
      return {
        name,
        tag,
        tool: "refund_order",
        args: order,
        answers: { confirm: { action: "decline" } },
        effects: nothing,
      };
    case "trip":
      return {
        name,
        tag,
        tool: "book_trip",
        args: { city: `City ${tag}` },
        answers: {
          dates: { action: "accept", content: { departure: "2027-03-01", nights: 3 } },
          comfort: { action: "accept", content: { travelClass: "economy", hotelStars: "4" } },
          confirm: yes,
        },
        effects: { ...nothing, bookings: 2 },
      };
    case "invoice":
      return {
        name,
        tag,
        tool: "send_invoice",
        args: order,
        answers: {
          elicit: {
            action: "accept",
            content: { address: `buyer-${tag}@example.com`, language: "en" },
          },
        },
        effects: { ...nothing, mails: 1 },
      };
    case "payOut":
      return {
        name,
        tag,
        tool: "pay_out",
        args: order,
        answers: { confirm: yes, close: yes },
        effects: { ...nothing, refunds: 1 },
      };
    case "pay":
      return paying(name, tag, "pays");
    case "payLate":
      return paying(name, tag, "paysLate");
    case "payNever":
      return paying(name, tag, "neverPays");
    case "payDeclined":
      return paying(name, tag, "isDeclined");
  }
}

function paying(name: ErrandName, tag: string, page: OnPage): Errand {
  const isPaid = page === "pays" || page === "paysLate";
  return {
    ...{ name, tag, page },
    tool: "pay_invoice",
    args: { orderId: `1001-${tag}` },
    answers: {},
    effects: isPaid ? { ...nothing, payments: 1, mails: 1 } : nothing,
  };
}

/** Draws errands under tags that begin with `prefix`. */
export function* errandsFrom(
  draw: Draw,
  prefix: string,
  names: readonly ErrandName[] = usualErrands,
): Generator<Errand> {
  for (let number = 0; ; number += 1) yield errandOf(draw.oneOf(names), `${prefix}x${number}x`);
}

/** A result's text without what differs between two runs of one shape: the tag, and ids of the ledger. */
export function comparable(text: string, tag: string): string {
  return text.replaceAll(tag, "TAG").replace(/(refund|booking|payment)-\d+/g, "$1-ID");
}
