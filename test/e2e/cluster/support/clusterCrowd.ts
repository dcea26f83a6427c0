/**
 * Many clients that repeat the last round of one run at the same time, in turn at the fronts of a cluster.
 */
import { readFileSync } from "node:fs";
import type { CrowdFacts } from "../../support/crowd.ts";
import { answerTo, firstRequest, resultOf } from "../../support/dialogue.ts";
import { CaseWorld } from "../../support/outside.ts";
import type { ScenarioCall } from "../../support/scenarios.ts";
import { type CallParams, type SentCall, sendCall } from "../../support/wire.ts";
import { type MemberPoint, Topology, type TopologyOptions } from "./topology.ts";

/** Longer than a joiner waits: who is woken by the lease's end alone, and not by the outcome, fails. */
const longLeaseMs = 120_000;

/** A run whose question is open, and the fronts that clients may answer it at. */
export class ClusterCrowd {
  readonly #world: CaseWorld;
  readonly #topology: Topology;
  readonly #lastRound: CallParams;
  readonly #confirmedFile: string;
  readonly #held: MemberPoint[] = [];
  readonly #counts = new Map<string, number>();
  #holds: string | undefined;
  #onPoint: () => void = () => undefined;

  private constructor(
    world: CaseWorld,
    topology: Topology,
    lastRound: CallParams,
    confirmedFile: string,
  ) {
    this.#world = world;
    this.#topology = topology;
    this.#lastRound = lastRound;
    this.#confirmedFile = confirmedFile;
    topology.steering = { reached: (point) => this.#reached(point) };
  }

  /** Opens a cluster and brings the call to its question. */
  static async gather(call: ScenarioCall, options: TopologyOptions): Promise<ClusterCrowd> {
    const world = await CaseWorld.start();
    const confirmedFile = world.path("confirmed");
    const composition = { confirmedFile, leaseMs: longLeaseMs };
    const topology = await Topology.open(world, { ...options, composition });
    const first = firstRequest(call);
    const question = resultOf(await sendCall(await topology.nextUrl(), first).reply);
    return new ClusterCrowd(world, topology, answerTo(first, call, question), confirmedFile);
  }

  /** Sends the last round `count` times, to one front after the other. */
  async send(count: number): Promise<readonly SentCall[]> {
    const urls = await Promise.all(Array.from({ length: count }, () => this.#topology.nextUrl()));
    return urls.map((url) => sendCall(url, this.#lastRound));
  }

  /** Members stop at points of that name until `go`. */
  hold(name: string): void {
    this.#holds = name;
  }

  go(): void {
    this.#holds = undefined;
    for (const point of this.#held.splice(0)) point.go();
  }

  /** Resolves when so many points with such names have been come to since the question. */
  until(count: number, name: RegExp): Promise<void> {
    const isReached = (): boolean =>
      [...this.#counts].reduce((sum, [each, n]) => (name.test(each) ? sum + n : sum), 0) >= count;
    const reached = new Promise<void>((resolve) => {
      this.#onPoint = () => {
        if (isReached()) resolve();
      };
      this.#onPoint();
    });
    return this.#topology.unlessItFails(reached);
  }

  /** Ends the cluster in an orderly way and counts. */
  async disperse(): Promise<CrowdFacts> {
    await this.#topology.close();
    const outside = await this.#world.facts();
    const confirmed = readFileSync(this.#confirmedFile, "utf8").trim().split("\n").length;
    await this.#world.close();
    return { outside, confirmed };
  }

  #reached(point: MemberPoint): void {
    if (point.name === this.#holds) this.#held.push(point);
    else point.go();
    this.#counts.set(point.name, (this.#counts.get(point.name) ?? 0) + 1);
    this.#onPoint();
  }
}
