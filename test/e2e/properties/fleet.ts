/**
 * The instances of a case in this process, on one real LMDB directory.
 *
 * Processes are played (a dead one is gone for the store's liveness, a paused one is taken for gone), everything else is real.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { RunRecord, RunStore } from "@reprise/runtime";
import { openLmdbStore } from "@reprise/store-lmdb";
import {
  type Call,
  type Fleet,
  type FleetOptions,
  Instance,
  type Reply,
  type Sending,
  World,
} from "@reprise/testing/simulation";
import { VirtualTime } from "./virtualTime.ts";

interface Member {
  readonly instance: Instance;
  readonly store: RunStore;
}

/** A fleet whose processes are played. */
export class PlayedFleet implements Fleet {
  readonly world = new World();
  readonly playedAloneBy = "REPRISE_TEST_CASE=";
  readonly faults = ["crash", "pause", "storeFails", "clientGoes"] as const;
  readonly killsFirst = false;
  readonly #options: FleetOptions;
  readonly #root = newDirectory();
  readonly #time = new VirtualTime();
  readonly #gone = new Set<unknown>();
  readonly #members: Member[] = [];
  #observer: RunStore | undefined;

  constructor(options: FleetOptions) {
    this.#options = options;
  }

  async send(sendings: readonly Sending[]): Promise<readonly Reply[]> {
    // All are there before the first is asked: a fault may strike at once.
    const ready: (() => Promise<Reply>)[] = [];
    for (const { call, version, fault } of sendings) {
      const instance = await this.#instanceOf(version);
      ready.push(() => instance.execute(call, fault));
    }
    return this.#time.until(Promise.all(ready.map((execute) => execute())));
  }

  pass(ms: number): Promise<void> {
    return this.#time.pass(ms);
  }

  resume(): Promise<void> {
    for (const { instance } of this.#members) {
      instance.resume();
      if (instance.isUp) this.#gone.delete(instance.name);
    }
    return this.#time.quiet();
  }

  settle(): Promise<void> {
    return this.resume();
  }

  async peek(run: string): Promise<RunRecord | undefined> {
    this.#observer ??= await this.#open("main", "observer");
    return this.#observer.load(run);
  }

  async sendElsewhere(call: Call): Promise<Reply> {
    const member = await this.#member("1", "empty", "elsewhere", false);
    return this.#time.until(member.instance.execute(call));
  }

  async close(): Promise<void> {
    try {
      await this.resume();
      await this.#time.pass(60_000);
      for (const { instance } of this.#members) await this.#time.until(instance.close());
    } finally {
      for (const { store } of this.#members) await store.close();
      await this.#observer?.close();
      rmSync(this.#root, { recursive: true, force: true });
    }
  }

  /** One that is up, or now and then a new one. */
  async #instanceOf(version: string): Promise<Instance> {
    const { draw } = this.#options;
    const up = this.#members.filter(
      ({ instance }) => instance.isUp && instance.version === version,
    );
    if (up.length > 0 && draw.chance(up.length === 1 ? 75 : 95)) return draw.pick(up).instance;
    const name = `instance-${this.#members.length + 1}`;
    const member = await this.#member(version, "main", name, draw.chance(35));
    return member.instance;
  }

  async #member(version: string, where: string, name: string, sweeps: boolean): Promise<Member> {
    const { programs, keyed } = this.#options;
    const program = programs.find((one) => one.version === version);
    if (program === undefined) throw new Error(`there is no version ${version}`);
    const store = await this.#open(where, name);
    const instance = new Instance({
      name,
      program,
      keyed,
      store,
      world: this.world,
      time: this.#time,
      sweeps,
      onDown: () => this.#gone.add(name),
    });
    const member = { instance, store };
    this.#members.push(member);
    return member;
  }

  #open(where: string, name: string): Promise<RunStore> {
    const time = this.#time;
    return openLmdbStore({
      directory: path.join(this.#root, where),
      clock: { wallNow: time.now, monotonicNow: time.monotonic, setTimer: time.after },
      liveness: { self: name, isGone: (holder) => this.#gone.has(holder) },
    });
  }
}

/** A directory for one case. */
export function newDirectory(): string {
  return mkdtempSync(path.join(tmpdir(), "reprise-properties-"));
}
