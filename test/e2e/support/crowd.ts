/**
 * Many clients that repeat the last round of one run at the same time, spread over several processes on one data
 * directory.
 */
import { readFileSync } from "node:fs";
import { answerTo, firstRequest, resultOf, withoutMeta } from "./dialogue.ts";
import { CaseWorld, type Facts } from "./outside.ts";
import type { ScenarioCall } from "./scenarios.ts";
import type { ReachedPoint, ServerProcess } from "./serverProcess.ts";
import type { Spares } from "./spares.ts";
import { type CallParams, type SentCall, sendCall } from "./wire.ts";

/** Longer than a joiner waits: who is woken by the lease's end alone, and not by the outcome, fails. */
const longLeaseMs = 120_000;

/** What a crowd left behind. */
export interface CrowdFacts {
  readonly outside: Facts;
  /** How often a handler came past the accepted confirm. */
  readonly confirmed: number;
}

/** An effect that waits. */
export interface HeldEffect {
  /** Resolves when so many points with such names have been reached since it is held. */
  until(count: number, name: RegExp): Promise<void>;
  go(): void;
}

/** A run whose question is open, and the processes that clients may answer it at. */
export class Crowd {
  readonly #world: CaseWorld;
  readonly #spares: Spares;
  readonly #servers: readonly ServerProcess[];
  readonly #lastRound: CallParams;
  readonly #confirmedFile: string;
  #onPoint: (point: ReachedPoint) => void = (point) => point.go();

  private constructor(
    world: CaseWorld,
    spares: Spares,
    servers: readonly ServerProcess[],
    lastRound: CallParams,
    confirmedFile: string,
  ) {
    this.#world = world;
    this.#spares = spares;
    this.#servers = servers;
    this.#lastRound = lastRound;
    this.#confirmedFile = confirmedFile;
    const steering = { reached: (point: ReachedPoint) => this.#onPoint(point) };
    for (const server of servers) server.steering = steering;
  }

  /** Opens the processes on one data directory and brings the call to its question. */
  static async gather(call: ScenarioCall, processes: number, spares: Spares): Promise<Crowd> {
    const world = await CaseWorld.start();
    const confirmedFile = world.path("confirmed");
    const servers = Array.from({ length: processes }, () => spares.take());
    const composition = world.composition({ confirmedFile, leaseMs: longLeaseMs });
    await Promise.all(servers.map((each) => each.open(composition)));
    const first = firstRequest(call);
    const [asked] = servers;
    if (asked === undefined) throw new RangeError("a crowd needs a process");
    const question = resultOf(await sendCall(asked.url, first).reply);
    return new Crowd(world, spares, servers, answerTo(first, call, question), confirmedFile);
  }

  /** Sends the last round `count` times, to one process after the other. */
  send(count: number): readonly SentCall[] {
    return Array.from({ length: count }, (_, place) => {
      const server = this.#servers[place % this.#servers.length];
      if (server === undefined) throw new RangeError("a crowd needs a process");
      return sendCall(server.url, this.#lastRound);
    });
  }

  /** Holds the refund back; every other point goes on at once. */
  holdEffect(): HeldEffect {
    const held: ReachedPoint[] = [];
    const counts = new Map<string, number>();
    let isOpen = false;
    let onCount: () => void = () => undefined;
    this.#onPoint = (point) => {
      if (!isOpen && point.name === "before payments.refund") held.push(point);
      else point.go();
      counts.set(point.name, (counts.get(point.name) ?? 0) + 1);
      onCount();
    };
    const countOf = (name: RegExp): number =>
      [...counts].reduce((sum, [each, count]) => (name.test(each) ? sum + count : sum), 0);
    return {
      until: (count, name) =>
        new Promise((resolve) => {
          onCount = () => {
            if (countOf(name) >= count) resolve();
          };
          onCount();
        }),
      go() {
        isOpen = true;
        for (const point of held) point.go();
      },
    };
  }

  /** Resolves when a point of that name is reached; all points go on at once. */
  reached(name: string): Promise<void> {
    return new Promise((resolve) => {
      this.#onPoint = (point) => {
        if (point.name === name) resolve();
        point.go();
      };
    });
  }

  /** Ends the processes in an orderly way and counts. */
  async disperse(): Promise<CrowdFacts> {
    await Promise.all(
      this.#servers.map(async (server) => {
        await server.close();
        this.#spares.giveBack(server);
      }),
    );
    const outside = await this.#world.facts();
    const confirmed = readFileSync(this.#confirmedFile, "utf8").trim().split("\n").length;
    await this.#world.close();
    return { outside, confirmed };
  }
}

/** The results of calls, without what may differ. */
export async function resultsOf(calls: readonly SentCall[]): Promise<readonly unknown[]> {
  const replies = await Promise.all(calls.map(({ reply }) => reply));
  return replies.map((reply) => withoutMeta(resultOf(reply)));
}
