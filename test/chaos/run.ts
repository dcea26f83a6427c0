/**
 * `npm run chaos -- --minutes M --seed S [--faults a,b]`: real processes, hurt in every way that we know, under the load of
 * the shop's tools, judged at the payment service and the mail server.
 *
 * Kinds of faults are played one after the other, each for its share of the minutes. Ends with `N runs, V violations`, and by
 * code 1 when there is a violation.
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { bundleRoles } from "../support/cluster/bundledRoles.ts";
import { faults, faultsNamed } from "./faults/catalog.ts";
import { play } from "./play.ts";
import { details, tableHead, tableRow } from "./report.ts";

const usage = `npm run chaos -- [options]
  --minutes M    10; of load, shared by the kinds of faults
  --seed S       1; repeats schedule and load
  --faults A,B   all kinds
  --people N     100; clients at a time
  --verbose      print each strike
Kinds:
${faults.map(({ name, about }) => `  ${name.padEnd(20)} ${about}`).join("\n")}
`;

/** The role program of the chaos shop. */
const roleEntry = "test/chaos/role/main.ts";

const say = (line: string): void => void process.stdout.write(`${line}\n`);

function numberIn(text: string, option: string, least: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= least && value < 2 ** 31) return value;
  throw new RangeError(`--${option} must be a number of at least ${least}, not ${text}`);
}

async function run(): Promise<void> {
  const { values } = parseArgs({
    options: {
      minutes: { type: "string", default: "10" },
      seed: { type: "string", default: "1" },
      faults: { type: "string", default: "" },
      people: { type: "string", default: "100" },
      verbose: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(usage);
  const chosen = faultsNamed(values.faults.split(",").filter((name) => name !== ""));
  const lastsMs = (numberIn(values.minutes, "minutes", 0.1) * 60_000) / chosen.length;
  const seed = Math.floor(numberIn(values.seed, "seed", 0));
  const people = Math.floor(numberIn(values.people, "people", 1));
  const roles = await bundleRoles(roleEntry);
  const [program = ""] = roles.front.args;
  let runs = 0;
  let violations = 0;
  const rows: string[] = [];
  try {
    for (const fault of chosen) {
      say(`${fault.name}: ${fault.about}; ${Math.round(lastsMs / 1_000)} s, seed ${seed}`);
      const played = await play(fault, {
        ...{ seed, lastsMs, people },
        roleArgs: (role) => [program, role],
        onStrike: (what) => values.verbose && say(`  ${what}`),
      });
      say(details(played));
      rows.push(tableRow(played));
      runs += played.verdict.runs;
      violations += played.verdict.violations.length;
    }
  } finally {
    roles.remove();
  }
  say([tableHead, ...rows].join("\n"));
  say(`${runs} runs, ${violations} violations`);
  if (violations > 0) process.exitCode = 1;
}

try {
  await run();
} catch (error) {
  process.stderr.write(
    `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
  );
  process.exitCode = 2;
}
