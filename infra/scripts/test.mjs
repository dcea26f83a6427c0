/**
 * `npm test` [leg ...] [--long]: sets up what is missing, runs every leg, prints one total line.
 *
 * Legs: check, unit, e2e, conformance; named ones run alone (`npm test -- unit`). `--long` takes the full
 * matrices and case counts instead of CI's seeded sample; REPRISE_TEST_SEED repeats a seed that was printed.
 */
import process from "node:process";
import { runLegs } from "./legs.mjs";
import { fail, pathWithServers, setUp } from "./setUp.mjs";

const fromSource = ["--conditions=@reprise/source", "--import", "tsx"];
const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project"];

const legs = [
  { name: "check", args: ["infra/scripts/check.mjs"] },
  { name: "unit", args: [...vitest, "unit"] },
  { name: "e2e", args: [...vitest, "e2e"] },
  { name: "conformance", args: [...fromSource, "test/conformance/run.ts"] },
].map((leg) => ({ ...leg, command: process.execPath }));

const args = process.argv.slice(2);
const long = args.includes("--long");
const named = args.filter((arg) => arg !== "--long");
const unknown = named.filter((name) => !legs.some((leg) => leg.name === name));
if (unknown.length > 0) {
  fail(`unknown leg: ${unknown.join(", ")}; there are ${legs.map((leg) => leg.name).join(", ")}`);
}

setUp({ tools: ["redis-server", "redis-sentinel", "nginx", "chromium"] });
const env = {
  ...process.env,
  PATH: pathWithServers(),
  NO_COLOR: "1",
  REPRISE_TEST_LONG: long ? "1" : "",
};
delete env.FORCE_COLOR;
const wanted = named.length === 0 ? legs : legs.filter((leg) => named.includes(leg.name));
process.exitCode = await runLegs(wanted, env);
