/**
 * CI's part of the fault matrix (`npm run chaos`): a worker, a front and Redis are killed under the load of the shop's tools, and
 * the payment service and the mail server are asked what came of it. The seed is the run's own.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BundledRoles, bundleRoles } from "../support/cluster/bundledRoles.ts";
import { seed } from "../support/config.ts";
import { sample } from "./faults/sample.ts";
import { play } from "./play.ts";
import { details } from "./report.ts";

/** At a time, which two busy cores carry; each comes again and again. */
const people = 30;
const fewestRuns = 60;
/** Until the only strike begins; people come as long as it takes. */
const lastsMs = 2_000;

let roles: BundledRoles;
beforeAll(async () => {
  roles = await bundleRoles("test/chaos/role/main.ts");
});
afterAll(() => roles.remove());

test("no charge and no mail comes twice, and no run is lost or stuck, when a worker, a front and Redis are killed under load", async () => {
  const [program = ""] = roles.front.args;
  const played = await play(sample, { seed, people, lastsMs, roleArgs: (role) => [program, role] });
  const { verdict, strikes } = played;
  process.stdout.write(
    `seed ${seed}: ${strikes.map(({ what }) => what).join("; ")}\n${details(played)}\n`,
  );
  expect(strikes).toHaveLength(1);
  expect(verdict.violations).toEqual([]);
  expect(verdict.runs).toBeGreaterThanOrEqual(fewestRuns);
  const cancelledByTheirClient = verdict.refused["RUN_CANCELLED"] ?? 0;
  // Who paid late, and was told that it is not there yet, was told the truth.
  const toldTooEarly = verdict.otherwise["not there yet"] ?? 0;
  expect(verdict.undisturbed + cancelledByTheirClient + toldTooEarly).toBe(verdict.runs);
});
