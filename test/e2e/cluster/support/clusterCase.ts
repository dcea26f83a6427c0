/**
 * A scenario on many instances: undisturbed, or with a member or Redis killed at points, each started again at once.
 */
import { type RedisServer, startRedis } from "../../../support/redisServer.ts";
import { converse } from "../../support/dialogue.ts";
import type { Composition } from "../../support/messages.ts";
import { CaseWorld } from "../../support/outside.ts";
import type { Scenario } from "../../support/scenarios.ts";
import type { Spares } from "../../support/spares.ts";
import type { Ending } from "../../support/undisturbed.ts";
import { inTurn } from "./client.ts";
import { type Group, letAllGo, type MemberPoint, Topology } from "./topology.ts";

/** A point of the undisturbed run: which members go by what they are, because either worker may have taken the job. */
export interface Place {
  readonly group: Group;
  readonly name: string;
  /** 1 is the first time that a member of the group comes to a point of that name. */
  readonly occurrence: number;
}

/** An undisturbed run. */
export interface ClusterTrace extends Ending {
  readonly places: readonly Place[];
}

/** What a case runs on. Cases that kill no Redis may share one. */
export interface ClusterSetup {
  readonly scenario: Scenario;
  readonly redis: RedisServer;
  readonly spares: Spares;
  readonly workers?: number;
  readonly composition?: Partial<Composition>;
}

/** Who is killed: the member that stands at the point, or Redis, while the point is held or with it. */
const victims = ["member", "redis", "redis meanwhile"] as const;
/** One of `victims`. */
type Victim = (typeof victims)[number];

/** A kill. */
export interface Kill {
  readonly place: Place;
  readonly victim: Victim;
  /** Kills a second time, where the recovery has come to so many points more. */
  readonly again?: number;
}

/** What a killed run shows. */
export interface KilledEnding extends Ending {
  readonly kills: number;
}

/** A Redis as the promises need it: what it acknowledged is on the disk. */
export function startDurableRedis(): Promise<RedisServer> {
  return startRedis({ port: 0, appendonly: true, appendfsync: "always" });
}

/** Runs a scenario undisturbed. */
export async function clusterTrace(setup: ClusterSetup): Promise<ClusterTrace> {
  const counts = new PlaceCounts();
  const places: Place[] = [];
  const ending = await played(setup, () => (point) => {
    if (point.name === wokenEarly) counts.forget(places, point.seat.group, "before claimKnown");
    else places.push(counts.placeOf(point));
    point.go();
  });
  return { ...ending, places };
}

/** A front that waits may look at the record early, and then waits on: whether it does is a matter of time. */
const wokenEarly = "after claimKnown: RUNNING";

/** Runs a scenario and kills. */
export async function clusterKill(
  setup: ClusterSetup,
  { place, victim, again }: Kill,
): Promise<KilledEnding> {
  const counts = new PlaceCounts();
  const kills: Promise<void>[] = [];
  let left = again ?? Number.NaN;
  let reachedFirst: () => void = () => undefined;
  const first = new Promise<void>((resolve) => {
    reachedFirst = resolve;
  });
  const ending = await played(
    setup,
    (topology) => (point) => {
      const isPlace = kills.length === 0 && counts.isAt(point, place);
      if (kills.length === 1) left -= 1;
      const isAgain = kills.length === 1 && left === 0;
      if (!isPlace && !isAgain) return point.go();
      kills.push(kill(topology, point, isPlace ? victim : "member"));
      reachedFirst();
    },
    // The last points come after the last reply.
    async (topology) => {
      await first;
      topology.steering = letAllGo;
      await Promise.all(kills);
    },
  );
  return { ...ending, kills: kills.length };
}

/** All kills of an undisturbed run. */
export function killsOf({ places }: ClusterTrace): readonly Kill[] {
  return places.flatMap((place) =>
    victims
      .filter((victim) => victim !== "redis meanwhile" || beforeStoreCall.test(place.name))
      .map((victim) => ({ place, victim })),
  );
}

const beforeStoreCall = /^before (claim|append|endRound|createRun)/;

/** What a place is called in a failure. */
export function describePlace({ group, name, occurrence }: Place): string {
  return `${group}, ${name} (${occurrence})`;
}

/** What a kill is called in a failure. */
export function describeKill({ place, victim, again }: Kill): string {
  const twice = again === undefined ? "" : `, and ${again} points later`;
  return `${victim} killed at ${describePlace(place)}${twice}`;
}

type Steer = (topology: Topology) => (point: MemberPoint) => void;

async function played(
  { scenario, redis, spares, workers, composition }: ClusterSetup,
  steer: Steer,
  beforeEnd: (topology: Topology) => Promise<void> = () => Promise.resolve(),
): Promise<Ending> {
  const world = await CaseWorld.start();
  try {
    const topology = await Topology.open(world, {
      redis,
      spares,
      ...(workers === undefined ? {} : { workers }),
      ...(composition === undefined ? {} : { composition }),
    });
    topology.steering = { reached: steer(topology) };
    const seen = await converse(scenario, inTurn(topology));
    await topology.unlessItFails(beforeEnd(topology));
    await topology.close();
    return { seen, facts: await world.facts() };
  } finally {
    await world.close();
  }
}

async function kill(topology: Topology, point: MemberPoint, victim: Victim): Promise<void> {
  if (victim === "member") return topology.replace(point.seat);
  // What the member sends next meets the dying server, or is lost on its way.
  if (victim === "redis meanwhile") point.go();
  await topology.restartRedis();
  if (victim === "redis") point.go();
}

/** How often a point of each name was come to. */
export class PlaceCounts {
  readonly #counts = new Map<string, number>();

  placeOf({ seat: { group }, name }: MemberPoint): Place {
    const key = `${group} ${name}`;
    const occurrence = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, occurrence);
    return { group, name, occurrence };
  }

  /** Counts the point; whether it is that place. */
  isAt(point: MemberPoint, { group, name, occurrence }: Place): boolean {
    const at = this.placeOf(point);
    return at.group === group && at.name === name && at.occurrence === occurrence;
  }

  /** Takes the last place of that name out of a list, as if it had not been come to. */
  forget(places: Place[], group: Group, name: string): void {
    const last = places.findLastIndex((place) => place.group === group && place.name === name);
    places.splice(last, 1);
    const key = `${group} ${name}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 1) - 1);
  }
}
