/**
 * The end of a session on one front while another begins something of it: in whatever order the steps of both come, nothing of the
 * session stays, in the store or in what its caller may hold.
 */
import { describe, expect, test } from "vitest";
import { longRun, manyCasesMs } from "../../../../test/support/config.ts";
import { type Cluster, cluster, type Instance } from "./support/instances.ts";
import { type Got, initialize, type Session, streamOf } from "./support/legacyClient.ts";
import { watchedServer } from "./support/server.ts";
import { type Choice, Turns, takeTurns } from "./support/turns.ts";

const yes = { action: "accept", content: { confirm: true } };
const folder = { name: "delete_folder", arguments: { path: "build/" } };
const one = { maxStreamsPerCaller: 1, maxOpenAsksPerCaller: 1 };

/** What the first front is asked for while the second ends the session. */
interface Begun {
  /** Resolves when it has come to rest, waiting for its client or over, with whether it was let in at all. */
  readonly rests: Promise<boolean>;
  /** Resolves when all its streams are closed. */
  readonly closed: () => Promise<unknown>;
}

type Prepare = (world: World, session: Session) => Promise<() => Begun>;

/** Fronts, and what there is of calls in their store. */
class World {
  readonly all: Cluster;
  readonly #records = new Set<string>();

  constructor(all: Cluster) {
    this.all = all;
    for (const instance of all.instances) this.watch(instance);
  }

  /** Records of calls, and runs that have not ended. */
  count(): readonly number[] {
    const open = this.all.runs().filter(({ head }) => ["waiting", "running"].includes(head.status));
    return [this.#records.size, open.length];
  }

  watch({ shared }: Instance): void {
    const { put, remove } = shared;
    shared.put = async (key, ...rest) => {
      const revision = await put(key, ...rest);
      if (key.kind === "call" && revision !== undefined) this.#records.add(key.id);
      return revision;
    };
    shared.remove = async (key, expected) => {
      const isRemoved = await remove(key, expected);
      if (isRemoved) this.#records.delete(key.id);
      return isRemoved;
    };
  }
}

/** Reads a response until it asks something or is over. */
function begunBy(getting: Promise<Got>): Begun {
  const untilAsked = async (): Promise<boolean> => {
    const { stream, status } = await getting;
    let event = await stream?.next();
    while (event !== undefined && event.message?.method !== "elicitation/create")
      event = await stream?.next();
    return status === 200;
  };
  const rests = untilAsked();
  return {
    rests,
    closed: async () => {
      await rests;
      return (await getting).stream?.rest();
    },
  };
}

const aCall: Prepare = async ({ all }, session) => {
  const [a] = all.instances;
  return () => begunBy(session.request(a.url, "tools/call", folder));
};

const aSessionStream: Prepare = async ({ all }, session) => {
  const [a] = all.instances;
  return () => {
    const getting = session.listen(a.url);
    return {
      rests: getting.then(({ status }) => status === 200),
      closed: async () => {
        const { stream } = await getting;
        all.clock.advance(500);
        return stream?.rest();
      },
    };
  };
};

/** A call whose front has died, and what brings the first front to it. */
function ofDeadFront(bring: (url: string, session: Session, ask: Ask) => Begun): Prepare {
  return async (world, session) => {
    const { all } = world;
    const dead = await all.another();
    world.watch(dead);
    const stream = streamOf(await session.request(dead.url, "tools/call", folder));
    const { id: event = "" } = (await stream.next()) ?? {};
    const { id } = await stream.message();
    dead.die();
    all.clock.advance(11_000);
    return () => bring(all.instances[0].url, session, { event, id });
  };
}

/** What its client has of a call: the event before its question, and the question's id. */
interface Ask {
  readonly event: string;
  readonly id: Parameters<Session["answer"]>[1];
}

const anAnswer = ofDeadFront((url, session, { id }) => {
  const answered = session.answer(url, id, yes);
  return { rests: answered.then((status) => status === 202), closed: () => answered };
});

const aReadingOn = ofDeadFront((url, session, { event }) => begunBy(session.listen(url, event)));

interface Race {
  readonly prepare: Prepare;
  /** Whether its first front died: then a call that nobody may come for any more is left to its question's end (8.2). */
  readonly isOfDeadFront: boolean;
  /**
   * Whether what the store answers is a step of its own, and of several steps each goes first once: four times the orders, which
   * the longest races have in long runs alone.
   */
  readonly isWhole: boolean;
}

/** Before which step of what is begun the session's end is recorded, and before which it is told. */
interface Order {
  readonly ended: number;
  readonly told: number;
  readonly choice: Choice;
}

/** Plays one order. Returns how many steps there were, and whether any of them was one of several. */
async function play(
  world: World,
  { prepare, isOfDeadFront, isWhole }: Race,
  { ended, told, choice }: Order,
): Promise<{ readonly steps: number; readonly hadChoice: boolean }> {
  const [a, b] = world.all.instances;
  // Long enough for a front to say again that it lives.
  world.all.clock.advance(6_000);
  const session = await initialize(b.url);
  const before = world.count();
  const begin = await prepare(world, session);
  const [begun, ending, telling] = [new Turns(), new Turns(), new Turns()];
  const endTurns = [
    takeTurns(a, begun, { replies: isWhole }),
    takeTurns(b, telling, { only: ["publish"], replies: false }),
    takeTurns(b, ending, { only: ["put"], replies: false }),
  ];
  const { rests, closed } = begin();
  const end = session.end(b.url);
  let steps = -1;
  do {
    steps += 1;
    if (steps === ended) {
      await ending.comes(end);
      // It may have to write once more, when what it read is no longer so.
      ending.free();
      await telling.comes(end);
    }
    if (steps === told) telling.free();
  } while (await begun.next(rests, choice));
  for (const turns of [begun, ending, telling]) turns.free();

  expect(await end).toBe(204);
  await closed();
  for (const endTurn of endTurns.reverse()) endTurn();
  const isLeft = isOfDeadFront && !(await rests);
  const expected = before.map((each) => (isLeft ? each + 1 : each));
  await expect.poll(() => world.count(), { interval: 1 }).toEqual(expected);
  return { steps, hadChoice: begun.hadChoice };
}

const of = (prepare: Prepare): Race => ({ prepare, isOfDeadFront: false, isWhole: true });
const ofDead = (prepare: Prepare): Race => ({ prepare, isOfDeadFront: true, isWhole: longRun });

describe("nothing stays of a session that ends on one front while there begins on another", () => {
  test.each([
    ["a call that asks", of(aCall), 12],
    ["a GET stream", of(aSessionStream), 8],
    ["a take-over by an answer", ofDead(anAnswer), 10],
    ["a take-over by a GET stream", ofDead(aReadingOn), 10],
  ])(
    "%s, in whatever order their steps come",
    async (_name, race, least) => {
      const world = new World(await cluster(watchedServer().server, { legacy: one }));
      const [a] = world.all.instances;
      const { steps } = await play(world, race, { ended: 100, told: 100, choice: "first" });
      for (let ended = 0; ended <= steps; ended++) {
        for (let told = ended; told <= steps; told++) {
          const { hadChoice } = await play(world, race, { ended, told, choice: "first" });
          if (hadChoice && race.isWhole) await play(world, race, { ended, told, choice: "last" });
        }
      }
      expect(steps).toBeGreaterThanOrEqual(least);
      // The caller may have one of each: what was kept from it is missing now.
      const next = await initialize(a.url);
      const call = streamOf(await next.request(a.url, "tools/call", folder));
      expect((await call.message()).method).toBe("elicitation/create");
      expect((await next.listen(a.url)).status).toBe(200);
    },
    manyCasesMs,
  );
});
