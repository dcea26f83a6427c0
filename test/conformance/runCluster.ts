/**
 * The legs `cluster` and `cluster-killed` of `npm run conformance`: the revision's server requirements through nginx, round
 * robin over three fronts, with two workers.
 *
 * `cluster` demands what the leg of a single server demands. `cluster-killed` lets the suite pass again and again while
 * a front and a worker are killed every 3 s, by turns as it is and with requests sent again that a kill cut, as clients
 * do. disturbance.ts says what a kill excuses in either.
 */
import { type ClusterTarget, startClusterTarget } from "./clusterTarget.ts";
import { type Explained, explain, type Pass } from "./disturbance.ts";
import { modernExpectations } from "./expectations.ts";
import { type Kill, type Killing, startKilling } from "./killing.ts";
import { describe, printVerdict } from "./printVerdict.ts";
import type { LegCount } from "./runServer.ts";
import { startSendAgain } from "./sendAgain.ts";
import { requiredServerScenarios, runServerSuite } from "./suite.ts";
import { complaints, judge, type Verdict } from "./verdict.ts";

/** A scenario that is hit in all of these is not just unlucky. */
const mostPasses = 8;

const revision = "2026-07-28";

/** Runs the leg without any disturbance. */
export async function runCluster(): Promise<LegCount> {
  console.log(`Server requirements of ${revision}, 3 fronts behind nginx, 2 workers`);
  return await withTarget(async (target, signal) => {
    const required = await requiredServerScenarios(revision);
    const verdict = judge(
      await runServerSuite(target.cluster.url, revision, signal),
      required,
      modernExpectations,
    );
    printVerdict(verdict);
    const idle = await idleFronts(target);
    for (const name of idle) console.log(`  FAIL ${name} got no request`);
    for (const { front, line } of target.cuts) console.log(`  FAIL ${front} ${line}`);
    return count(verdict, [idle, target.cuts]);
  });
}

/** Runs the leg in which members die. */
export async function runClusterKilled(): Promise<LegCount> {
  console.log("The same while a front and a worker are killed every 3 s");
  return await withTarget(async (target, signal) => {
    const required = await requiredServerScenarios(revision);
    const judged = [...required, ...modernExpectations.alsoJudged];
    const passes: Pass[] = [];
    const sendAgain = await startSendAgain(target.cluster.url);
    const killing = startKilling(target.cluster);
    const isShown = (): boolean =>
      allDied(target, killing) &&
      complaints(
        judge(
          explain(passes, judged, killing.kills, target.cuts).best,
          required,
          modernExpectations,
        ),
      ).length === 0;
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
    const seen = explain(passes, judged, killing.kills, target.cuts);
    const verdict = judge(seen.best, required, modernExpectations);
    printVerdict(verdict);
    printDisturbance(passes.length, killing.kills, target, seen);
    console.log(`  ${sendAgain.count} requests were sent again`);
    return count(verdict, [seen.unexplained, allDied(target, killing) ? [] : ["not all died"]]);
  });
}

type Leg = (target: ClusterTarget, signal: AbortSignal) => Promise<LegCount>;

/**
 * Whatever ends by itself fails the leg. A signal to this process ends the suite, and with it the leg: the members don't
 * get it, and would outlive their parent.
 */
async function withTarget(leg: Leg): Promise<LegCount> {
  const interrupted = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(name, () => interrupted.abort());
  }
  const target = await startClusterTarget();
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
  const failedScenarios = verdict.scenarios.filter((each) => each.complaints.length > 0).length;
  const lists = [verdict.skipComplaints, ...mustBeEmpty];
  const failedLists = lists.filter((list) => list.length > 0).length;
  return {
    passed: verdict.scenarios.length - failedScenarios + (lists.length - failedLists),
    failed: failedScenarios + failedLists,
  };
}
