/**
 * The instances of a case in processes of their own, one after the other, on one real LMDB directory: a crash is SIGKILL, and
 * the next process goes on with the directory and with what the world's file says.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { RunRecord, RunStore } from "@reprise/runtime";
import { type LmdbStoreOptions, openLmdbStore } from "@reprise/store-lmdb";
import type { Call, Fault, Fleet, FleetOptions, Reply, Sending } from "@reprise/testing/simulation";
import { FileWorld } from "./fileWorld.ts";
import { newDirectory } from "./fleet.ts";
import type { Begin, Done, Order } from "./main.ts";

const mainFile = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Processes that wait for a case: one is always being started while another works. */
export class Nursery {
  #next: ChildProcess | undefined;

  /** One process; the next is on its way. */
  take(): ChildProcess {
    const taken = this.#next ?? start();
    this.#next = start();
    return taken;
  }

  close(): void {
    this.#next?.kill("SIGKILL");
    this.#next = undefined;
  }
}

function start(): ChildProcess {
  const args = ["--conditions=@reprise/source", "--import", "tsx", mainFile];
  return spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
}

/** A fleet whose processes are killed. */
export class KilledFleet implements Fleet {
  readonly faults = [
    "crash",
    "crash",
    "storeFails",
    "clientGoes",
  ] as const satisfies Fault["does"][];
  readonly killsFirst = true;
  readonly playedAloneBy = "REPRISE_TEST_CASE=";
  readonly world: FileWorld;
  readonly #options: FleetOptions;
  readonly #nursery: Nursery;
  readonly #root = newDirectory();
  readonly #waiting = new Map<number, (done: Done | Promise<never>) => void>();
  #child: ChildProcess | undefined;
  #children = 0;
  #orders = 0;
  #kills = 0;

  constructor(options: FleetOptions, nursery: Nursery) {
    this.#options = options;
    this.#nursery = nursery;
    this.world = new FileWorld(this.#logFile);
  }

  /** Processes that ended by SIGKILL. */
  get kills(): number {
    return this.#kills;
  }

  async send(sendings: readonly Sending[]): Promise<readonly Reply[]> {
    const replies = await Promise.all(
      sendings.map(({ call, version, fault }) =>
        this.#order({ send: call, version, ...(fault === undefined ? {} : { fault }) }),
      ),
    );
    this.world.refresh();
    return replies.map(({ reply }) => reply ?? { kind: "lost" });
  }

  async pass(ms: number): Promise<void> {
    await this.#order({ pass: ms });
    this.world.refresh();
  }

  resume(): Promise<void> {
    return Promise.resolve();
  }

  settle(): Promise<void> {
    return Promise.resolve();
  }

  peek(run: string): Promise<RunRecord | undefined> {
    return this.#withStore({ directory: this.#directory }, (store) => store.load(run));
  }

  async sendElsewhere(call: Call): Promise<Reply> {
    const main = this.#child;
    this.#child = undefined;
    const done = await this.#order({ send: call, version: "1" }, path.join(this.#root, "empty"));
    await this.#kill();
    this.#child = main;
    this.world.refresh();
    return done.reply ?? { kind: "lost" };
  }

  async close(): Promise<void> {
    await this.#kill();
    this.world.refresh();
    rmSync(this.#root, { recursive: true, force: true });
  }

  get #directory(): string {
    return path.join(this.#root, "main");
  }

  get #logFile(): string {
    return path.join(this.#root, "world.log");
  }

  /** Gives an order to the process that is up, or to a new one; resolves empty when the process dies of it. */
  #order(
    order:
      | Omit<Extract<Order, { send: unknown }>, "id">
      | Omit<Extract<Order, { pass: unknown }>, "id">,
    directory: string = this.#directory,
  ): Promise<Done> {
    this.#child ??= this.#begin(directory);
    const child = this.#child;
    this.#orders += 1;
    const id = this.#orders;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      child.send({ ...order, id });
    });
  }

  #begin(directory: string): ChildProcess {
    const { programs, keyed, draw } = this.#options;
    const child = this.#nursery.take();
    this.#children += 1;
    const name = `process-${this.#children}`;
    const sweeps = draw.chance(40);
    child.send({ name, directory, log: this.#logFile, programs, keyed, sweeps } satisfies Begin);
    child.on("message", (done: Done) => {
      this.#waiting.get(done.id)?.(done);
      this.#waiting.delete(done.id);
    });
    child.on("exit", (code, signal) => {
      if (signal === "SIGKILL") this.#kills += 1;
      if (this.#child === child) this.#child = undefined;
      // Only a crash that the case ordered is no failure of the process itself.
      const failed = (): Promise<never> =>
        Promise.reject(new Error(`a process ended by ${signal ?? code}`));
      for (const [id, resolve] of this.#waiting) resolve(signal === "SIGKILL" ? { id } : failed());
      this.#waiting.clear();
    });
    return child;
  }

  async #kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const exited = once(child, "exit");
    // Not a crash of the case: whatever it still did is at rest between two orders.
    child.kill("SIGTERM");
    await exited;
  }

  async #withStore<T>(options: LmdbStoreOptions, use: (store: RunStore) => Promise<T>): Promise<T> {
    const store = await openLmdbStore(options);
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  }
}
