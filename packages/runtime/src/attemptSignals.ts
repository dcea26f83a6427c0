/**
 * The abort signals of one attempt: the handler's own, and those of its steps.
 *
 * Called by the attempt alone, which says what has happened. A signal is made when it is first asked for: most calls ask for
 * none. What was said before that holds for it as well.
 */
import { controllerForMany } from "./manyListeners.ts";
import { Suspension } from "./suspension.ts";

/** Why steps are told to stop. Shared: making an error for every attempt, with its stack, costs as much as a short call. */
const overNow = new Suspension();

/** The signals. */
export class AttemptSignals {
  #handler: AbortController | undefined;
  #tries: AbortController | undefined;
  #running: AbortController | undefined;
  #isHandlerStopped = false;
  #areTriesForbidden = false;
  #areRunningCut = false;

  /** `ctx.signal`. */
  get handler(): AbortSignal {
    this.#handler ??= new AbortController();
    if (this.#isHandlerStopped) this.#handler.abort(new Suspension());
    return this.#handler.signal;
  }

  /** Forbids further tries of running steps. */
  get tries(): AbortSignal {
    this.#tries ??= controllerForMany();
    if (this.#areTriesForbidden) this.#tries.abort(overNow);
    return this.#tries.signal;
  }

  /** Aborts running steps' functions. */
  get running(): AbortSignal {
    this.#running ??= controllerForMany();
    if (this.#areRunningCut) this.#running.abort(overNow);
    return this.#running.signal;
  }

  /** The handler is to end. */
  stopHandler(): void {
    this.endHandler();
    this.#handler?.abort(new Suspension());
  }

  /** The handler has ended by itself: only what it leaves behind can still ask, and there is nothing more to do. */
  endHandler(): void {
    this.#isHandlerStopped = true;
  }

  /** No step is tried again. */
  forbidTries(): void {
    this.#areTriesForbidden = true;
    this.#tries?.abort(overNow);
  }

  /** Steps that run are to end now. */
  cutRunning(): void {
    this.#areRunningCut = true;
    this.#running?.abort(overNow);
  }
}
