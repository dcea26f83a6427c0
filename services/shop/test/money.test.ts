import { formatMoney } from "@reprise/shop";
import { expect, test } from "vitest";

test.each([
  [{ amount: 4990, currency: "EUR" }, "€49.90"],
  [{ amount: 5, currency: "USD" }, "$0.05"],
  [{ amount: 1234567, currency: "GBP" }, "£12,345.67"],
  [{ amount: 19600, currency: "JPY" }, "¥19,600"],
  [{ amount: 1500, currency: "KWD" }, "KWD 1.500"],
])("%j is printed as %s", (money, printed) => {
  // ICU puts a no-break space between a code and its number.
  expect(formatMoney(money).replace("\u00a0", " ")).toBe(printed);
});
