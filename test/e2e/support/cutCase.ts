/**
 * One case of the cut matrix: the client's connection is closed at one point of the server, and the client repeats.
 *
 * What the cut starts in the server (the request leaves its attempt) and what the server was about to do at that
 * point run into each other; `CutOrder` says which goes first.
 */
import { converse } from "./dialogue.ts";
import { CaseWorld } from "./outside.ts";
import type { ReachedPoint, Steering } from "./serverProcess.ts";
import type { Spares } from "./spares.ts";
import type { CaseSetup, Ending, Trace } from "./undisturbed.ts";
import { type SentCall, sendCall } from "./wire.ts";

/** What goes first after a cut. */
export const cutOrders = ["leave first", "server first", "repeat first"] as const;
/** One of `cutOrders`. */
export type CutOrder = (typeof cutOrders)[number];

/** What a cut run shows, and the points that its server came to. */
export interface CutEnding extends Ending {
  readonly points: readonly string[];
}

/** Runs a scenario and cuts the client's connection at a point. */
export async function cutAt(
  setup: CaseSetup,
  place: number,
  order: CutOrder,
  expected: Trace,
  spares: Spares,
): Promise<CutEnding> {
  const world = await CaseWorld.start();
  try {
    await setup.prepare?.(world);
    const server = spares.take();
    const scissors = new Scissors(place, order, expected.points);
    server.steering = scissors;
    await server.open(world.composition(setup.composition));
    const seen = await converse(setup.scenario, async (params) => {
      await scissors.mayRepeat;
      const sent = sendCall(server.url, params);
      scissors.current = sent;
      return server.unlessItFails(sent.reply);
    });
    await server.unlessItFails(scissors.done);
    const points = await server.close();
    spares.giveBack(server);
    return { seen, points, facts: await world.facts() };
  } finally {
    await world.close();
  }
}

/** A cut that happened. */
interface Cut {
  /** The point at which the server stands. */
  readonly held: ReachedPoint;
  /** What waits until its turn comes. */
  readonly leaving: ReachedPoint[];
  /** Whether the server has heard of the closed connection. */
  heard: boolean;
}

/** Cuts the current call at one point and decides what goes on first. */
class Scissors implements Steering {
  current: SentCall | undefined;
  /** Resolved but while a repeat has to wait. */
  mayRepeat: Promise<void> = Promise.resolve();
  /** Resolves when the cut and what it caused are through. */
  readonly done: Promise<void>;
  readonly #place: number;
  readonly #order: CutOrder;
  readonly #expected: readonly string[];
  #count = 0;
  #cut: Cut | undefined;
  #letRepeat: () => void = () => undefined;
  #finish: () => void = () => undefined;

  constructor(place: number, order: CutOrder, expected: readonly string[]) {
    this.#place = place;
    this.#order = order;
    this.#expected = expected;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  reached(point: ReachedPoint): void {
    const place = this.#count;
    this.#count += 1;
    if (this.#cut !== undefined) {
      this.#reachedDuringCut(point, this.#cut);
      return;
    }
    if (place < this.#place && this.#expected[place] !== point.name) {
      throw new Error(`point ${place} is "${point.name}", not "${this.#expected[place]}"`);
    }
    if (place !== this.#place) return point.go();
    this.mayRepeat = new Promise((resolve) => {
      this.#letRepeat = resolve;
    });
    this.current?.cut();
    this.#cut = { held: point, leaving: [], heard: false };
    // The response is through: the server has nothing to hear of.
    if (point.name === "after response") this.#release(this.#cut);
  }

  gone(): void {
    const cut = this.#cut;
    if (cut === undefined || cut.heard) return;
    cut.heard = true;
    switch (this.#order) {
      case "leave first":
        // Where no attempt is left there is nothing to wait for.
        if (cut.leaving.length === 0) this.#release(cut);
        else for (const point of cut.leaving.splice(0)) point.go();
        return;
      case "server first":
        cut.held.go();
        this.#letRepeat();
        return;
      case "repeat first":
        this.#letRepeat();
    }
  }

  #reachedDuringCut(point: ReachedPoint, cut: Cut): void {
    const isLeave = point.name.includes(" leave");
    switch (this.#order) {
      case "leave first":
        if (!cut.heard) cut.leaving.push(point);
        else {
          point.go();
          if (point.name.startsWith("after leave")) this.#release(cut);
        }
        return;
      case "server first":
        if (isLeave && point.name.startsWith("before")) cut.leaving.push(point);
        else {
          point.go();
          if (cut.heard) this.#release(cut);
        }
        return;
      case "repeat first":
        if (isLeave && point.name.startsWith("before")) cut.leaving.push(point);
        else {
          point.go();
          if (/^(after claim|before response)/.test(point.name)) this.#release(cut);
        }
    }
  }

  /** The order is decided: everything goes on as it comes. */
  #release(cut: Cut): void {
    for (const point of cut.leaving.splice(0)) point.go();
    cut.held.go();
    this.#letRepeat();
    this.reached = (point) => point.go();
    this.#finish();
  }
}

/**
 * Effects that started although the attempt's stop was final: from the leave that stopped it to the next claim.
 *
 * The engine hears of the stop behind the point that reports it, so what was prepared already may still start there; the reply
 * to any later write tells it again, and behind that nothing may.
 */
export function startedAfterStop(points: readonly string[]): readonly string[] {
  const started: string[] = [];
  let isStopped = false;
  let isHeard = false;
  for (const name of points) {
    if (name === "after leave: stopping") isStopped = true;
    else if (/^after claim\w+: CLAIMED$/.test(name)) {
      isStopped = false;
      isHeard = false;
    } else if (isStopped && name.startsWith("after append")) isHeard = true;
    else if (isHeard && /^before (payments\.(refund|book)|mail\.receipt)/.test(name)) {
      started.push(name);
    }
  }
  return started;
}
