/**
 * The legs `cluster` and `cluster-killed` of `npm run conformance`: the server requirements of both revisions through nginx,
 * round robin over fronts (three unless told), with two workers.
 *
 * `cluster` demands what the leg of a single server demands. `cluster-killed` lets the suite pass again and again while
 * a front and a worker are killed every 3 s, by turns as it is and with requests sent again that a kill cut, as clients
 * do. disturbance.ts says what a kill excuses in either.
 */
import { type ClusterTarget, startClusterTarget } from "./clusterTarget.ts";
import { type Explained, explain, type Pass } from "./disturbance.ts";
import { type Expectations, legacyExpectations, modernExpectations } from "./expectations.ts";
import { type Kill, type Killing, startKilling } from "./killing.ts";
import { describe, printVerdict } from "./printVerdict.ts";
import type { LegCount } from "./runServer.ts";
import { startSendAgain } from "./sendAgain.ts";
import { type JudgedRevision, requiredServerScenarios, runServerSuite } from "./suite.ts";
import { complaints, judge, type Verdict } from "./verdict.ts";

/** A scenario that is hit in all of these is not just unlucky: the longest one lasts almost as long as it is until the next kill. */
const mostPasses = 16;

const usualFronts = 3;

const revisions: readonly (readonly [JudgedRevision, Expectations])[] = [
  ["2026-07-28", modernExpectations],
  ["2025-11-25", legacyExpectations],
];

/** Runs the leg without any disturbance. */
export async function runCluster(fronts: number = usualFronts): Promise<LegCount> {
  return await withTarget(fronts, async (target, signal) => {
    const counts: LegCount[] = [];
    for (const [revision, expectations] of revisions) {
      console.log(`Server requirements of ${revision}, ${fronts} fronts behind nginx, 2 workers`);
      const required = await requiredServerScenarios(revision);
      const outcomes = await runServerSuite(target.cluster.url, revision, signal);
      const verdict = judge(outcomes, required, expectations);
      printVerdict(verdict);
      counts.push(count(verdict, []));
    }
    const idle = await idleFronts(target);
    for (const name of idle) console.log(`  FAIL ${name} got no request`);
    for (const { front, line } of target.cuts) console.log(`  FAIL ${front} ${line}`);
    return total([...counts, countOfLists([idle, target.cuts])]);
  });
}

/** Runs the leg in which members die, of one revision. */
export async function runClusterKilled(
  wanted: JudgedRevision,
  fronts: number = usualFronts,
): Promise<LegCount> {
  const counts: LegCount[] = [];
  for (const [revision, expectations] of revisions) {
    if (revision !== wanted) continue;
    console.log(`${revision}, ${fronts} fronts: a front and a worker are killed every 3 s`);
    const leg: Leg = (target, signal) => judgeKilled(target, signal, revision, expectations);
    counts.push(await withTarget(fronts, leg));
  }
  return total(counts);
}

async function judgeKilled(
  target: ClusterTarget,
  signal: AbortSignal,
  revision: JudgedRevision,
  expectations: Expectations,
): Promise<LegCount> {
  const required = await requiredServerScenarios(revision);
  const judged = [...required, ...expectations.alsoJudged];
  const passes: Pass[] = [];
  const sendAgain = await startSendAgain(target.cluster.url);
  const killing = startKilling(target.cluster);
  const verdictOf = ({ best }: Explained): Verdict => judge(best, required, expectations);
  const seenNow = (): Explained => explain(passes, judged, killing.kills, target.cuts);
  const isShown = (): boolean =>
    allDied(target, killing) && complaints(verdictOf(seenNow())).length === 0;
  try {
    do {
      const sentAgain = passes.length % 2 === 1;
      const { url } = sentAgain ? sendAgain : target.cluster;
      passes.push({ sentAgain, outcomes: await runServerSuite(url, revision, signal) });
    } while (passes.length < 2 || (passes.length < mostPasses && !isShown()));
  } finally {
    await killing.stop();
    await sendAgain.stop();
  }
  // What nginx said of the last kill may have come only now.
  const seen = seenNow();
  const verdict = verdictOf(seen);
  printVerdict(verdict);
  printDisturbance(passes.length, killing.kills, target, seen);
  console.log(`  ${sendAgain.count} requests were sent again`);
  return count(verdict, [seen.unexplained, allDied(target, killing) ? [] : ["not all died"]]);
}

type Leg = (target: ClusterTarget, signal: AbortSignal) => Promise<LegCount>;

/**
 * Whatever ends by itself fails the leg. A signal to this process ends the suite, and with it the leg: the members don't
 * get it, and would outlive their parent.
 */
async function withTarget(fronts: number, leg: Leg): Promise<LegCount> {
  const interrupted = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => interrupted.abort());
  }
  const target = await startClusterTarget(fronts);
  try {
    const { passed, failed } = await leg(target, interrupted.signal);
    for (const death of target.deaths) console.log(`  FAIL died: ${death}`);
    return { passed, failed: failed + target.deaths.length };
  } finally {
    await target.stop();
  }
}

/** Fronts that nginx sent nothing to: behind one front everything would be green. */
async function idleFronts({ cluster }: ClusterTarget): Promise<readonly string[]> {
  const metrics = await Promise.all(
    cluster.fronts.map(async ({ url }) => await (await fetch(new URL("/metrics", url))).text()),
  );
  return cluster.fronts
    .filter(
      (_, place) =>
        !/^reprise_front_requests_total\{method="tools\/call"/m.test(metrics[place] ?? ""),
    )
    .map(({ member }) => member.name);
}

function allDied({ cluster }: ClusterTarget, { kills }: Killing): boolean {
  const members = [...cluster.fronts.map(({ member }) => member), ...cluster.workers];
  return members.every(({ name }) => kills.some((kill) => kill.name === name));
}

function printDisturbance(
  passes: number,
  kills: readonly Kill[],
  { cuts }: ClusterTarget,
  { explained, unexplained }: Explained,
): void {
  const fronts = kills.filter(({ role }) => role === "front").length;
  const away = kills.map(({ fromMs, backMs }) => backMs - fromMs);
  console.log(
    `  ${passes} passes, ${fronts} fronts and ${kills.length - fronts} workers killed, each away for ` +
      `${Math.min(...away)} to ${Math.max(...away)} ms; ${cuts.length} requests cut`,
  );
  console.log("  What the kills explain, in scenarios that passed in another pass:");
  for (const finding of explained) console.log(`    ${describe(finding)}`);
  for (const finding of unexplained) console.log(`  FAIL ${describe(finding)}`);
}

/** Scenarios, the list of skipped checks, and further lists that must be empty count one each. */
function count(verdict: Verdict, mustBeEmpty: readonly (readonly unknown[])[]): LegCount {
  const failed = verdict.scenarios.filter((each) => each.complaints.length > 0).length;
  const scenarios = { passed: verdict.scenarios.length - failed, failed };
  return total([scenarios, countOfLists([verdict.skipComplaints, ...mustBeEmpty])]);
}

function countOfLists(mustBeEmpty: readonly (readonly unknown[])[]): LegCount {
  const failed = mustBeEmpty.filter((list) => list.length > 0).length;
  return { passed: mustBeEmpty.length - failed, failed };
}

function total(counts: readonly LegCount[]): LegCount {
  const sum = (of: keyof LegCount): number => counts.reduce((all, each) => all + each[of], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}
