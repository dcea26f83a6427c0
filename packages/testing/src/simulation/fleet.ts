/**
 * What a simulated client sends to: instances of one server on one data, and the trouble that they get into.
 *
 * Called by the client and by the judge of a case. There are three: processes whose every order is decided by a seed
 * (`simulatedFleet.ts`), and, in the tests of the embedded store, played and really killed ones on a disk.
 */
import type { RunRecord } from "@reprise/runtime";
import type { Call, Fault, Reply, ServedCall } from "./calls.ts";
import type { Program } from "./program.ts";
import type { Draw } from "./random.ts";
import type { SealedState } from "./sealedStates.ts";
import type { World } from "./world.ts";

/** One request and what is to happen to whoever gets it. */
export interface Sending {
  readonly call: Call;
  readonly version: string;
  readonly fault?: Fault | undefined;
  /** Whether a network may lose, double or delay it. */
  readonly troubled: boolean;
}

/** Where a client's requests go. */
export interface Fleet {
  readonly world: World;
  /** What plays one case of such a fleet again, up to its number. */
  readonly playedAloneBy: string;
  /** What can happen to instances of this fleet. */
  readonly faults: readonly Fault["does"][];
  /** Whether the first thing to happen must be a crash. */
  readonly killsFirst: boolean;
  /** Sends requests at the same time; resolves when each has a reply or is lost. */
  send(sendings: readonly Sending[]): Promise<readonly Reply[]>;
  /** Lets time pass in which nobody asks for anything. */
  pass(ms: number): Promise<void>;
  /** Lets paused instances go on. */
  resume(): Promise<void>;
  /** Ends the fleet's own trouble: what is on its way arrives, paused instances go on. */
  settle(): Promise<void>;
  /** What a state that a client has says; only where states are watched. */
  stateIn?(requestState: string): SealedState | undefined;
  peek(run: string): Promise<RunRecord | undefined>;
  /** Sends a request to an instance whose store knows nothing. */
  sendElsewhere(call: Call): Promise<Reply>;
  /** Judges what is left when everything is over, where the fleet can. @throws Violation */
  judgeRest?(): Promise<void>;
  close(): Promise<void>;
}

/** What fleets are made for. */
export interface FleetOptions {
  readonly programs: readonly Program[];
  readonly keyed: boolean;
  readonly draw: Draw;
  /** The number of the case. */
  readonly seed: number;
  /** An author's server in place of the programs, of which only the versions count then. */
  readonly served?: ServedCall;
}
