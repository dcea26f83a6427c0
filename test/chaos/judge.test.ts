/**
 * The judge of the fault matrix finds each thing that it is there to find: a checker that can't fail proves nothing.
 */
import { describe, expect, test } from "vitest";
import { Draw } from "./draw.ts";
import { availabilityOf } from "./judge/availability.ts";
import type { FarEnd } from "./judge/farEnd.ts";
import { judge, type Limits } from "./judge/verdict.ts";
import { comparable, type Effects, type ErrandName, errandOf } from "./load/errands.ts";
import { type Ended, type Ending, LoadRecord } from "./load/record.ts";

const done = "Refunded EUR 49.90.";
const result: Ending = { kind: "result", text: done, isError: false };
const expected = new Map<ErrandName, string>([["refund", done]]);
const once: Effects = { refunds: 1, bookings: 0, mails: 1 };

function verdictOn(
  ending: Ending,
  effects: Effects,
  more: Partial<Ended> = {},
  limits: Limits = {},
) {
  const record = new LoadRecord();
  const errand = errandOf("refund", "ax1x");
  record.ended.push({ errand, ending, era: "modern", startedAnew: 0, lastedMs: 1, ...more });
  const farEnd: FarEnd = { of: () => effects, refunds: 0, bookings: 0, mails: 0 };
  return judge(record, farEnd, expected, limits);
}

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

  test("finds a client that was told RUN_LOST where nothing may be lost", () => {
    expect(verdictOn(result, once, { startedAnew: 1 }).violations).toHaveLength(1);
  });

  test("counts what a kind of fault can't rule out apart, and only that", () => {
    const lost = verdictOn(result, { ...once, mails: 2 }, { startedAnew: 1 }, { forgets: true });
    expect(lost).toMatchObject({ doubledMails: 1, toldLost: 1, undisturbed: 0, violations: [] });
    const charged = verdictOn(result, { ...once, refunds: 2 }, {}, { forgets: true });
    expect(charged.violations).toHaveLength(1);
  });

  test("finds two results of one request that differ", () => {
    const record = new LoadRecord();
    record.contradictions.push("one request, two results");
    const farEnd: FarEnd = { of: () => once, refunds: 0, bookings: 0, mails: 0 };
    expect(judge(record, farEnd, expected, {}).violations).toHaveLength(1);
  });

  test("compares texts without tags and ids, and nothing else", () => {
    expect(comparable("Paid back refund-12 for 1001-ax1x", "ax1x")).toBe(
      "Paid back refund-ID for 1001-TAG",
    );
  });
});

describe("availability", () => {
  test("is the longest time without a result, from a strike on", () => {
    const record = new LoadRecord();
    for (const atMs of [0, 100, 900, 1_000, 5_000]) {
      record.answered.push({ atMs, tookMs: 50, what: "result" });
    }
    record.answered.push({ atMs: 500, tookMs: 700, what: "lost" });
    const strikes = [{ what: "kill", fromMs: 100, untilMs: 600 }];
    expect(availabilityOf(record, strikes, 500)).toMatchObject({
      longestGapMs: 800,
      slowestMs: 50,
    });
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
