/**
 * Many instances whose processes are steered point by point: fronts and workers on one Redis that flushes every write.
 *
 * Requests go from front to front in turn, as behind a balancer without affinity; here the turn is the test's to know.
 * Every member keeps its place over its lives.
 */
import { randomBytes } from "node:crypto";
import type { RedisServer } from "../../../support/redisServer.ts";
import type { Composition, MemberPlace } from "../../support/messages.ts";
import type { CaseWorld } from "../../support/outside.ts";
import type { ReachedPoint, ServerProcess } from "../../support/serverProcess.ts";
import type { Spares } from "../../support/spares.ts";

/** What a member is, as far as points are concerned. */
export type Group = "front" | "worker";

/** A place in the cluster and the process that holds it now. */
export interface Seat {
  readonly group: Group;
  /** Resolves when a process serves there, whether it is the one of now or a successor. */
  serving: Promise<ServerProcess>;
  /** The process of now, which may not serve yet. */
  process: ServerProcess;
}

/** A point, and whose it is. */
export interface MemberPoint extends ReachedPoint {
  readonly seat: Seat;
}

/** A point that was come to. */
export interface HeardPoint {
  readonly process: ServerProcess;
  readonly name: string;
}

/** What a test does at the points of all members. */
export interface ClusterSteering {
  reached(point: MemberPoint): void;
  /** A connection to a front was closed before its response was through. */
  gone?(): void;
}

/** How a topology is made. */
export interface TopologyOptions {
  readonly redis: RedisServer;
  readonly spares: Spares;
  readonly fronts?: number;
  readonly workers?: number;
  readonly composition?: Partial<Composition>;
}

/** Lets every point go at once. */
export const letAllGo: ClusterSteering = { reached: (point) => point.go() };

/** A steered cluster. */
export class Topology {
  steering: ClusterSteering = letAllGo;
  readonly namespace: string = `case-${randomBytes(6).toString("hex")}`;
  readonly redis: RedisServer;
  readonly fronts: readonly Seat[];
  readonly workers: readonly Seat[];
  readonly #spares: Spares;
  readonly #compositionOf: (group: Group) => Composition;
  readonly #failure: Promise<never>;
  #fail: (error: unknown) => void = () => undefined;
  #turn = 0;
  /** How those who wait for a process learn of its successor. */
  readonly #goOnWith = new Map<Seat, (successor: ServerProcess) => void>();
  readonly #points: HeardPoint[] = [];

  private constructor(world: CaseWorld, options: TopologyOptions) {
    const { redis, spares, fronts = 2, workers = 2, composition = {} } = options;
    this.redis = redis;
    this.#spares = spares;
    this.#failure = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.#failure.catch(() => undefined);
    const frontRole = workers === 0 ? "inline front" : "front";
    this.#compositionOf = (group) => {
      const role: MemberPlace["role"] = group === "front" ? frontRole : "worker";
      const member = { role, redisUrl: redis.url, namespace: this.namespace };
      return world.composition({ ...composition, member });
    };
    this.fronts = Array.from({ length: fronts }, () => this.#newSeat("front"));
    this.workers = Array.from({ length: workers }, () => this.#newSeat("worker"));
  }

  /** Starts all members on an empty namespace. */
  static async open(world: CaseWorld, options: TopologyOptions): Promise<Topology> {
    const topology = new Topology(world, options);
    await Promise.all(topology.#seats.map((seat) => seat.serving));
    return topology;
  }

  /** The address of the front whose turn it is. One that is being started again is waited for. */
  async nextUrl(): Promise<string> {
    const seat = this.fronts[this.#turn % this.fronts.length];
    if (seat === undefined) throw new RangeError("a topology needs a front");
    this.#turn += 1;
    return (await this.unlessItFails(seat.serving)).url;
  }

  /** The value, unless a member fails before. */
  unlessItFails<Value>(value: Promise<Value>): Promise<Value> {
    return Promise.race([value, this.#failure]);
  }

  /** SIGKILL, and a new process in its place. Resolves when the old one is gone. */
  async replace(seat: Seat): Promise<void> {
    const killed = this.#spares.kill(seat.process);
    seat.process = this.#spares.take();
    this.#open(seat, killed);
    await killed;
  }

  /** SIGKILL, and a start on the same files. */
  async restartRedis(): Promise<void> {
    await this.redis.restart();
  }

  /** All points so far, in the order in which they were heard of. */
  get points(): readonly HeardPoint[] {
    return this.#points;
  }

  /** Ends all members in an orderly way, fronts first. */
  async close(): Promise<void> {
    for (const seats of [this.fronts, this.workers]) {
      await this.unlessItFails(
        Promise.all(
          seats.map(async (seat) => {
            const process = await seat.serving;
            await process.close();
            this.#spares.giveBack(process);
          }),
        ),
      );
    }
  }

  get #seats(): readonly Seat[] {
    return [...this.fronts, ...this.workers];
  }

  #newSeat(group: Group): Seat {
    const process = this.#spares.take();
    const seat: Seat = { group, process, serving: Promise.resolve(process) };
    this.#open(seat, Promise.resolve());
    return seat;
  }

  #open(seat: Seat, after: Promise<void>): void {
    const { process } = seat;
    process.steering = {
      reached: (point) => {
        this.#points.push({ process, name: point.name });
        this.steering.reached({ ...point, seat });
      },
      gone: () => this.steering.gone?.(),
    };
    process.unlessItFails(new Promise<never>(() => undefined)).catch(this.#fail);
    // Who is killed while it opens never says that it is open.
    this.#goOnWith.get(seat)?.(process);
    const successor = new Promise<ServerProcess>((resolve) => {
      this.#goOnWith.set(seat, resolve);
    });
    const opened = after.then(() => process.open(this.#compositionOf(seat.group)));
    seat.serving = Promise.race([opened.then(() => process), successor.then(() => seat.serving)]);
    seat.serving.catch(this.#fail);
  }
}
