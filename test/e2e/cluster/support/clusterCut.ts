/**
 * One case of the cut matrix on many instances: the client's connection to its front is closed while a member stands at a
 * point, and the client repeats at the other front. What goes first after the cut: see `support/cutCase.ts`.
 */

import type { CutOrder } from "../../support/cutCase.ts";
import { converse } from "../../support/dialogue.ts";
import { CaseWorld } from "../../support/outside.ts";
import type { Ending } from "../../support/undisturbed.ts";
import type { SentCall } from "../../support/wire.ts";
import { inTurn } from "./client.ts";
import { type ClusterSetup, type Place, PlaceCounts } from "./clusterCase.ts";
import { type ClusterSteering, type MemberPoint, Topology } from "./topology.ts";

/** What a cut run shows. */
export interface ClusterCutEnding extends Ending {
  readonly wasCut: boolean;
  /** Effects that were begun although the attempt's stop was final: see `begunAfterStop`. */
  readonly begunAfterStop: readonly string[];
}

/** Runs a scenario and cuts the client's connection at a point. */
export async function clusterCut(
  { scenario, redis, spares, composition = {} }: ClusterSetup,
  place: Place,
  order: CutOrder,
): Promise<ClusterCutEnding> {
  const world = await CaseWorld.start();
  try {
    const topology = await Topology.open(world, { redis, spares, composition });
    const scissors = new ClusterScissors(place, order);
    topology.steering = scissors;
    const exchange = inTurn(topology, (sent) => scissors.sent(sent));
    const seen = await converse(scenario, async (params) => {
      await scissors.mayRepeat;
      return exchange(params);
    });
    await topology.unlessItFails(scissors.done);
    await topology.close();
    const { wasCut } = scissors;
    const begun = begunAfterStop(topology.points);
    return { seen, wasCut, begunAfterStop: begun, facts: await world.facts() };
  } finally {
    await world.close();
  }
}

/** A cut that happened. */
interface Cut {
  /** The point at which a member stands. */
  readonly held: MemberPoint;
  /** Leaves that wait until their turn comes. */
  readonly leaving: MemberPoint[];
  /** Whether the front has heard of the closed connection. */
  heard: boolean;
}

/** Cuts the current call at one point and decides what goes on first. */
class ClusterScissors implements ClusterSteering {
  /** Resolved but while a repeat has to wait. */
  mayRepeat: Promise<void> = Promise.resolve();
  /** Resolves when the cut and what it caused are through. */
  readonly done: Promise<void>;
  wasCut = false;
  readonly #counts = new PlaceCounts();
  readonly #place: Place;
  readonly #order: CutOrder;
  #current: SentCall | undefined;
  #cut: Cut | undefined;
  #letRepeat: () => void = () => undefined;
  #finish: () => void = () => undefined;

  constructor(place: Place, order: CutOrder) {
    this.#place = place;
    this.#order = order;
    this.done = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** The call that will be cut, while its reply is not there. */
  sent(call: SentCall): void {
    this.#current = call;
    const over = (): void => {
      if (this.#current === call) this.#current = undefined;
    };
    call.reply.then(over, over);
  }

  reached(point: MemberPoint): void {
    if (this.#cut !== undefined) return this.#reachedDuringCut(point, this.#cut);
    if (!this.#counts.isAt(point, this.#place)) return point.go();
    this.mayRepeat = new Promise((resolve) => {
      this.#letRepeat = resolve;
    });
    this.#cut = { held: point, leaving: [], heard: false };
    this.wasCut = true;
    this.#current?.cut();
    // The response is through: no front has anything to hear of.
    if (this.#current === undefined || point.name === "after response") this.#release(this.#cut);
  }

  gone(): void {
    const cut = this.#cut;
    if (cut === undefined || cut.heard) return;
    cut.heard = true;
    switch (this.#order) {
      case "leave first":
        // Where the front waits for no attempt there is nothing to wait for.
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

  #reachedDuringCut(point: MemberPoint, cut: Cut): void {
    const { name } = point;
    const isLeave = name.startsWith("before leave");
    // The front had sent everything when the connection closed: it hears of nothing.
    if (name === "after response" && !cut.heard) this.gone();
    if (isLeave && !(this.#order === "leave first" && cut.heard)) {
      cut.leaving.push(point);
      return;
    }
    point.go();
    const isDecided = {
      "leave first": name.startsWith("after leave"),
      "server first": cut.heard,
      "repeat first": cut.heard && /^(after claim(First|Round)|before response)/.test(name),
    }[this.#order];
    if (isDecided) this.#release(cut);
  }

  /** The order is decided: everything goes on as it comes. */
  #release(cut: Cut): void {
    for (const point of cut.leaving.splice(0)) point.go();
    cut.held.go();
    this.#letRepeat();
    this.reached = (point) => point.go();
    this.gone = () => undefined;
    this.#finish();
  }
}

/**
 * Effects that a worker began after the store had told it of the stop: after a leave that was the last, it asked the store once
 * more, and went on all the same. What the store had allowed before that may still begin.
 */
function begunAfterStop(points: readonly { readonly name: string }[]): readonly string[] {
  const begun: string[] = [];
  let isStopped = false;
  let hasAsked = false;
  for (const { name } of points) {
    if (name === "after leave: stopping") isStopped = true;
    else if (/^after claim\w+: CLAIMED$/.test(name)) {
      isStopped = false;
      hasAsked = false;
    } else if (isStopped && name.startsWith("before append")) hasAsked = true;
    else if (hasAsked && /^before (payments\.(refund|book)|mail\.receipt)/.test(name)) {
      begun.push(name);
    }
  }
  return begun;
}
