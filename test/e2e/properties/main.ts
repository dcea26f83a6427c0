/**
 * A process that is killed: an engine on the case's directory, driven by messages of `killedFleet.ts`.
 *
 * It is started ahead of its case, because starting takes longer than the case. A crash is SIGKILL by its own hand at the
 * port call that the fault names: nothing of it runs after that.
 */
import { openLmdbStore } from "@reprise/store-lmdb";
import {
  type Call,
  type Fault,
  Instance,
  type Program,
  type Reply,
} from "@reprise/testing/simulation";
import { FileWorld } from "./fileWorld.ts";
import { VirtualTime } from "./virtualTime.ts";

/** The first message: what the case is. */
export interface Begin {
  readonly name: string;
  readonly directory: string;
  readonly log: string;
  readonly programs: readonly Program[];
  readonly keyed: boolean;
  readonly sweeps: boolean;
}

/** Every later message. */
export type Order =
  | { readonly id: number; readonly send: Call; readonly version: string; readonly fault?: Fault }
  | { readonly id: number; readonly pass: number };

/** What comes back. */
export interface Done {
  readonly id: number;
  readonly reply?: Reply;
}

/** From today on: a later process of the case must not find itself before an earlier one's day, nor after its deadlines. */
const time = new VirtualTime(Date.now());
let instanceOf: (version: string) => Instance = () => {
  throw new Error("the case has not begun");
};

async function begin(from: Begin): Promise<void> {
  const { name, programs, keyed, sweeps } = from;
  const world = new FileWorld(from.log);
  const store = await openLmdbStore({
    directory: from.directory,
    // What waits goes by the case's time, and so must leases, or a claim whose reply was lost would outlast all patience. A
    // later process counts from less; the leases of earlier ones are over because those are gone.
    clock: {
      wallNow: time.now,
      monotonicNow: () => Number(process.hrtime.bigint() / 1_000n) / 1_000 + time.monotonic(),
      setTimer: time.after,
    },
  });
  const instances = new Map<string, Instance>();
  instanceOf = (version) => {
    const program = programs.find((one) => one.version === version);
    if (program === undefined) throw new Error(`there is no version ${version}`);
    const instance =
      instances.get(version) ??
      new Instance({
        name: `${name}/${version}`,
        program,
        keyed,
        store,
        world,
        time,
        sweeps,
        onDown: () => process.kill(process.pid, "SIGKILL"),
      });
    instances.set(version, instance);
    return instance;
  };
}

async function obey(order: Order): Promise<Done> {
  if ("pass" in order) {
    await time.pass(order.pass);
    return { id: order.id };
  }
  const { id, send, version, fault } = order;
  return { id, reply: await time.until(instanceOf(version).execute(send, fault)) };
}

async function answer(order: Order): Promise<void> {
  await begun;
  process.send?.(await obey(order));
}

let begun: Promise<void> | undefined;
process.on("message", (message: Begin | Order) => {
  if (!("id" in message)) {
    begun = begin(message);
    return;
  }
  void answer(message);
});
process.on("disconnect", () => process.exit());
