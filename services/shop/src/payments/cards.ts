/**
 * Which cards the payment service takes. It moves no real money, so every card but the test cards is declined.
 *
 * A card's number goes in here and nowhere on: what comes out are its last four digits.
 */

/** What became of a card. */
export type CardCheck =
  | { readonly outcome: "accepted"; readonly lastDigits: string }
  | { readonly outcome: "declined" }
  /** It can't be a card; `problem` is for the person who typed it. */
  | { readonly outcome: "unusable"; readonly problem: string };

/** A card as a person types it. */
export interface TypedCard {
  readonly number: string;
  /** `MM/YY` or `MM/YYYY`. */
  readonly expires: string;
  readonly code: string;
}

/** The card that pays. */
export const acceptedCard = "4242424242424242";
/** A card whose bank says no. */
export const declinedCard = "4000000000000002";

/** Looks at a card on the day `today`. */
export function checkCard({ number, expires, code }: TypedCard, today: Date): CardCheck {
  const digits = number.replaceAll(/[ -]/g, "");
  if (!/^\d{12,19}$/.test(digits) || !hasCheckDigit(digits)) {
    return { outcome: "unusable", problem: "This is no card number." };
  }
  if (!/^\d{3,4}$/.test(code.trim())) {
    return { outcome: "unusable", problem: "The security code has 3 or 4 digits." };
  }
  const end = endOf(expires);
  if (end === undefined) return { outcome: "unusable", problem: "Give the expiry as MM/YY." };
  if (end <= today.getTime()) return { outcome: "unusable", problem: "This card has expired." };
  if (digits !== acceptedCard) return { outcome: "declined" };
  return { outcome: "accepted", lastDigits: digits.slice(-4) };
}

/** The formula of Luhn (ISO/IEC 7812-1, annex B): finds most slips of the finger. */
function hasCheckDigit(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, place) => {
    const value = Number(digit) * (place % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** When the card's last month is over; undefined when it is no month. */
function endOf(expires: string): number | undefined {
  const [, month, year] = /^\s*(0?[1-9]|1[0-2])\s*\/\s*(\d{2}|\d{4})\s*$/.exec(expires) ?? [];
  if (month === undefined || year === undefined) return undefined;
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  return Date.UTC(fullYear, Number(month), 1);
}
