/**
 * What each `onUncertain` policy gives at each kill point, with a payment service that ignores idempotency keys.
 *
 * There nothing but the policy stands between a crash and a doubled refund (docs/design.md 4.4): `"fail"` never
 * doubles and may leave the person with a question, a function that asks the service gives exactly one, and
 * `"retry"` doubles where the process dies between the effect and its record. The table is printed.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { seed } from "../support/config.ts";
import { killAt } from "./support/killCase.ts";
import type { CaseWorld } from "./support/outside.ts";
import { sampled } from "./support/sample.ts";
import { confirmed } from "./support/scenarios.ts";
import { plainAnswers } from "./support/served/plainSteps.ts";
import { Spares } from "./support/spares.ts";
import { type Ending, type Trace, trace } from "./support/undisturbed.ts";

let spares: Spares;
beforeAll(async () => {
  spares = await Spares.start();
});
afterAll(() => spares.close());

/** One row of the table. */
interface Row {
  readonly place: number;
  readonly point: string;
  readonly refunds: number;
  readonly answer: string;
}

/** Killed there, nobody can know from our side whether the money moved. */
const unknowable = /^(before|after) payments\.refund$/;

async function rowsOf(tool: string): Promise<readonly Row[]> {
  const setup = {
    scenario: { name: tool, calls: [confirmed(tool, { orderId: "1001" })] },
    composition: { server: "plainSteps" as const },
    prepare: (world: CaseWorld) => world.suffer({ kind: "ignoreKeys" }),
  };
  const undisturbed: Trace = await trace(setup, spares);
  const { points } = undisturbed;
  expect([undisturbed.facts.refunds.length, answerOf(undisturbed)]).toEqual([1, plainAnswers.done]);
  const drawn = new Set(sampled(`uncertain ${tool}`, [...points.keys()]));
  const rows: Row[] = [];
  for (const [place, point] of points.entries()) {
    // Where the policies differ is looked at in every run.
    if (!drawn.has(place) && !unknowable.test(point)) continue;
    const ended = await killAt(setup, [place], undisturbed, spares);
    rows.push({ place, point, refunds: ended.facts.refunds.length, answer: answerOf(ended) });
  }
  process.stdout.write(`\n${tool}, ${rows.length} of ${points.length} kill points, seed ${seed}\n`);
  for (const { place, point, refunds, answer } of rows) {
    const where = `${String(place).padStart(3)} ${point.padEnd(30)}`;
    process.stdout.write(`  ${where} refunds ${refunds}  ${answer}\n`);
  }
  return rows;
}

function answerOf({ seen }: Ending): string {
  const result = seen.at(-1)?.result as { readonly content: readonly { readonly text: string }[] };
  return result.content.map(({ text }) => text).join(" ");
}

describe("a payment service that ignores keys, and a crash at any point", () => {
  // promise P4.4.4
  test('"fail" never refunds twice, and says so when it does not know', async () => {
    for (const row of await rowsOf("plain_fail")) {
      const mayBeUnknown = row.answer === plainAnswers.unknown && row.refunds <= 1;
      const isKnown = row.answer === plainAnswers.done && row.refunds === 1;
      expect(mayBeUnknown || isKnown, JSON.stringify(row)).toBe(true);
    }
  });

  // promise P4.4.5
  test("a function that asks the service refunds exactly once", async () => {
    for (const row of await rowsOf("plain_ask")) {
      expect(row).toEqual({ ...row, refunds: 1, answer: plainAnswers.done });
    }
  });

  test('"retry" refunds a second time only where the refund was made and not recorded', async () => {
    const rows = await rowsOf("plain_retry");
    const answered = rows.findIndex(({ point }) => point === "after payments.refund");
    for (const [at, row] of rows.entries()) {
      const isUnrecorded = at === answered || isRecording(row, rows[answered]);
      expect(row).toEqual({ ...row, refunds: isUnrecorded ? 2 : 1, answer: plainAnswers.done });
    }
  });
});

/** The commit that records the refund comes next after its answer: dead before it, the refund is unrecorded. */
function isRecording(row: Row, answered: Row | undefined): boolean {
  return row.point === "before append" && row.place === (answered?.place ?? Number.NaN) + 1;
}
