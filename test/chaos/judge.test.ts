/**
 * The judge of the fault matrix finds each thing that it is there to find: a checker that can't fail proves nothing.
 */
import { describe, expect, test } from "vitest";
import { Draw } from "./draw.ts";
import { availabilityOf } from "./judge/availability.ts";
import type { Evidence } from "./judge/excuse.ts";
import type { FarEnd } from "./judge/farEnd.ts";
import { judge, type Limits } from "./judge/verdict.ts";
import { comparable, type Effects, type ErrandName, errandOf } from "./load/errands.ts";
import { type Ended, type Ending, LoadRecord } from "./load/record.ts";

const done = "Refunded EUR 49.90.";
const result: Ending = { kind: "result", text: done, isError: false };
const paidText = "Paid €4.90 for order 1001-TAG (payment-ID, card ending in 4242).";
const notYetText = "The payment for order 1001-TAG is not there yet.";
const expected = new Map<ErrandName, string>([
  ["refund", done],
  ["pay", paidText],
  ["payNever", notYetText],
]);
const once: Effects = { refunds: 1, bookings: 0, mails: 1, payments: 0 };

const tag = "ax1x";
const nothingHappened: Evidence = {
  ...{ leaseMs: 1_000, lines: [], ends: [], forgotten: [], storeTrouble: [] },
};

function verdictOn(
  ending: Ending,
  effects: Effects,
  more: Partial<Ended> = {},
  evidence: Partial<Evidence> = {},
  limits: Limits = {},
  name: ErrandName = "refund",
) {
  const record = new LoadRecord();
  const errand = errandOf(name, tag);
  const times = { lastedMs: 1, endedAtMs: 9_000 };
  record.ended.push({ errand, ending, era: "modern", startedAnew: 0, ...times, ...more });
  const farEnd: FarEnd = { of: () => effects };
  return judge(record, farEnd, expected, { ...nothingHappened, ...evidence }, limits);
}

/** What a process wrote down of a step of the run. */
const line = (atMs: number, pid: number, is: "entered" | "returned" | "threw" | "recorded") =>
  ({ atMs, pid, is, tag, step: "mail receipt" }) as const;
/** The first one did nothing meanwhile. */
const rested = (sinceMs: number, atMs: number) =>
  ({ atMs, pid: 1, is: "stoodStill", sinceMs }) as const;
/** Entered by one process at 1,000 ms and by the next one at 3,000. */
const twice = [line(1_000, 1, "entered"), line(1_050, 1, "returned"), line(3_000, 2, "entered")];

describe("the judge", () => {
  test("passes a run with the result and the effects of the undisturbed one", () => {
    expect(verdictOn(result, once)).toMatchObject({ runs: 1, undisturbed: 1, violations: [] });
  });

  test.each([
    ["charged twice", result, { ...once, refunds: 2 }],
    ["mailed twice", result, { ...once, mails: 2 }],
    ["said to be done, and is not", result, { ...once, mails: 0 }],
    ["lost", { ...result, text: "Nothing was refunded." }, once],
    ["lost", { ...result, isError: true }, once],
    ["lost", { kind: "unknown", why: "gave up" }, once],
    ["refused", { kind: "refused", code: "RUN_PARKED", message: "" }, once],
    ["refused", { kind: "refused", code: "RUN_CANCELLED", message: "" }, once],
  ] as const)("finds a run that was %s", (word, ending, effects) => {
    const { violations } = verdictOn(ending, effects);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toMatch(new RegExp(`^${word}: `));
  });

  test("finds a client that was told RUN_LOST unless the store forgot something while its errand was under way", () => {
    const toldLost = { startedAnew: 1, lastedMs: 2_000 };
    expect(verdictOn(result, once, toldLost).violations).toHaveLength(1);
    const before = { forgotten: [{ fromMs: 1_000, untilMs: 6_900 }] };
    expect(verdictOn(result, once, toldLost, before).violations).toHaveLength(1);
    const meanwhile = { forgotten: [{ fromMs: 1_000, untilMs: 7_100 }] };
    const verdict = verdictOn(result, once, toldLost, meanwhile);
    expect(verdict).toMatchObject({ toldLost: 1, violations: [] });
  });

  test("excuses a client that is never told anything by a store that forgot its answer, in the handshake era alone", () => {
    const silence = { kind: "unknown", why: "timed out" } as const;
    const legacy = { era: "legacy", lastedMs: 2_000 } as const;
    const forgot = { forgotten: [{ fromMs: 1_000, untilMs: 7_100 }] };
    expect(verdictOn(silence, once, legacy, forgot)).toMatchObject({
      otherwise: { "never told": 1 },
      violations: [],
    });
    expect(verdictOn(silence, once, legacy).violations).toHaveLength(1);
    expect(verdictOn(silence, once, { lastedMs: 2_000 }, forgot).violations).toHaveLength(1);
    const charged = { ...once, refunds: 2 };
    expect(verdictOn(silence, charged, legacy, forgot).violations).toHaveLength(1);
  });

  const mails = { ...once, mails: 2 };
  test.each([
    ["killed", { ends: [{ pid: 1, atMs: 1_100 }] }],
    ["stood still", { lines: [...twice, rested(1_040, 3_500)] }],
    ["store away", { storeTrouble: [{ fromMs: 1_040, untilMs: 2_000 }] }],
    ["threw", { lines: [...twice, line(1_060, 1, "threw")] }],
    [
      "forgotten",
      {
        lines: [...twice, line(1_100, 1, "recorded")],
        forgotten: [{ fromMs: 900, untilMs: 2_000 }],
      },
    ],
  ])("excuses a mail that came twice by what happened in between: %s", (reason, what) => {
    const verdict = verdictOn(result, mails, {}, { lines: twice, ...what });
    expect(verdict).toMatchObject({ doubledMails: 1, again: { [reason]: 1 }, violations: [] });
  });

  test.each([
    ["nothing happened", {}],
    ["another process was killed", { ends: [{ pid: 3, atMs: 1_100 }] }],
    ["it was killed before", { ends: [{ pid: 1, atMs: 900 }] }],
    ["it was killed when the next one had begun", { ends: [{ pid: 1, atMs: 3_100 }] }],
    ["it rested for less than a lease lasts", { lines: [...twice, rested(1_060, 1_300)] }],
    ["the store was hurt before", { storeTrouble: [{ fromMs: -900, untilMs: 300 }] }],
    [
      "it was recorded before its process was killed",
      { lines: [...twice, line(1_060, 1, "recorded")], ends: [{ pid: 1, atMs: 1_100 }] },
    ],
    [
      "the store forgot only what came later",
      {
        lines: [...twice, line(1_060, 1, "recorded")],
        forgotten: [{ fromMs: 1_200, untilMs: 2_000 }],
      },
    ],
  ])("finds a mail that came twice when %s", (_, what) => {
    const { violations } = verdictOn(result, mails, {}, { lines: twice, ...what });
    expect(violations.length).toBeGreaterThan(0);
  });

  test("finds a mail that came twice though its step was entered once", () => {
    const lines = twice.slice(0, 2);
    expect(verdictOn(result, mails, {}, { lines }).violations).toHaveLength(1);
  });

  test("finds a step that was entered again without a reason where the remote's keys hid it", () => {
    const lines = twice.map((each) => ({ ...each, step: "refund" }));
    expect(verdictOn(result, once, {}, { lines }).violations).toHaveLength(1);
  });

  test("excuses no second charge, but that of a remote that ignores keys and of a process that died", () => {
    const lines = twice.map((each) => ({ ...each, step: "refund" }));
    const died = { lines, ends: [{ pid: 1, atMs: 1_100 }] };
    const charged = { ...once, refunds: 2 };
    expect(verdictOn(result, charged, {}, died).violations).toHaveLength(1);
    const ignoring = { ignoresKeys: true } as const;
    expect(verdictOn(result, charged, {}, died, ignoring).violations).toEqual([]);
    expect(verdictOn(result, charged, {}, {}, ignoring).violations).toHaveLength(1);
  });

  describe("of a payment on a page", () => {
    const paid: Effects = { refunds: 0, bookings: 0, mails: 1, payments: 1 };
    const says = (text: string): Ending => ({
      ...{ kind: "result", isError: false },
      text: text.replace("TAG", tag).replace("ID", "7"),
    });
    const on = (
      text: string,
      effects: Effects,
      more: Partial<Ended> = {},
      evidence: Partial<Evidence> = {},
      name: ErrandName = "pay",
    ) => verdictOn(says(text), effects, more, evidence, {}, name);
    const paidBefore = "Nothing is open for order 1001-TAG: its invoice is paid.";
    const noMail = { ...paid, mails: 0 };
    const thanked = { page: { thankedAtMs: 5_000, doneAtMs: 6_000 } };
    const forgot = { forgotten: [{ fromMs: 8_000, untilMs: 9_100 }] };

    test("passes one charge and one receipt, and none of either for who never paid", () => {
      expect(on(paidText, paid, thanked)).toMatchObject({ undisturbed: 1, violations: [] });
      const nothing = { ...paid, mails: 0, payments: 0 };
      const never = on(notYetText, nothing, {}, {}, "payNever");
      expect(never).toMatchObject({ undisturbed: 1, violations: [] });
    });

    test.each([
      ["charged twice", on(paidText, { ...paid, payments: 2 }, thanked)],
      ["charged twice", on(notYetText, noMail, {}, {}, "payNever")],
      ["mailed twice", on(paidText, { ...paid, mails: 2 }, thanked)],
      ["said to be done, and is not", on(paidText, { ...paid, payments: 0 }, thanked)],
      // The page had thanked before the person said "done".
      ["lost", on(notYetText, noMail, thanked)],
      // A receipt that the caller was not told of.
      ["lost", on(notYetText, paid)],
      ["lost", on(paidBefore, noMail, thanked)],
    ])("finds one that is %s", (word, { violations }) => {
      expect(violations).toHaveLength(1);
      expect(violations[0]).toMatch(new RegExp(`^${word}: `));
    });

    test.each([
      [
        "done was said before the page thanked",
        notYetText,
        { thankedAtMs: 7_000, doneAtMs: 6_000 },
      ],
      ["the page never thanked", notYetText, { doneAtMs: 6_000 }],
    ])("passes that it is not there yet when %s", (_, text, page) => {
      const verdict = on(text, noMail, { page });
      expect(verdict).toMatchObject({ otherwise: { "not there yet": 1 }, violations: [] });
    });

    test("passes a receipt that the caller was not told of, when the store forgot that it was sent", () => {
      const verdict = on(notYetText, paid, thanked, forgot);
      expect(verdict).toMatchObject({ otherwise: { "not there yet": 1 }, violations: [] });
    });

    test("passes an invoice that is paid before, when the store forgot the run that it was paid for", () => {
      const verdict = on(paidBefore, noMail, thanked, forgot);
      expect(verdict).toMatchObject({ otherwise: { "paid before": 1 }, violations: [] });
    });
  });

  test("finds two results of one request that differ", () => {
    const record = new LoadRecord();
    record.contradictions.push("one request, two results");
    const farEnd: FarEnd = { of: () => once };
    expect(judge(record, farEnd, expected, nothingHappened).violations).toHaveLength(1);
  });

  test("compares texts without tags and ids, and nothing else", () => {
    expect(comparable("Paid back refund-12 for 1001-ax1x", "ax1x")).toBe(
      "Paid back refund-ID for 1001-TAG",
    );
  });
});

describe("availability", () => {
  const answered = (atMs: number, tookMs: number, { what = "result", isWhole = false } = {}) => ({
    ...{ atMs, tookMs, what, isWhole },
  });

  test("is the longest time without a result, from a strike on", () => {
    const record = new LoadRecord();
    for (const atMs of [0, 100, 900, 1_000, 5_000]) record.answered.push(answered(atMs, 50));
    record.answered.push(answered(500, 700, { what: "lost" }));
    const strikes = [{ what: "kill", fromMs: 100, untilMs: 600 }];
    const found = availabilityOf(record, strikes, 500);
    expect(found).toEqual({ longestGapMs: 800, slowestMs: 50, recoveryMs: 0 });
  });

  test("tells how long after the last strike that it met a request had its result, not counting people's thinking", () => {
    const record = new LoadRecord();
    const strikes = [
      { what: "kill", fromMs: 1_000, untilMs: 1_100 },
      { what: "kill", fromMs: 3_000, untilMs: 3_100 },
    ];
    record.answered.push(
      answered(2_500, 2_000),
      answered(4_000, 3_500),
      answered(9_000, 5_000),
      answered(9_000, 8_500, { isWhole: true }),
    );
    expect(availabilityOf(record, strikes, 500)).toMatchObject({ recoveryMs: 1_500 });
  });
});

describe("a draw", () => {
  test("is the same for a seed and a name, and another for another", () => {
    const numbers = (seed: number, name: string) => {
      const draw = new Draw(seed, name);
      return [draw.between(0, 1_000), draw.between(0, 1_000), draw.of("part").next()];
    };
    expect(numbers(7, "worker-kill")).toEqual(numbers(7, "worker-kill"));
    expect(numbers(7, "worker-kill")).not.toEqual(numbers(7, "front-kill"));
    expect(numbers(7, "worker-kill")).not.toEqual(numbers(8, "worker-kill"));
  });
});
