/**
 * Suite `profile`: where Reprise's CPU time goes, by operation. Runs only when named.
 *
 * Operations named `redis` run on a front with the Redis store (appendfsync everysec), the others on the embedded store.
 * Each operation has a server process of its own under `node --cpu-prof`, so that profiles do not mix. The
 * figures are for finding what to improve; profiling slows the server, so they are compared with nothing.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { confirmOnce, confirmRepeatable, echoCall, stepsCall } from "./calls.ts";
import { type CpuProfile, type ProfileSummary, type Share, summarize } from "./cpuProfile.ts";
import { type Measured, measure } from "./measure.ts";
import type { OperationSpec } from "./operations.ts";
import { startServer } from "./processes.ts";
import { startFront, startPinnedRedis } from "./redisSystem.ts";
import type { SuiteContext, SuiteResult } from "./suite.ts";
import { joined, type System } from "./systems.ts";

interface Profiled {
  readonly name: string;
  readonly operation: OperationSpec;
  readonly concurrency: number;
  readonly onRedis?: boolean;
}

const operations: readonly Profiled[] = [
  { name: "call c64", operation: echoCall, concurrency: 64 },
  { name: "confirm repeatable c64", operation: confirmRepeatable, concurrency: 64 },
  { name: "confirm once c64", operation: confirmOnce, concurrency: 64 },
  { name: "5 steps c1", operation: stepsCall(5), concurrency: 1 },
  { name: "redis 1 step c64", operation: stepsCall(1), concurrency: 64, onRedis: true },
  { name: "redis 21 steps c64", operation: stepsCall(21), concurrency: 64, onRedis: true },
  { name: "redis confirm once c64", operation: confirmOnce, concurrency: 64, onRedis: true },
];

/** How many lines of each list are shown. */
const shown = { parts: 12, functions: 25, inclusive: 40 };

/** Profiles the operations one after the other. */
export async function profileSuite(context: SuiteContext): Promise<SuiteResult> {
  const measured: Measured[] = [];
  const notes: string[] = [];
  for (const each of operations) {
    const directory = await mkdtemp(join(tmpdir(), "reprise-profile-"));
    try {
      measured.push(...(await load(each, directory, context)));
      const summary = summarize(await readLargest(directory), context.timing.warmUpMs);
      notes.push(...linesOf(each.name, summary));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
  return { suite: "profile", ratios: [], measured, limits: ["measured under the profiler"], notes };
}

async function load(
  { name, operation, concurrency, onRedis = false }: Profiled,
  directory: string,
  context: SuiteContext,
): Promise<readonly Measured[]> {
  const flags = ["--cpu-prof", `--cpu-prof-dir=${directory}`];
  const server = await (onRedis
    ? startOnRedis(context, flags)
    : startServer(context.code, "reprise", { nodeFlags: flags }));
  try {
    const cases = [{ name, server, url: server.url, operation, concurrency }];
    return await measure(cases, context.load, context.timing, context.onProgress);
  } finally {
    await server.stop();
  }
}

async function startOnRedis({ code }: SuiteContext, nodeFlags: readonly string[]): Promise<System> {
  const redis = await startPinnedRedis("everysec");
  try {
    return joined(await startFront(code, redis, "inline", {}, nodeFlags), redis);
  } catch (failure) {
    await redis.stop();
    throw failure;
  }
}

/** The main thread's profile: worker threads write smaller ones beside it. */
async function readLargest(directory: string): Promise<CpuProfile> {
  const texts = await Promise.all(
    (await readdir(directory)).map((name) => readFile(join(directory, name), "utf8")),
  );
  const [largest] = texts.toSorted((a, b) => b.length - a.length);
  if (largest === undefined) throw new Error("node wrote no profile");
  return JSON.parse(largest) as CpuProfile;
}

function linesOf(name: string, summary: ProfileSummary): string[] {
  const list = (title: string, shares: readonly Share[], count: number): string[] => [
    `    ${title}`,
    ...shares
      .slice(0, count)
      .map((each) => `    ${(each.share * 100).toFixed(1).padStart(6)} %  ${each.name}`),
  ];
  return [
    `  ${name}: ${(summary.busyMs / 1000).toFixed(1)} s busy`,
    ...list("own time by part", summary.parts, shown.parts),
    ...list("own time by function", summary.functions, shown.functions),
    ...list("our functions with what they call", summary.oursInclusive, shown.inclusive),
    "",
  ];
}
