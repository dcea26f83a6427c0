/**
 * What the states of a case say: kept as they are sealed, because clients can't look into those that hold a journal.
 */
import type { Entry } from "@reprise/journal";
import type { StateSealer } from "@reprise/runtime";

/** A state's payload, as far as a case looks at it. */
export interface SealedState {
  readonly kind: "once" | "repeatable";
  readonly run: string;
  readonly round: number;
  /** Of a repeatable run: what it keeps from round to round. */
  readonly seed?: string;
  readonly startedAt?: number;
  readonly entries?: readonly Entry[];
  readonly pending?: readonly {
    readonly key: string;
    readonly question: string;
    readonly unfinished?: number;
  }[];
}

/** The states of one case. */
export class SealedStates {
  readonly #byToken = new Map<string, SealedState>();
  readonly #all: SealedState[] = [];

  /** The sealer, watched. */
  watched(sealer: StateSealer): StateSealer {
    return {
      open: (input) => sealer.open(input),
      seal: async (input) => {
        const token = await sealer.seal(input);
        const state = structuredClone(input.payload) as unknown as SealedState;
        this.#byToken.set(token, state);
        this.#all.push(state);
        return token;
      },
    };
  }

  /** Undefined for a token that was not sealed here. */
  of(token: string | undefined): SealedState | undefined {
    return token === undefined ? undefined : this.#byToken.get(token);
  }

  /** In the order in which they were sealed. */
  get all(): readonly SealedState[] {
    return this.#all;
  }
}
