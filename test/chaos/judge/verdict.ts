/**
 * The verdict on a stretch of load: pure, from what clients were told and what the far end has.
 *
 * 1. An effect more than the undisturbed run has is doubled; a result that says it is done with fewer is a lie.
 * 2. A client that does not know how its run ended, or got another text than the undisturbed run gives, is a lost run.
 * 3. A refusal counts as an answer only where the kind of fault explains its code.
 * 4. What came twice, and a client that was told RUN_LOST, is a violation unless what happened to the run itself explains it
 *    (excuse.ts): its process died, stood still or lost the store between the effect and its record, or the store forgot that.
 *    A kind of fault alone explains nothing. The same holds for a step that was entered twice, also where a remote's keys hid it.
 * 5. A client of the handshake era sends an answer once. When the store forgot it, having acknowledged it, nobody asks again, and the
 *    client is told nothing until its own time limit: counted beside, and only then.
 * 6. Who pays on a page may be told too early that the payment is not there, and no more (paidOtherwise.ts).
 */
import { comparable, type Effects, type ErrandName } from "../load/errands.ts";
import type { Ended, LoadRecord } from "../load/record.ts";
import { type Evidence, excusesOf } from "./excuse.ts";
import type { FarEnd } from "./farEnd.ts";
import { paidOtherwise } from "./paidOtherwise.ts";

/** What remotes do in a kind of fault, with what that means in docs/reliability.md. */
export interface Limits {
  /** The payment service moves money again under a key that it knows. */
  readonly ignoresKeys?: true;
}

/** Figures of one kind of fault. */
export interface Verdict {
  readonly runs: number;
  /** With the result and the effects of the undisturbed run. */
  readonly undisturbed: number;
  /** Ended by a code that says what to do, by code. */
  readonly refused: Readonly<Record<string, number>>;
  readonly doubledCharges: number;
  readonly doubledMails: number;
  /** Clients that were told RUN_LOST and started anew under their key. */
  readonly toldLost: number;
  readonly lostRuns: number;
  /** Paid, and told something else that is true, by what. */
  readonly otherwise: Readonly<Record<string, number>>;
  /** Steps that were entered again, by reason. */
  readonly again: Readonly<Record<string, number>>;
  /** In words; none is a pass. */
  readonly violations: readonly string[];
}

/** Refusals that a legacy client brings about itself, by its time limit. */
const ownDoing = "RUN_CANCELLED";

/** Judges. `expected` has the comparable text of every shape. */
export function judge(
  record: LoadRecord,
  farEnd: FarEnd,
  expected: ReadonlyMap<ErrandName, string>,
  evidence: Evidence,
  limits: Limits = {},
): Verdict {
  const violations = [...record.contradictions];
  const refused: Record<string, number> = {};
  const again: Record<string, number> = {};
  const otherwise: Record<string, number> = {};
  let [undisturbed, doubledCharges, doubledMails, toldLost, lostRuns] = [0, 0, 0, 0, 0];
  for (const each of record.ended) {
    const { errand, ending, startedAnew } = each;
    const effects = farEnd.of(errand.tag);
    const charges = movedIn(effects) - movedIn(errand.effects);
    const mails = effects.mails - errand.effects.mails;
    const complain = (what: string): void =>
      void violations.push(`${what}: ${describe(each, effects)}`);
    if (startedAnew > 0) {
      toldLost += 1;
      if (!isForgotten(each, evidence)) complain("told that the run is lost");
    }
    const mailReasons = excusesOf(errand.tag, isMail, evidence);
    const chargeReasons = excusesOf(errand.tag, (step) => !isMail(step), evidence);
    for (const reason of [...mailReasons, ...chargeReasons]) {
      const word = reason ?? "no reason";
      again[word] = (again[word] ?? 0) + 1;
      if (reason === undefined) complain("a step was entered again without a reason");
    }
    if (charges > 0) {
      doubledCharges += 1;
      const isExplained = limits.ignoresKeys === true && chargeReasons.length >= charges;
      if (!isExplained) complain("charged twice");
    }
    if (mails > 0) {
      doubledMails += 1;
      if (mailReasons.length < mails) complain("mailed twice");
    }
    if (ending.kind === "refused") {
      refused[ending.code] = (refused[ending.code] ?? 0) + 1;
      const isExplained = ending.code === ownDoing && each.era === "legacy";
      if (!isExplained) complain("refused");
      continue;
    }
    const isAsExpected =
      ending.kind === "result" &&
      !ending.isError &&
      comparable(ending.text, errand.tag) === expected.get(errand.name);
    const honest = isAsExpected
      ? undefined
      : (neverTold(each, isForgotten(each, evidence)) ??
        paidOtherwise(each, effects.mails, expected, isForgotten(each, evidence)));
    if (honest !== undefined) {
      otherwise[honest] = (otherwise[honest] ?? 0) + 1;
      if (charges < 0 && ending.kind === "result") complain("said to be done, and is not");
    } else if (!isAsExpected) {
      lostRuns += 1;
      complain("lost");
    } else if (charges < 0 || mails < 0) complain("said to be done, and is not");
    else if (charges === 0 && mails === 0) undisturbed += 1;
  }
  const runs = record.ended.length;
  return {
    runs,
    undisturbed,
    refused,
    doubledCharges,
    doubledMails,
    toldLost,
    lostRuns,
    otherwise,
    again,
    violations,
  };
}

/** Rule 5. */
function neverTold({ ending, era }: Ended, isForgotten: boolean): string | undefined {
  return ending.kind === "unknown" && era === "legacy" && isForgotten ? "never told" : undefined;
}

/** How often money moved. */
function movedIn({ refunds, bookings, payments }: Effects): number {
  return refunds + bookings + payments;
}

/** Steps that send mail: SMTP knows no keys. */
function isMail(step: string): boolean {
  return step.startsWith("mail ");
}

/** Whether the store forgot something while the errand was under way. */
function isForgotten({ endedAtMs, lastedMs }: Ended, { forgotten }: Evidence): boolean {
  return forgotten.some(
    ({ fromMs, untilMs }) => fromMs <= endedAtMs && untilMs >= endedAtMs - lastedMs,
  );
}

function describe({ errand, ending, era, startedAnew, lastedMs }: Ended, effects: object): string {
  const facts = {
    ...{ run: errand.name, tag: errand.tag, era, startedAnew },
    lastedMs: Math.round(lastedMs),
    ending,
  };
  return JSON.stringify({ ...facts, outside: effects });
}
