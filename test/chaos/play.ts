/**
 * Plays one kind of fault: opens its scene, sees what every errand comes to undisturbed, lets a crowd in, strikes again and
 * again, and judges at the far end when everybody is through.
 *
 * 1. The schedule (what is hit, when, for how long) and what the crowd wants are drawn from seed and name; how processes
 *    interleave is not, so a seed repeats the trouble and not every outcome.
 * 2. Strikes never overlap, so that what is found belongs to one of them.
 * 3. What goes wrong in a strike itself is a violation: a figure from a fault that was not played would be none.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { Draw } from "./draw.ts";
import type { Fault, Scene, Stage } from "./fault.ts";
import { type Availability, availabilityOf, type Strike } from "./judge/availability.ts";
import type { Evidence } from "./judge/excuse.ts";
import { readFarEnd } from "./judge/farEnd.ts";
import { readTrail } from "./judge/readTrail.ts";
import { findStuck } from "./judge/stuckRuns.ts";
import { judge, type Verdict } from "./judge/verdict.ts";
import { visit } from "./load/carefulClient.ts";
import { crowd } from "./load/crowd.ts";
import { comparable, type ErrandName, errandOf, usualErrands } from "./load/errands.ts";
import { bill } from "./load/payer.ts";
import { LoadRecord } from "./load/record.ts";

/** How long and how hard. */
export interface PlayOptions {
  readonly roleArgs: Stage["roleArgs"];
  readonly seed: number;
  readonly lastsMs: number;
  readonly people: number;
  /** Default: as many as come while it lasts. */
  readonly errands?: number;
  /** Told of each strike. */
  onStrike?(what: string): void;
}

/** What playing a kind came to. */
export interface Played {
  readonly fault: Fault;
  readonly verdict: Verdict;
  readonly availability: Availability;
  readonly strikes: readonly Strike[];
  /** Replies by sort: `result`, `lost`, or an error's code. */
  readonly replies: Readonly<Record<string, number>>;
  readonly statuses: Readonly<Record<string, number>>;
  readonly stuckRuns: number;
}

/** A client tries so long: beyond every outage here, and a joiner's wait. */
const patienceMs = 120_000;
const quietMs = 1_500;
const usualPauseMs = [1_500, 5_000] as const;

/** Plays it on a scene of its own. */
export async function play(fault: Fault, options: PlayOptions): Promise<Played> {
  const folder = await mkdtemp(path.join(tmpdir(), "reprise-chaos-"));
  try {
    const scene = await fault.open({ folder, roleArgs: options.roleArgs });
    try {
      return await playOn(scene, fault, options);
    } finally {
      await scene.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function playOn(scene: Scene, fault: Fault, options: PlayOptions): Promise<Played> {
  const draw = new Draw(options.seed, fault.name);
  const expected = await undisturbed(scene);
  const record = new LoadRecord();
  const { people, errands } = options;
  const { manners = {}, names } = fault;
  const { url, outside } = scene;
  const load = crowd({
    ...{ url, outside, people, record, patienceMs, manners, draw: draw.of("crowd") },
    ...(errands === undefined ? {} : { errands }),
    ...(names === undefined ? {} : { names }),
  });
  const found: string[] = [];
  const strikes = await strikeAgain(scene, fault, options, draw.of("strikes"), found);
  load.goHome();
  await scene.settle?.(load.gone);
  await load.gone;

  const { statuses, stuck } = await lookForStuck(scene);
  const evidence: Evidence = {
    ...{ leaseMs: scene.leaseMs, ends: scene.ends },
    lines: await readTrail(scene.trailFolder),
    forgotten: strikes.flatMap(({ forgotten }) => (forgotten === undefined ? [] : [forgotten])),
    storeTrouble: fault.hurtsStore === true ? strikes : [],
  };
  const farEnd = await readFarEnd(scene.outside);
  const verdict = judge(record, farEnd, expected, evidence, fault.limits);
  const availability = availabilityOf(record, strikes, scene.leaseMs);
  const replies = record.counts();
  const mostGapMs = fault.mostGapMs?.(scene.leaseMs);
  if (mostGapMs !== undefined && availability.longestGapMs > mostGapMs) {
    found.push(`no call succeeded for ${availability.longestGapMs} ms, more than ${mostGapMs}`);
  }
  const { bitesWith } = fault;
  if (bitesWith !== undefined && replies[bitesWith] === undefined) {
    found.push(`no client was told ${bitesWith}: the fault did not bite`);
  }
  found.push(
    ...stuck.map((each) => `stuck: ${each}`),
    ...scene.deaths.map((each) => `died: ${each}`),
  );
  const violations = [...verdict.violations, ...found];
  return {
    ...{ fault, availability, strikes, replies, statuses },
    verdict: { ...verdict, violations },
    stuckRuns: stuck.length,
  };
}

async function strikeAgain(
  scene: Scene,
  { everyMs = usualPauseMs }: Fault,
  { lastsMs, onStrike }: PlayOptions,
  draw: Draw,
  found: string[],
): Promise<readonly Strike[]> {
  const strikes: Strike[] = [];
  const until = performance.now() + lastsMs;
  await pause(quietMs);
  while (performance.now() < until) {
    const fromMs = performance.now();
    try {
      const struck = await scene.strike(draw);
      const strike = typeof struck === "string" ? { what: struck } : struck;
      strikes.push({ ...strike, fromMs, untilMs: performance.now() });
      onStrike?.(strike.what);
    } catch (error) {
      found.push(`a strike failed: ${String(error)}`);
      // What it left broken would be found again and again.
      break;
    }
    await pause(draw.between(...everyMs));
  }
  return strikes;
}

/** What every errand comes to when nothing happens. @throws Error where that is not what the errand is for */
async function undisturbed({ url, outside }: Scene): Promise<ReadonlyMap<ErrandName, string>> {
  const expected = new Map<ErrandName, string>();
  const names = [...new Set(usualErrands)];
  const common = { url, caller: "pilot", manners: {}, thinkMs: [0, 0] as const, patienceMs };
  const errands = await Promise.all(
    names.map(async (name, place) => {
      const errand = errandOf(name, `pilotx${place}x`);
      const record = new LoadRecord();
      await bill(outside, errand);
      const draw = new Draw(0, name);
      const late: Promise<unknown>[] = [];
      const { ending } = await visit({ ...common, errand, record, draw }, late);
      await Promise.all(late);
      if (ending.kind !== "result" || ending.isError) {
        throw new Error(`${name} undisturbed ended with ${JSON.stringify(ending)}`);
      }
      expected.set(name, comparable(ending.text, errand.tag));
      return errand;
    }),
  );
  const farEnd = await readFarEnd(outside);
  for (const { name, tag, effects } of errands) {
    // A text that everybody gets proves nothing when it is the wrong one.
    if (!isDeepStrictEqual(farEnd.of(tag), effects)) {
      throw new Error(`${name} undisturbed left ${JSON.stringify(farEnd.of(tag))}`);
    }
  }
  return expected;
}

async function lookForStuck(scene: Scene): Promise<Awaited<ReturnType<typeof findStuck>>> {
  const looked = await scene.openStore();
  try {
    return await findStuck(looked);
  } finally {
    await looked.close();
  }
}
