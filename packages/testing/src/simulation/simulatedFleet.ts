/**
 * Processes, a store and a network whose every order is decided by a seed.
 *
 * The runtime in each process is the shipped one; modelled are the store (the memory store, whose transitions are the
 * runtime's own), the clock, the network between client and processes, and the world outside. Every call of a port is a
 * message there and a message back, so a process can die before its call is made, while it is on its way, and before its
 * reply is there; what was on its way is still done.
 *
 * F1 Trouble of the fleet's own (crashes, pauses, the network's) ends with `settle`, and each sort is bounded before.
 * F2 A store either sees that a process died or goes by its lease alone; a case has one of both.
 * F3 In some cases the processes' wall clocks differ from the store's and from each other: by hours, or by seconds where questions
 *    must be answered soon. The life of a state and of a key is judged by them; nothing else may be.
 */
import type {
  ElicitationCompleter,
  RunRecord,
  RunStore,
  SharedRecords,
  StateSealer,
} from "@reprise/runtime";
import { createMemoryStore, type MemoryStore } from "../memoryStore.ts";
import type { Call, Fault, Reply } from "./calls.ts";
import { judgeAtRest, judgeExpired, judgeUndone, MOST_SECONDS_OFF_MS } from "./checker.ts";
import type { Fleet, FleetOptions, Sending } from "./fleet.ts";
import { commonSealer, Instance } from "./instance.ts";
import { nodesWith, type Program } from "./program.ts";
import { type Draw, drawFrom } from "./random.ts";
import { judgeRepeatable, judgeSealed } from "./repeatableJudge.ts";
import { Scheduler } from "./scheduler.ts";
import { type SealedState, SealedStates } from "./sealedStates.ts";
import { type Happening, World } from "./world.ts";

/** A process as a store that is made wrong on purpose sees it. */
export interface PlantedIn {
  /** Does `work` at some later event, at least `ms` (default 0) from now, if the process still lives then. */
  later(work: () => void, ms?: number): void;
}

/** Puts something wrong between a process and one of its ports, to show that the checker finds it. */
export interface Plant {
  readonly store?: (store: RunStore, process: PlantedIn) => RunStore;
  readonly shared?: (shared: SharedRecords) => SharedRecords;
  readonly sealer?: (sealer: StateSealer) => StateSealer;
  readonly completer?: (
    completer: ElicitationCompleter,
    shared: SharedRecords,
  ) => ElicitationCompleter;
  /** What the process takes its handler for. */
  readonly program?: (program: Program) => Program;
}

interface Member {
  readonly instance: Instance;
  readonly store: MemoryStore;
}

/** What the store is drawn from must not be what the client's moves are: a change of one would be a change of both. */
const FLEET_STREAM = 0x5bd1e995;
const ORDER_STREAM = 0x27d4eb2f;
const CLOCK_STREAM = 0x6a09e667;
/** Far below the day that a state and a step's key live. */
const MOST_HOURS_OFF_MS = 6 * 60 * 60 * 1000;
const CLIENT_PATIENCE_MS = 30_000;
const MISMATCH_IS_OVER_MS = 11 * 60 * 1000;
const EVERYTHING_IS_OVER_MS = 40 * 24 * 60 * 60 * 1000;

/** Whether what happened last is an effect that is not recorded yet, or an undo between two others. */
function isWorst(last: Happening | undefined): boolean {
  if (last?.is === "recorded") return last.entries.some((entry) => entry.startsWith("step_undone"));
  return last?.is === "entered" || last?.is === "done" || last?.is === "undone";
}

/** A fleet that repeats. */
export class SimulatedFleet implements Fleet {
  readonly world: World = new World(true);
  readonly playedAloneBy = "npm run simulate -- --seeds 1 --seed ";
  readonly faults = ["crash", "crash", "pause", "storeFails", "clientGoes"] as const;
  readonly killsFirst = false;
  readonly #options: FleetOptions;
  readonly #draw: Draw;
  readonly #scheduler: Scheduler;
  readonly #plant: Plant | undefined;
  readonly #data: MemoryStore;
  readonly #seesDeath: boolean;
  readonly #clocks: Draw;
  /** The farthest that a process's clock is off. */
  readonly #mostOffMs: number;
  readonly #states = new SealedStates();
  readonly #isRepeatable: boolean;
  readonly #hasPages: boolean;
  readonly #members: Member[] = [];
  readonly #onTheWay = new Set<Promise<unknown>>();
  #strikesLeft: number;
  #isSettled = false;
  #texts = 0;

  constructor(options: FleetOptions, plant?: Plant) {
    this.#options = options;
    this.#plant = plant;
    this.#draw = drawFrom(options.seed ^ FLEET_STREAM);
    this.#scheduler = new Scheduler(drawFrom(options.seed ^ ORDER_STREAM));
    this.#data = this.#newStore();
    this.#seesDeath = this.#draw.chance(50);
    this.#strikesLeft = this.#draw.below(5);
    this.#clocks = drawFrom(options.seed ^ CLOCK_STREAM);
    this.#isRepeatable = options.programs.some(({ repeatable }) => repeatable === true);
    this.#hasPages = options.programs.some((program) =>
      nodesWith(program, "ask").some(({ kind }) => kind === "elicitUrl"),
    );
    const isShort = options.programs.some(({ answerWithinMs }) => answerWithinMs !== undefined);
    const farthest = isShort ? MOST_SECONDS_OFF_MS : MOST_HOURS_OFF_MS;
    this.#mostOffMs = this.#clocks.chance(40) ? farthest : 0;
    this.#scheduler.beforeEvent = () => this.#strike();
  }

  /** How many events there were. */
  get events(): number {
    return this.#scheduler.events;
  }

  send(sendings: readonly Sending[]): Promise<readonly Reply[]> {
    return this.#scheduler.until(Promise.all(sendings.map((one) => this.#exchange(one))));
  }

  pass(ms: number): Promise<void> {
    return this.#scheduler.pass(ms);
  }

  async resume(): Promise<void> {
    for (const { instance } of this.#members) instance.resume();
    await this.#scheduler.pass(0);
  }

  async settle(): Promise<void> {
    this.#isSettled = true;
    for (const { instance } of this.#members) instance.calm();
    await this.resume();
    while (this.#onTheWay.size > 0) await this.#scheduler.until(Promise.all(this.#onTheWay));
  }

  stateIn(requestState: string): SealedState | undefined {
    return this.#states.of(requestState);
  }

  peek(run: string): Promise<RunRecord | undefined> {
    return this.#data.load(run);
  }

  sendElsewhere(call: Call): Promise<Reply> {
    const { instance } = this.#member("1", this.#newStore(), false);
    return this.#scheduler.until(instance.execute(call));
  }

  async judgeRest(): Promise<void> {
    await this.settle();
    if (this.#isRepeatable) judgeRepeatable(this.world, this.#states.all);
    // Who shares records looks into them each second, which costs time here.
    if (this.#hasPages) await this.#closeAll();
    // One that looks after what others left behind, in each release that was deployed.
    for (const { version } of this.#options.programs) this.#member(version, this.#data, true);
    await this.#scheduler.pass(MISMATCH_IS_OVER_MS);
    const rested = this.#data.snapshot();
    judgeAtRest(rested, this.#scheduler.now());
    for (const run of rested.runs) judgeUndone(this.world, this.#options.programs, run);
    await this.#closeAll();
    await this.#scheduler.pass(EVERYTHING_IS_OVER_MS);
    while ((await this.#data.removeExpired(100)) > 0);
    judgeExpired(this.#data.snapshot());
  }

  async close(): Promise<void> {
    await this.settle();
    await this.#closeAll();
  }

  async #closeAll(): Promise<void> {
    for (const { instance } of this.#members) await this.#scheduler.until(instance.close());
  }

  // The network ----------------------------------------------------------------------------------------------------

  /** One request, or two of it: what comes back first is what the client has. */
  #exchange(sending: Sending): Promise<Reply> {
    const { call } = sending;
    // A first call without a key is a new run each time it arrives: a network that doubles it does what a client could.
    const mayDouble =
      call.requestState !== undefined || call.completes !== undefined || this.#options.keyed;
    const copies = mayDouble && this.#isTroubled(sending, 8) ? 2 : 1;
    if (copies > 1) this.#noteNetwork("doubles a request");
    return new Promise((resolve, reject) => {
      let left = copies;
      for (let copy = 0; copy < copies; copy += 1) {
        const carried = this.#carry(sending, copy === 0 ? sending.fault : undefined);
        const arrival = carried
          .then((reply) => {
            left -= 1;
            if (reply.kind !== "lost" || left === 0) resolve(reply);
          }, reject)
          .finally(() => this.#onTheWay.delete(arrival));
        this.#onTheWay.add(arrival);
      }
    });
  }

  async #carry(sending: Sending, fault: Fault | undefined): Promise<Reply> {
    const { call, version } = sending;
    await this.#delay(sending);
    if (this.#isTroubled(sending, 4)) return this.#lose("loses a request");
    const reply = await this.#instanceOf(version).execute(
      call,
      this.#isSettled ? undefined : fault,
    );
    if (this.#isRepeatable && reply.kind === "question") {
      const sealed = this.#states.of(reply.requestState);
      const isDeployed = this.#options.programs.length > 1;
      if (sealed !== undefined) judgeSealed(this.#states.of(call.requestState), sealed, isDeployed);
    }
    await this.#delay(sending);
    if (this.#isTroubled(sending, 5)) return this.#lose("loses a reply");
    return reply;
  }

  async #lose(what: string): Promise<Reply> {
    this.#noteNetwork(what);
    await this.#scheduler.pause(CLIENT_PATIENCE_MS);
    return { kind: "lost" };
  }

  #delay(sending: Sending): Promise<void> {
    if (!this.#isTroubled(sending, 15)) return this.#scheduler.hop();
    return this.#scheduler.pause(this.#draw.pick([5, 100, 2_000, 12_000]));
  }

  #isTroubled({ troubled }: Sending, percent: number): boolean {
    return troubled && !this.#isSettled && this.#draw.chance(percent);
  }

  #noteNetwork(what: string): void {
    this.world.note({ is: "network", what });
  }

  // The processes --------------------------------------------------------------------------------------------------

  /** Now and then, between any two events, a process dies or stands still: most of all at the worst moments. */
  #strike(): void {
    if (this.#isSettled || this.#strikesLeft === 0) return;
    if (!this.#draw.chance(isWorst(this.world.log.at(-1)) ? 12 : 1)) return;
    const up = this.#members.filter(({ instance }) => instance.isUp);
    if (up.length === 0) return;
    this.#strikesLeft -= 1;
    const { instance } = this.#draw.pick(up);
    if (this.#draw.chance(60)) {
      instance.crash("between two events");
      return;
    }
    instance.pause("between two events");
    this.#scheduler.after(this.#draw.pick([500, 6_000, 25_000]), () => instance.resume());
  }

  /** One that is up, or now and then a new one. */
  #instanceOf(version: string): Instance {
    const up = this.#members.filter(
      ({ instance }) => instance.isUp && instance.version === version,
    );
    const isEnough = up.length > 0 && this.#draw.chance(up.length === 1 ? 75 : 95);
    if (isEnough) return this.#draw.pick(up).instance;
    return this.#member(version, this.#data, this.#draw.chance(35)).instance;
  }

  #member(version: string, data: MemoryStore, sweeps: boolean): Member {
    const { programs, keyed } = this.#options;
    const program = programs.find((one) => one.version === version);
    if (program === undefined) throw new Error(`there is no version ${version}`);
    const store = data.another();
    const plant = this.#plant;
    let isDead = false;
    const instance = new Instance({
      name: `process-${this.#members.length + 1}`,
      program: plant?.program?.(program) ?? program,
      keyed,
      store:
        plant?.store?.(store, {
          later: (work, ms) => {
            const unlessDead = (): void => {
              if (!isDead) work();
            };
            if (ms === undefined) this.#scheduler.turn(unlessDead);
            else this.#scheduler.after(ms, unlessDead);
          },
        }) ?? store,
      shared: this.#hasPages ? (plant?.shared?.(store.shared) ?? store.shared) : undefined,
      sealer: this.#states.watched(plant?.sealer?.(commonSealer) ?? commonSealer),
      completer: (own) => plant?.completer?.(own, store.shared) ?? own,
      world: this.world,
      time: this.#scheduler,
      random: () => this.#text(),
      hears: this.#draw.chance(70),
      sweeps,
      tellsStoreCalls: this.#isRepeatable,
      aheadMs: this.#clocks.below(2 * this.#mostOffMs + 1) - this.#mostOffMs,
      served: this.#options.served,
      onDown: (how) => {
        isDead ||= how === "crash";
        if (isDead && this.#seesDeath) store.kill();
      },
    });
    const member = { instance, store };
    this.#members.push(member);
    return member;
  }

  #newStore(): MemoryStore {
    const { now, after } = this.#scheduler;
    return createMemoryStore({ now, setTimer: after });
  }

  /** As long and as unlike another as random text, and the same in every play of the seed. */
  #text(): string {
    this.#texts += 1;
    return `${this.#options.seed.toString(36)}-${this.#texts}`.padEnd(
      24,
      "-simulated-simulated-sim",
    );
  }
}
