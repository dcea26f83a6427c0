/**
 * Two hundred open dialogues and what befalls a deployment: keys that rotate and are revoked, a Redis that comes back with
 * the run records alone, one that is away, and one that comes back with nothing. Fronts behind nginx, workers and Redis are the
 * real processes; no one but Redis is started again.
 */
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connectRedis, openKeyRingAdmin, type RedisConnection } from "@reprise/store-redis";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Cluster, startCluster } from "../../support/cluster/cluster.ts";
import { longRun } from "../../support/config.ts";
import { bookingsByCity, type Dialogue, openMany, withAll } from "./support/openDialogues.ts";

const count = 200;
/** Above the five seconds that a command waits for Redis: clients are told to come again. */
const outageMs = longRun ? 20_000 : 6_000;
const idleMs = longRun ? 60_000 : 1_000;
/** Within this a revocation must be in force (docs/design.md 5). */
const revokedWithinMs = 10_000;

const stateInvalid = -32_602;
const runLost = -31_004;

let cluster: Cluster;
let connection: RedisConnection;
let dataDir = "";
beforeAll(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "reprise-outages-"));
  const settings = { REPRISE_LOG_LEVEL: "error" };
  cluster = await startCluster({ dataDir, appendfsync: "always", settings });
  connection = await connectRedis({ url: cluster.redisUrl });
});
afterAll(async () => {
  await connection.close();
  await cluster.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const cities = (name: string, from: number, to: number): readonly string[] =>
  Array.from({ length: to - from }, (_, place) => `${name} ${from + place}`);

/** Deletes what no run record is: the key ring, the pool's queues, indexes of waiting runs, mailboxes. */
async function loseAllButRunRecords(): Promise<number> {
  const { client } = connection;
  const isRecord = /^reprise1:\{[^}]*\}:(run|journal|idempotency|due|waiters|watchers)\b/;
  const names = (await client.call("KEYS", "*")) as readonly string[];
  const lost = names.filter((name) => !isRecord.test(name));
  if (lost.length > 0) await client.call("DEL", ...lost);
  return lost.length;
}

/** Revokes the key that sealed the first dialogue; those that are refused because of it, all others, and how long it took. */
async function revoked(dialogues: readonly Dialogue[]): Promise<{
  readonly refused: readonly Dialogue[];
  readonly others: readonly Dialogue[];
  readonly afterMs: number;
}> {
  const [{ kid } = { kid: "" }] = dialogues;
  await openKeyRingAdmin({ connection }).revoke(kid);
  const since = performance.now();
  const sealed = dialogues.filter((each) => each.kid === kid);
  // Whoever is answered before the revocation is in force goes on under another key.
  for (;;) {
    const probe = sealed.shift();
    if (probe === undefined) throw new Error("the revocation did not come into force");
    await probe.answer();
    if (probe.refusal !== undefined) {
      sealed.unshift(probe);
      break;
    }
    await pause(200);
  }
  const refused = new Set(sealed);
  return {
    refused: sealed,
    others: dialogues.filter((each) => !refused.has(each)),
    afterMs: Math.round(performance.now() - since),
  };
}

test("workers that idled go on when Redis was restarted", async () => {
  await pause(idleMs);
  const pids = cluster.workers.map(({ pid }) => pid);
  await cluster.redis.restart();
  const dialogues = await openMany(cluster, cities("Idle", 0, 8));
  await withAll(dialogues, (each) => each.finish());
  expect(dialogues.filter(({ isComplete }) => !isComplete)).toEqual([]);
  expect(cluster.workers.map(({ pid }) => pid)).toEqual(pids);
});

test(`${count} open dialogues complete through rotation, lost keys and an outage, but for those of a revoked key`, async () => {
  const before = await openMany(cluster, cities("City", 0, count / 2));
  const keys = new Set(before.map(({ kid }) => kid));
  await openKeyRingAdmin({ connection }).rotate();
  await vi.waitFor(
    async () => {
      const [{ kid } = { kid: "" }] = await openMany(cluster, ["Rotated"]);
      expect(keys).not.toContain(kid);
    },
    { timeout: 30_000, interval: 200 },
  );
  const after = await openMany(cluster, cities("City", count / 2, count));
  const all = [...before, ...after];
  for (const { kid } of all) keys.add(kid);

  const { refused, others, afterMs } = await revoked(all);
  expect(afterMs).toBeLessThan(revokedWithinMs);
  // A third goes on at once, a third while Redis is without keys and queues, a third while it is away.
  const third = Math.ceil(others.length / 3);
  await withAll(others.slice(0, third), (each) => each.answer());

  const answering = withAll(others.slice(third, 2 * third), (each) => each.answer());
  const lost = await loseAllButRunRecords();
  await cluster.redis.restart();
  await answering;

  await cluster.redis.kill();
  const finishing = withAll(others, (each) => each.finish());
  await pause(outageMs);
  await cluster.redis.start();
  await finishing;
  await withAll(refused, (each) => each.answer());

  process.stdout.write(
    `${all.length} dialogues under ${keys.size} keys: ${others.length} completed, ` +
      `${refused.length} of the key that was revoked (in force after ${afterMs} ms); ` +
      `${lost} Redis keys lost, then away for ${outageMs} ms\n`,
  );
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.map(({ refusal }) => refusal)).toEqual(refused.map(() => stateInvalid));
  const open = others.filter(({ isComplete }) => !isComplete);
  expect(open.map(({ city, refusal }) => ({ city, refusal }))).toEqual([]);
  const bookings = await bookingsByCity(cluster);
  expect(others.filter(({ city }) => bookings.get(city) !== 2)).toEqual([]);
  expect(refused.filter(({ city }) => bookings.has(city))).toEqual([]);
});

test("a run whose record is lost is refused as lost, and its effects are not repeated", async () => {
  const completed = await openMany(cluster, cities("Lost, complete", 0, 10));
  await withAll(completed, (each) => each.finish());
  const open = await openMany(cluster, cities("Lost, open", 0, 10));
  await withAll(open, (each) => each.answer());
  const bookings = await bookingsByCity(cluster);

  await cluster.redis.kill();
  const files = path.join(dataDir, "redis");
  await rm(files, { recursive: true });
  await mkdir(files);
  await cluster.redis.start();
  await withAll(completed, (each) => each.repeat());
  await withAll(open, (each) => each.answer());
  const refusals = [...completed, ...open].map(({ refusal }) => refusal);
  expect(refusals).toEqual(refusals.map(() => runLost));
  expect(await bookingsByCity(cluster)).toEqual(bookings);
});
