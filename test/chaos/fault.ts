/**
 * What a kind of fault is: a scene that it is played on, and a strike that is repeated while people call.
 */
import type { Draw } from "./draw.ts";
import type { Evidence, Stretch } from "./judge/excuse.ts";
import type { LookedAtStore } from "./judge/stuckRuns.ts";
import type { Limits } from "./judge/verdict.ts";
import type { Manners } from "./load/carefulClient.ts";
import type { ErrandName } from "./load/errands.ts";

/** What scenes are built from. */
export interface Stage {
  /** Arguments of node for a front, a worker or an embedded server of the chaos shop. */
  readonly roleArgs: (role: "front" | "worker" | "embedded") => readonly string[];
  /** An empty folder, removed afterwards. */
  readonly folder: string;
}

/** What a strike did. */
export interface Struck {
  /** In words. */
  readonly what: string;
  /** What the store had acknowledged then, by `performance.now()`, is gone or may be. */
  readonly forgotten?: Stretch;
}

/** A running deployment with its outside world. */
export interface Scene {
  /** Where clients call. */
  readonly url: string;
  /** Origin of payment service and mail log. */
  readonly outside: string;
  readonly leaseMs: number;
  /** Ends of processes that nobody asked for, in words; grows. */
  readonly deaths: readonly string[];
  /** All ends of processes, by `performance.now()`; grows. */
  readonly ends: Evidence["ends"];
  /** Where processes write down their steps. */
  readonly trailFolder: string;
  /** One disturbance and its end: resolves, with what was done, when everything is whole again. */
  strike(draw: Draw): Promise<string | Struck>;
  /** After the last strike, until everybody is through: what the fault needs to be over for all runs. */
  settle?(gone: Promise<void>): Promise<void>;
  openStore(): Promise<LookedAtStore>;
  close(): Promise<void>;
}

/** A kind of fault. */
export interface Fault {
  readonly name: string;
  /** What is done, as a sentence. */
  readonly about: string;
  readonly limits?: Limits;
  /** Strikes hurt the store, or the way there. */
  readonly hurtsStore?: true;
  /** How clients behave meanwhile. */
  readonly manners?: Manners;
  /** Errands in place of the usual ones. */
  readonly names?: readonly ErrandName[];
  /** Pause before each strike, in milliseconds. Default 1.5 to 5 s. */
  readonly everyMs?: readonly [number, number];
  /** Bound on the time in which no call gets a result, in leases and milliseconds. Default: measured and not judged. */
  readonly mostGapMs?: (leaseMs: number) => number;
  /** A reply that must come at least once, or the fault did not bite. */
  readonly bitesWith?: string;
  open(stage: Stage): Promise<Scene>;
}
