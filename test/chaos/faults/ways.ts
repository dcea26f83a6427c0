/**
 * Faults of the network, and of clients: what a TCP fault proxy does between processes and Redis, and between clients and
 * nginx; clients that leave, double and repeat.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { FaultProxy } from "../../support/faultProxy.ts";
import type { Draw } from "../draw.ts";
import type { Fault } from "../fault.ts";
import type { Pool } from "../world/pool.ts";
import { onPool } from "./onPool.ts";

type Trouble = (way: FaultProxy) => string;

const troubles = {
  cut: (way: FaultProxy) => {
    way.cut();
    return "cut";
  },
  silent: (way: FaultProxy) => {
    way.silence();
    return "half-open";
  },
  away: (way: FaultProxy) => {
    way.refuse();
    way.cut();
    return "unreachable";
  },
  slow: (way: FaultProxy) => {
    way.blow({ delayMs: 250 });
    return "250 ms each way";
  },
  narrow: (way: FaultProxy) => {
    way.blow({ bytesPerSecond: 20_000 });
    return "20 kB/s";
  },
} satisfies Record<string, Trouble>;

/** One process, or all of them at once. */
async function troubleRedisWays(
  pool: Pool,
  draw: Draw,
  trouble: Trouble,
  forMs: readonly [number, number],
): Promise<string> {
  const hit = draw.chance(0.3) ? pool.redisWays : [draw.oneOf(pool.redisWays)];
  const lastsMs = draw.between(...forMs);
  const what = hit.map(trouble)[0] ?? "";
  await pause(lastsMs);
  for (const way of hit) way.mend();
  return `Redis ${what} for ${hit.length} of ${pool.redisWays.length} processes, ${lastsMs} ms`;
}

/** Longer than a client that only listens needs to find out: it asks every 15 s, and waits 30 s for the reply. */
const findOutMs = 60_000;

/** Nothing mends this but the processes themselves: they must find out, and make new connections. */
async function loseRedisWays(pool: Pool, draw: Draw): Promise<string> {
  const hit = draw.chance(0.3) ? pool.redisWays : [draw.oneOf(pool.redisWays)];
  const since = performance.now();
  for (const way of hit) way.silence();
  const silent = (): number => hit.reduce((sum, way) => sum + way.silent, 0);
  const count = silent();
  while (silent() > 0) {
    if (performance.now() - since > findOutMs) {
      throw new Error(`after ${findOutMs} ms ${silent()} of ${count} silent connections are kept`);
    }
    await pause(100);
  }
  for (const way of hit) way.mend();
  const tookMs = Math.round(performance.now() - since);
  return `${count} connections of ${hit.length} processes silent, given up after ${tookMs} ms`;
}

async function troubleClients(pool: Pool, draw: Draw): Promise<string> {
  const { clientWay } = pool;
  if (clientWay === undefined) throw new Error("the plan has no way for clients");
  const what = draw.oneOf(Object.values(troubles))(clientWay);
  const lastsMs = draw.between(500, 4_000);
  await pause(lastsMs);
  clientWay.mend();
  return `clients ${what}, ${lastsMs} ms`;
}

async function justWait(_pool: Pool, draw: Draw): Promise<string> {
  await pause(draw.between(1_000, 2_000));
  return "clients' own manners";
}

function redisWay(
  name: string,
  about: string,
  trouble: Trouble,
  forMs: readonly [number, number],
): Fault {
  return onPool({
    ...{ name, about },
    plan: { redisWays: true },
    hurtsStore: true,
    strike: (pool, draw) => troubleRedisWays(pool, draw, trouble, forMs),
  });
}

/** In the order of docs/reliability.md. */
export const wayFaults: readonly Fault[] = [
  redisWay(
    "redis-cut",
    "connections of one or all processes to Redis reset",
    troubles.cut,
    [100, 1_000],
  ),
  redisWay(
    "redis-away",
    "Redis unreachable for one or all processes, for up to 1.6 leases",
    troubles.away,
    [500, 8_000],
  ),
  onPool({
    name: "redis-half-open",
    about:
      "the connections of one or all processes to Redis fall silent for good; nobody is told, new ones pass",
    plan: { redisWays: true },
    hurtsStore: true,
    strike: loseRedisWays,
  }),
  redisWay("redis-slow", "each way to Redis takes 250 ms", troubles.slow, [2_000, 6_000]),
  redisWay(
    "redis-narrow",
    "each connection to Redis carries 20 kB/s",
    troubles.narrow,
    [2_000, 6_000],
  ),
  onPool({
    name: "client-way",
    about: "clients' connections cut, half-open, refused, slow or narrow",
    plan: { clientWay: true },
    manners: { timeoutMs: 5_000 },
    strike: troubleClients,
  }),
  onPool({
    name: "client-leaves",
    about: "a quarter of all requests is hung up after 1 to 300 ms and made again",
    manners: { leaves: 0.25 },
    strike: justWait,
  }),
  onPool({
    name: "retries",
    about: "half of all requests is sent twice at once, a third once more seconds later",
    manners: { doubles: 0.5, repeatsLate: 0.33 },
    strike: justWait,
  }),
];
