/**
 * What a person who paid on the page may be told in place of the undisturbed run's text: pure.
 *
 * 1. "The payment is not there yet": only who had not been thanked by the shop's page when they last said "done" (docs/design.md
 *    2, elicitUrl: an accept without a completion). A completion that was acknowledged is never overlooked.
 * 2. "The invoice is paid": only when the store forgot something while the errand was under way, so that the call began anew
 *    behind the payment.
 * Either way the card is charged once, and no receipt comes that nobody was told of, but that of a run, or of a part of it, that the
 * store forgot.
 */
import { comparable, type ErrandName } from "../load/errands.ts";
import type { Ended } from "../load/record.ts";

/** How an errand ended otherwise. */
export type Otherwise = "not there yet" | "paid before";

const paidBefore = "Nothing is open for order 1001-TAG: its invoice is paid.";

/** How it did, where that is honest; undefined where it is not. */
export function paidOtherwise(
  { errand, ending, page }: Ended,
  mails: number,
  expected: ReadonlyMap<ErrandName, string>,
  isForgotten: boolean,
): Otherwise | undefined {
  if (errand.effects.payments === 0 || ending.kind !== "result" || ending.isError) return undefined;
  const text = comparable(ending.text, errand.tag);
  if (text === paidBefore) return isForgotten ? "paid before" : undefined;
  if (text !== expected.get("payNever") || (mails > 0 && !isForgotten)) return undefined;
  const { thankedAtMs, doneAtMs = 0 } = page ?? {};
  const wasThanked = thankedAtMs !== undefined && thankedAtMs < doneAtMs;
  return wasThanked && !isForgotten ? undefined : "not there yet";
}
