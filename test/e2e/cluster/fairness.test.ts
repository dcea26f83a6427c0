/**
 * One caller with thousands of queued calls and another with one (docs/design.md 7: capacity counts per caller first).
 *
 * Judged by what is served before the one, in the middle of several: in twice its idle latency the workers end two calls in
 * each place that they have, and no more of the other caller's may come before it. Times depend on who else uses the machine;
 * they are printed.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fromSource } from "../../support/childProcess.ts";
import { type Cluster, startCluster } from "../../support/cluster/cluster.ts";
import { longRun } from "../../support/config.ts";
import { callerHeader } from "../fixtures/queued/main.ts";
import { resultOf } from "../support/dialogue.ts";
import { seededNumbers } from "../support/sample.ts";
import { type CallParams, type SentCall, sendCall } from "../support/wire.ts";

const queuedCalls = longRun ? 10_000 : 500;
const workers = 2;
const concurrency = 4;
const places = workers * concurrency;
const timedCalls = 9;
/** Long against what a busy machine adds to it. */
const busyMs = 300;
const call: CallParams = { name: "keep_busy", arguments: { ms: busyMs } };
const next = seededNumbers("fairness");

let cluster: Cluster;
let dataDir = "";
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "reprise-fairness-"));
  const role = (name: "front" | "worker") => ({
    args: [...fromSource, `services/${name}/src/main.ts`, "test/e2e/fixtures/queued/main.ts"],
  });
  cluster = await startCluster({
    dataDir,
    workers,
    front: role("front"),
    worker: role("worker"),
    settings: { REPRISE_RATE_LIMIT_PER_MINUTE: "0", REPRISE_CONCURRENCY: String(concurrency) },
  });
});
afterAll(async () => {
  await cluster.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const urlOf = (place: number): string => {
  const front = cluster.fronts[place % cluster.fronts.length];
  if (front === undefined) throw new Error("the cluster has no front");
  return front.url;
};

const sendAs = (caller: string, place: number): SentCall =>
  sendCall(urlOf(place), call, { [callerHeader]: caller });

const medianOf = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

/**
 * How long one call takes that comes at any moment: one that follows on another's end would always find that all places have
 * just been taken.
 */
async function timed(place: number, ended = (): number => 0): Promise<TimedCall> {
  await pause(next() * busyMs);
  const [since, endedBefore] = [performance.now(), ended()];
  resultOf(await sendAs("the one", place).reply);
  return { ms: Math.round(performance.now() - since), servedBefore: ended() - endedBefore };
}

interface TimedCall {
  readonly ms: number;
  /** Calls of the other caller that were served meanwhile. */
  readonly servedBefore: number;
}

test(`${queuedCalls} queued calls of one caller keep another one waiting no longer than twice its idle latency`, async () => {
  const idle: number[] = [];
  for (let place = 0; place < timedCalls; place += 1) idle.push((await timed(place)).ms);

  let ended = 0;
  const many = Array.from({ length: queuedCalls }, (_, place) => sendAs("the many", place));
  const replies = many.map(({ reply }) => reply);
  let letGoOn: () => void = () => undefined;
  const isUnderWay = new Promise<void>((resolve) => {
    letGoOn = resolve;
  });
  for (const reply of replies) {
    const onEnd = (): void => {
      ended += 1;
      // The workers have their hands full by now.
      if (ended === places * 2) letGoOn();
    };
    // Those that are cut at the end do not count.
    reply.then(onEnd, () => undefined);
  }
  await isUnderWay;
  const seen: TimedCall[] = [];
  for (let place = 0; place < timedCalls; place += 1) seen.push(await timed(place, () => ended));
  expect(ended).toBeLessThan(queuedCalls);
  process.stdout.write(
    `idle ${medianOf(idle)} ms; beside ${queuedCalls} queued calls: ` +
      `${seen.map(({ ms, servedBefore }) => `${ms} ms (${servedBefore} calls before)`).join(", ")}\n`,
  );
  expect(medianOf(seen.map(({ servedBefore }) => servedBefore))).toBeLessThanOrEqual(2 * places);
  for (const each of many) each.cut();
});
