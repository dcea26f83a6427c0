/**
 * Money as the shop keeps and prints it.
 */

/** An amount in the currency's minor unit (cents, yen) and an ISO 4217 code. Never a fraction. */
export interface Money {
  readonly amount: number;
  readonly currency: string;
}

/** `{ amount: 4990, currency: "EUR" }` is `€49.90`; currencies without cents print none. */
export function formatMoney({ amount, currency }: Money): string {
  const format = new Intl.NumberFormat("en", { style: "currency", currency });
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2;
  return format.format(amount / 10 ** digits);
}
