/**
 * What instances of a simulation take time and order from: a port, because one simulation decides every order by a seed and
 * another lets a real store's calls return when they do.
 */

/** Time and order of one simulation, shared by all its instances. */
export interface Timing {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Milliseconds since a moment before the simulation began. */
  readonly monotonic: () => number;
  /** Runs `work` once after `ms`; returns how to call it off. */
  readonly after: (ms: number, work: () => void) => () => void;
  /** Runs `work` one turn later, behind every continuation that needs no I/O; returns how to call it off. */
  readonly turn: (work: () => void) => () => void;
  /** Something happened that may lead to more within this or the next turn: time does not pass yet. */
  readonly stir: () => void;
  /** Makes a call that leaves the process and comes back; time holds while it is on its way. */
  readonly during: <T>(what: string, call: () => Promise<T>) => Promise<T>;
}

/** Resolves one turn later. */
export function oneTurn(timing: Pick<Timing, "turn">): Promise<void> {
  return new Promise((resolve) => {
    timing.turn(resolve);
  });
}
