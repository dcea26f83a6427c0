/**
 * Suite `flow`: how many connections a steady flow of questions holds, by era: calls that come at a fixed rate, each answered
 * after a fixed time.
 *
 * By Little's law the handshake era holds rate x time of them, because a call's stream stays open; in 2026-07-28 a question
 * ends its response, and nothing is held. Both are counted at the server, over the time in which the flow is steady, and every
 * call must end with its result.
 */
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { askModern, type HeldCall, openSession } from "./heldClient.ts";
import { type ServerProcess, startServer } from "./processes.ts";
import { spread } from "./stats.ts";
import type { Ratio, SuiteContext, SuiteResult } from "./suite.ts";
import { confirmedText } from "./workload.ts";

const callsPerSecond = 200;
const thinkMs = 5_000;
/** Calls whose question is still to come: a machine that can't keep the rate gets a lower one, and says so. */
const mostUnasked = 64;
/** From the first call to the last one. */
const flowMs = 15_000;
/** Before that the flow is not steady: the first answers are on their way. */
const steadyFromMs = thinkMs + 3_000;
const sampleEveryMs = 250;
/** How many calls begin at the same time. */
const burst = 4;
const sessions = 20;

/** What the server held, one value for each look at it. */
interface Held {
  readonly streams: readonly number[];
  readonly sockets: readonly number[];
  /** Calls a second that came about while the flow was steady. */
  readonly rate: number;
  /** How long a call took on average, its person's time included. */
  readonly secondsEach: number;
}

/** Measures the suite. */
export async function flowSuite({ code, onProgress }: SuiteContext): Promise<SuiteResult> {
  const eras: readonly (readonly [string, (url: string) => Promise<() => Promise<HeldCall>>])[] = [
    ["2025-11-25", legacyCaller],
    ["2026-07-28", (url) => Promise.resolve(() => askModern(url))],
  ];
  const ratios: Ratio[] = [];
  const notes: string[] = [];
  for (const [era, callerOf] of eras) {
    onProgress(`${callsPerSecond} calls a second, answered after ${thinkMs / 1_000} s: ${era}`);
    const server = await startServer(code, "reprise");
    try {
      const held = await flow(server, await callerOf(server.url));
      const isModern = era === "2026-07-28";
      const target = isModern ? { target: { atMost: 0 } } : {};
      ratios.push({ name: `open streams, ${era}`, value: spread(held.streams), ...target });
      if (!isModern) {
        const byLaw = held.streams.map((streams) => streams / (held.rate * held.secondsEach));
        ratios.push({ name: `open streams / (rate x time), ${era}`, value: spread(byLaw) });
      }
      ratios.push({ name: `TCP connections of the server, ${era}`, value: spread(held.sockets) });
      notes.push(
        `  ${era}: ${held.rate.toFixed(0)} calls a second came about, of ${held.secondsEach.toFixed(2)} s each; all ended with their result`,
      );
    } finally {
      await server.stop();
    }
  }
  return {
    suite: "flow",
    ratios,
    measured: [],
    limits: [
      `${callsPerSecond} calls a second for ${flowMs / 1_000} s, each answered after ${thinkMs / 1_000} s: by Little's law ${(callsPerSecond * thinkMs) / 1_000} and more wait at a time`,
      "streams by the server's own metric, connections by its process's sockets, every quarter of a second while the flow is steady",
      "the connections of 2026-07-28 are those that the client keeps for its next requests; no question holds one",
    ],
    notes,
  };
}

async function legacyCaller(url: string): Promise<() => Promise<HeldCall>> {
  const open = await Promise.all(Array.from({ length: sessions }, () => openSession(url)));
  let calls = 0;
  return () => {
    const session = open[calls++ % open.length];
    if (session === undefined) throw new RangeError("there is no session");
    return session.call();
  };
}

async function flow(server: ServerProcess, call: () => Promise<HeldCall>): Promise<Held> {
  const [pid] = server.pids;
  if (pid === undefined) throw new Error("the server has no process");
  const before = socketsOf(pid);
  const calls: Promise<number>[] = [];
  let unasked = 0;
  let steadyCalls = 0;
  const counted = async (): Promise<HeldCall> => {
    unasked += 1;
    return await call().finally(() => {
      unasked -= 1;
    });
  };
  const streams: number[] = [];
  const sockets: number[] = [];
  const begunAt = performance.now();
  const since = (): number => performance.now() - begunAt;
  let nextSampleAt = steadyFromMs;
  while (since() < flowMs) {
    // What the loop was late by is made up for, so that the rate holds.
    while (calls.length < (since() / 1_000) * callsPerSecond && unasked < mostUnasked) {
      if (since() >= steadyFromMs) steadyCalls += burst;
      for (let place = 0; place < burst; place++) {
        const answered = answeredLater(counted);
        // Told below, by the one that all are waited for with.
        answered.catch(() => undefined);
        calls.push(answered);
      }
    }
    if (since() >= nextSampleAt) {
      nextSampleAt += sampleEveryMs;
      streams.push(await openStreams(server.url));
      sockets.push(socketsOf(pid) - before);
    }
    await delay(5);
  }
  const rate = steadyCalls / ((since() - steadyFromMs) / 1_000);
  const seconds = await Promise.all(calls);
  const secondsEach = seconds.reduce((sum, each) => sum + each, 0) / seconds.length;
  return { streams, sockets, rate, secondsEach };
}

/** Calls, thinks and answers. Gives the seconds from the request to the result. */
async function answeredLater(call: () => Promise<HeldCall>): Promise<number> {
  const begunAt = performance.now();
  const held = await call();
  await delay(thinkMs);
  const result = await held.answer();
  if (!result.includes(confirmedText)) throw new Error(`a call ended with ${result}`);
  return (performance.now() - begunAt) / 1_000;
}

async function openStreams(url: string): Promise<number> {
  const text = await (await fetch(new URL("/metrics", url))).text();
  const [, value] = /^reprise_front_streams (\d+)$/m.exec(text) ?? [];
  if (value === undefined) throw new Error("the server does not tell its streams");
  return Number(value);
}

/** Sockets of a process. */
export function socketsOf(pid: number): number {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).filter((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`).startsWith("socket:");
    } catch {
      // Closed meanwhile.
      return false;
    }
  }).length;
}
