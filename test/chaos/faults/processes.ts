/**
 * Faults of fronts and workers: killed, stopped for longer than a lease, with a clock that jumps, replaced by a changed
 * release, and one run that no worker survives.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { Draw } from "../draw.ts";
import type { Fault } from "../fault.ts";
import { send } from "../load/exchange.ts";
import type { Revision } from "../role/loadShop.ts";
import type { Pool } from "../world/pool.ts";
import { onPool } from "./onPool.ts";

type Kind = "fronts" | "workers";

const besidesLeaseMs = 5_000;
/** A release stays at least so long before the next one: clients that wait for theirs come every second. */
const turnMs = 8_000;
const mostTurns = 4;
/** Up to here a request state lives, so that a clock which is so far off still judges states right. */
const longestJumpMs = 12 * 3_600_000;

async function kill(pool: Pool, kind: Kind, draw: Draw): Promise<string> {
  const member = draw.oneOf(pool[kind]);
  await member.kill();
  await pause(draw.between(0, 2_000));
  await member.start();
  return `${member.name} killed`;
}

/** A worker dies and is started again. */
export function killWorker(pool: Pool, draw: Draw): Promise<string> {
  return kill(pool, "workers", draw);
}

/** Another one has taken over when it wakes. */
async function stop(pool: Pool, kind: Kind, draw: Draw): Promise<string> {
  const member = draw.oneOf(pool[kind]);
  const forMs = Math.round(pool.leaseMs * (1.2 + draw.next()));
  member.freeze();
  await pause(forMs);
  member.thaw();
  return `${member.name} stopped for ${forMs} ms`;
}

async function jump(pool: Pool, draw: Draw): Promise<string> {
  const member = draw.oneOf(pool.workers);
  const shiftClockMs = draw.between(-longestJumpMs, longestJumpMs);
  member.send({ shiftClockMs });
  await pause(draw.between(1_000, 4_000));
  member.send({ shiftClockMs: 0 });
  return `clock of ${member.name} ${shiftClockMs} ms off`;
}

/** All processes, one after the other, as an orchestrator replaces them. */
async function roll(pool: Pool, revision: Revision): Promise<void> {
  await pool.deploy(revision);
  for (const member of [...pool.workers, ...pool.fronts]) {
    await member.stop();
    await member.start();
  }
}

async function deployAndRollBack(pool: Pool, draw: Draw): Promise<string> {
  for (const revision of ["changed", "main"] as const) {
    await roll(pool, revision);
    await pause(draw.between(1_000, 4_000));
  }
  return "changed handlers deployed and rolled back";
}

/** Runs that the changed release recorded wait for it, as they are told to: it comes once more, and is rolled back again. */
async function giveEachItsRelease(pool: Pool, gone: Promise<void>): Promise<void> {
  let isOver = false;
  void gone.then(() => {
    isOver = true;
  });
  for (let turn = 0; !isOver && turn < mostTurns; turn += 1) {
    await roll(pool, turn % 2 === 0 ? "changed" : "main");
    await Promise.race([gone, pause(turnMs)]);
  }
}

/** Deaths of attempts after which a run is parked (docs/design.md 4.2). */
const mostTakeOvers = 5;
let poisonCalls = 0;

async function poison(pool: Pool): Promise<string> {
  poisonCalls += 1;
  const deathsBefore = pool.deaths.length;
  const idempotencyKey = `poison-${poisonCalls}`.padEnd(22, "0");
  const params = { name: "kill_worker", arguments: { orderId: "1001" } };
  for (;;) {
    const sender = { caller: "poisoner", idempotencyKey, timeoutMs: 55_000 };
    const reply = await send(pool.url, params, sender).reply;
    if (reply.kind === "lost" || (reply.kind === "refused" && reply.retryable)) {
      await pause(200);
      continue;
    }
    const deaths = pool.deaths.splice(deathsBefore).length;
    if (reply.kind === "refused" && reply.code === "RUN_PARKED" && deaths === mostTakeOvers + 1) {
      return `a run killed ${deaths} workers and was parked`;
    }
    throw new Error(`poison ended after ${deaths} deaths with ${JSON.stringify(reply)}`);
  }
}

/** In the order of docs/reliability.md. */
export const processFaults: readonly Fault[] = [
  onPool({
    name: "front-kill",
    about: "SIGKILL of a front; started again within 2 s",
    strike: (pool, draw) => kill(pool, "fronts", draw),
  }),
  onPool({
    name: "worker-kill",
    about: "SIGKILL of a worker; started again within 2 s",
    mostGapMs: (leaseMs) => leaseMs + besidesLeaseMs,
    strike: killWorker,
  }),
  onPool({
    name: "front-pause",
    about: "SIGSTOP of a front for 1.2 to 2.2 leases, then SIGCONT",
    manners: { timeoutMs: 10_000 },
    strike: (pool, draw) => stop(pool, "fronts", draw),
  }),
  onPool({
    name: "worker-pause",
    about: "SIGSTOP of a worker for 1.2 to 2.2 leases, then SIGCONT",
    strike: (pool, draw) => stop(pool, "workers", draw),
  }),
  onPool({
    name: "clock-jump",
    about: "a worker's wall clock jumps by up to 12 h, forth or back, for some seconds",
    strike: jump,
  }),
  onPool({
    name: "rolling-deploy",
    about: "a release with a renamed step replaces all processes one by one, and is rolled back",
    names: ["payOut", "payOut", "refund"],
    bitesWith: "JOURNAL_MISMATCH",
    // What nobody asks for is noticed after this; a changed handler never asks for the old name.
    plan: { settings: { REPRISE_REPLAY_STALL_MS: "2000" } },
    strike: deployAndRollBack,
    settle: giveEachItsRelease,
  }),
  onPool({
    name: "poison",
    about: "a run kills its worker each time; it must end parked after 5 take-overs",
    strike: poison,
  }),
];
