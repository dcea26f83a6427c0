/**
 * Two sides of a race, one store call at a time: a test says who goes next.
 *
 * A side is what one instance does for one request. Its calls are held before they reach the store and, where asked for, once more
 * before their replies reach the instance: so a race has an order for each way to mix the steps of both, and a test plays them all.
 */
import type { SharedRecords } from "@reprise/runtime";
import type { Instance } from "./instances.ts";

/** Which of several steps that wait at once goes first. */
export type Choice = "first" | "last";

/** A side's steps. */
export class Turns {
  /** Whether several ever waited at once. */
  hadChoice = false;
  readonly #waiting: (() => void)[] = [];
  #arrived: (() => void) | undefined;
  #isFree = false;

  /** Lets one step happen: the next that comes, unless `over` resolves before. False: the side had none. */
  async next(over: Promise<unknown>, choice: Choice = "first"): Promise<boolean> {
    await this.comes(over);
    if (this.#waiting.length > 1) this.hadChoice = true;
    const go = choice === "first" ? this.#waiting.shift() : this.#waiting.pop();
    go?.();
    return go !== undefined;
  }

  /** Resolves when a step waits, or `over` did. */
  async comes(over: Promise<unknown>): Promise<void> {
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    // Room for steps that follow from the one before.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length === 0 && !isOver) {
      const arrived = new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
      await Promise.race([arrived, over]);
    }
  }

  /** From now on nothing waits. */
  free(): void {
    this.#isFree = true;
    for (const go of this.#waiting.splice(0)) go();
  }

  /** Resolves when this step's turn has come. */
  wait(): Promise<void> {
    if (this.#isFree) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#arrived?.();
    });
  }
}

type CallName = Exclude<keyof SharedRecords, "listen">;
const callNames: readonly CallName[] = ["get", "put", "remove", "append", "read", "publish"];

/** Makes the calls of an instance, or those named, take turns, until the end that it returns. `replies`: their replies as well. */
export function takeTurns(
  { shared }: Instance,
  turns: Turns,
  { only = callNames, replies }: { readonly only?: readonly CallName[]; readonly replies: boolean },
): () => void {
  const before = { ...shared };
  const held = async <Reply>(work: () => Promise<Reply>): Promise<Reply> => {
    await turns.wait();
    const reply = await work();
    if (replies) await turns.wait();
    return reply;
  };
  const { get, put, remove, append, read, publish } = shared;
  const own: Omit<SharedRecords, "listen"> = {
    get: (key) => held(() => get(key)),
    put: (...args) => held(() => put(...args)),
    remove: (...args) => held(() => remove(...args)),
    append: (...args) => held(() => append(...args)),
    read: (...args) => held(() => read(...args)),
    publish: (...args) => held(() => publish(...args)),
  };
  for (const name of only) Object.assign(shared, { [name]: own[name] });
  return () => Object.assign(shared, before);
}
