/**
 * Faults of the one Redis: stopped, killed, full; and two that no store survives without loss, which are measured.
 */
import { cp, readdir, rm, stat, truncate } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Draw } from "../draw.ts";
import type { Fault, Struck } from "../fault.ts";
import type { Pool } from "../world/pool.ts";
import { onPool } from "./onPool.ts";

async function stop({ cluster, leaseMs }: Pool, draw: Draw): Promise<string> {
  const forMs = Math.round(leaseMs * (1.2 + draw.next()));
  cluster.redis.freeze();
  await pause(forMs);
  cluster.redis.thaw();
  return `Redis stopped for ${forMs} ms`;
}

async function kill({ cluster }: Pool, draw: Draw): Promise<Struck> {
  const killedAtMs = performance.now();
  await cluster.redis.kill();
  const awayMs = draw.between(0, 4_000);
  await pause(awayMs);
  await cluster.redis.start();
  const what = `Redis killed, away for ${awayMs} ms`;
  return { what, forgotten: { fromMs: killedAtMs - mostUnflushedMs, untilMs: performance.now() } };
}

/** Room for a few more records, then none. */
async function fill(pool: Pool, draw: Draw): Promise<string> {
  const connection = await pool.connect();
  try {
    const { client } = connection;
    const used = Number(
      /^used_memory:(\d+)/m.exec(String(await client.call("INFO", "memory")))?.[1],
    );
    const forMs = draw.between(2_000, 5_000);
    await client.call("CONFIG", "SET", "maxmemory", used + draw.between(0, 200_000));
    await pause(forMs);
    await client.call("CONFIG", "SET", "maxmemory", "1gb");
    return `Redis full for ${forMs} ms`;
  } finally {
    await connection.close();
  }
}

/** While a flush is under way Redis acknowledges up to two seconds of writes that it holds in its own memory. */
const mostUnflushedMs = 2_000;
/** What a power cut leaves with everysec: the file as it was at the last flush, up to this long ago. */
const unflushedMs = 1_000;
const sampleMs = 50;

async function cutPower({ cluster, redisDirectory }: Pool, draw: Draw): Promise<Struck> {
  const fromMs = performance.now();
  const file = await appendOnlyFile(redisDirectory);
  const lossMs = draw.between(unflushedMs / 2, unflushedMs);
  const sizes: number[] = [];
  for (let elapsed = 0; elapsed <= lossMs; elapsed += sampleMs) {
    sizes.push((await stat(file)).size);
    await pause(sampleMs);
  }
  await cluster.redis.kill();
  const [flushed = 0] = sizes;
  const lost = (await stat(file)).size - flushed;
  await truncate(file, flushed);
  await cluster.redis.start();
  const what = `power cut: the last ${lost} bytes of acknowledged writes are gone`;
  return { what, forgotten: { fromMs, untilMs: performance.now() } };
}

async function appendOnlyFile(redisDirectory: string): Promise<string> {
  const folder = path.join(redisDirectory, "appendonlydir");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".incr.aof"));
  const newest = files.toSorted().at(-1);
  if (newest === undefined) throw new Error("Redis keeps no append-only file");
  return path.join(folder, newest);
}

async function restoreSnapshot({ cluster, redisDirectory }: Pool, draw: Draw): Promise<Struck> {
  const fromMs = performance.now();
  const snapshot = `${redisDirectory}-snapshot`;
  await cp(redisDirectory, snapshot, { recursive: true });
  const ageMs = draw.between(2_000, 6_000);
  await pause(ageMs);
  await cluster.redis.kill();
  await rm(redisDirectory, { recursive: true });
  await cp(snapshot, redisDirectory, { recursive: true });
  await rm(snapshot, { recursive: true });
  await cluster.redis.start();
  const what = `a snapshot of ${ageMs} ms ago restored`;
  return { what, forgotten: { fromMs, untilMs: performance.now() } };
}

/** In the order of docs/reliability.md. */
export const redisFaults: readonly Fault[] = [
  onPool({
    name: "redis-pause",
    about: "SIGSTOP of Redis for 1.2 to 2.2 leases, then SIGCONT",
    hurtsStore: true,
    strike: stop,
  }),
  onPool({
    name: "redis-kill-always",
    about: "SIGKILL of Redis with appendfsync always; started again within 4 s",
    hurtsStore: true,
    // It forgets nothing.
    strike: async (pool, draw) => (await kill(pool, draw)).what,
  }),
  onPool({
    name: "redis-kill-everysec",
    about: "SIGKILL of Redis with appendfsync everysec; started again within 4 s",
    plan: { appendfsync: "everysec" },
    hurtsStore: true,
    strike: kill,
  }),
  onPool({
    name: "redis-full",
    about: "maxmemory lowered to what is used, for 2 to 5 s",
    bitesWith: "STORE_FULL",
    hurtsStore: true,
    strike: fill,
  }),
  onPool({
    name: "power-loss",
    about:
      "Redis with everysec killed, and the last 0.5 to 1 s of its file cut off, as a power cut does",
    plan: { appendfsync: "everysec" },
    hurtsStore: true,
    strike: cutPower,
  }),
  onPool({
    name: "restored-snapshot",
    about: "Redis killed and started on a copy of its files that is 2 to 6 s old",
    hurtsStore: true,
    everyMs: [3_000, 8_000],
    strike: restoreSnapshot,
  }),
];
