/**
 * The promises of docs/design.md sections 3 and 4 on random handlers in random trouble, on the real embedded store.
 *
 * One case in 20 has its processes killed for real. A failed case prints its number, its program, the conversation and all that
 * happened; REPRISE_TEST_CASE with that number plays it alone.
 */

import { type CaseReport, playCase } from "@reprise/testing/simulation";
import { afterAll, describe, test } from "vitest";
import { longRun, onlyCase, seed } from "../../support/config.ts";
import { PlayedFleet } from "./fleet.ts";
import { KilledFleet, Nursery } from "./killedFleet.ts";

const cases = longRun ? 2_000 : 120;
const killedEvery = 20;
const numbers = Array.from({ length: cases }, (_, index) => (seed + index) % 2 ** 31);
const isKilled = (number: number): boolean => number % killedEvery === 0;
const played = onlyCase === undefined ? numbers.filter((number) => !isKilled(number)) : [onlyCase];
const killed = onlyCase === undefined ? numbers.filter(isKilled) : [];

describe.concurrent("a random handler in trouble does what it does undisturbed, or says by a code why not", () => {
  const nursery = new Nursery();
  afterAll(() => nursery.close());

  test("on instances that crash, pause, lose their store and their clients", async ({ expect }) => {
    const reports: CaseReport[] = [];
    for (const number of played) {
      const isAlone = onlyCase !== undefined && isKilled(number);
      reports.push(
        await playCase(number, (options) =>
          isAlone ? new KilledFleet(options, nursery) : new PlayedFleet(options),
        ),
      );
    }
    process.stdout.write(`${summary("played", reports)}\n`);
    expect(reports).toHaveLength(played.length);
  });

  test.runIf(killed.length > 0)(
    "in processes that are killed at any call they make",
    async ({ expect }) => {
      const reports: CaseReport[] = [];
      let kills = 0;
      for (const number of killed) {
        let fleet: KilledFleet | undefined;
        const report = await playCase(number, (options) => {
          fleet = new KilledFleet(options, nursery);
          return fleet;
        });
        reports.push(report);
        kills += fleet?.kills ?? 0;
      }
      process.stdout.write(`${summary("killed for real", reports)}, ${kills} kills\n`);
      expect(kills).toBeGreaterThan(killed.length / 2);
    },
  );
});

/** One line that says how much trouble there was, so that a run which tests nothing shows. */
function summary(what: string, reports: readonly CaseReport[]): string {
  const sum = (count: (report: CaseReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  const codes = new Map<string, number>();
  for (const code of reports.flatMap((report) => report.codes)) {
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }
  return [
    `${reports.length} random cases ${what}, seed ${seed}`,
    `${sum((one) => one.crashes)} crashes`,
    `${sum((one) => one.pauses)} pauses`,
    `${sum((one) => one.storeFailures)} store failures`,
    `${sum((one) => one.disconnects)} disconnects`,
    `${sum((one) => (one.deployed ? 1 : 0))} deploys`,
    `${sum((one) => one.lostRecords)} lost records`,
    `${sum((one) => one.questions)} questions`,
    `${sum((one) => one.effects)} effects, ${sum((one) => one.repeatedEffects)} more recognised by their key`,
    `coded errors: ${[...codes].map(([code, count]) => `${code} ${count}`).join(", ") || "none"}`,
  ].join("; ");
}
