/**
 * Suite `held`: what a call of the handshake era costs while a human thinks, beside the official v1 SDK.
 *
 * In that era the call's stream stays open, so there is a connection for each; what is compared is the memory of the process
 * that holds it, sessions included. In the modern era nothing is held: suites `dialogues` and `flow`.
 */
import { type HeldCall, holdCall } from "./heldClient.ts";
import { type ServerProcess, startServer } from "./processes.ts";
import type { Ratio, SuiteContext, SuiteResult } from "./suite.ts";
import { confirmedText } from "./workload.ts";

/** Calls at once, after as many that warm up. */
const held = 1_000;
/** How many are opened at the same time. */
const lanes = 16;
/** The aim of the project. */
const mostBytes = 20 * 1024;

/** Measures the suite. */
export async function heldSuite({ code, onProgress }: SuiteContext): Promise<SuiteResult> {
  const bytes = new Map<string, number>();
  for (const name of ["reprise", "sdkV1"]) {
    onProgress(`${held} held calls: ${name}`);
    const server = await startServer(code, name, { nodeFlags: ["--expose-gc"] });
    try {
      bytes.set(name, await bytesOfEach(server));
    } finally {
      await server.stop();
    }
  }
  const ours = bytes.get("reprise") ?? Number.NaN;
  const sdk = bytes.get("sdkV1") ?? Number.NaN;
  return {
    suite: "held",
    ratios: [
      figure("bytes of memory for each held call", ours, { atMost: mostBytes }),
      figure("the same in the official v1 SDK", sdk),
      figure("ours / the official v1 SDK's", ours / sdk),
    ],
    measured: [],
    limits: [
      `${held} calls of 2025-11-25 at their question, each with a session and a connection of its own; all were answered`,
      "heap and external memory after two full collections, less what the same process had after as many calls before",
    ],
  };
}

async function bytesOfEach(server: ServerProcess): Promise<number> {
  await answerAll(await holdAll(server.url));
  const before = await server.memory();
  const calls = await holdAll(server.url);
  const after = await server.memory();
  await answerAll(calls);
  const of = ({ heapUsed, external }: typeof after): number => heapUsed + external;
  return (of(after) - of(before)) / held;
}

async function holdAll(url: string): Promise<readonly HeldCall[]> {
  const calls: HeldCall[] = [];
  await inLanes(async () => {
    calls.push(await holdCall(url));
  });
  return calls;
}

async function answerAll(calls: readonly HeldCall[]): Promise<void> {
  const left = calls.values();
  await inLanes(async () => {
    const result = await left.next().value?.answer();
    if (result?.includes(confirmedText) !== true) throw new Error(`a call ended with ${result}`);
  });
}

async function inLanes(work: () => Promise<void>): Promise<void> {
  let begun = 0;
  const lane = async (): Promise<void> => {
    while (begun++ < held) await work();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

function figure(name: string, value: number, target?: Ratio["target"]): Ratio {
  const spread = { median: value, min: value, max: value };
  return { name, value: spread, ...(target === undefined ? {} : { target }) };
}
