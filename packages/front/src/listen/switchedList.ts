/**
 * Which handlers of one list came or went since clients were told last.
 *
 * `Subscriptions` notes each change and takes what is gathered. It compares lists, so that a notice of a change that is none
 * here tells nothing.
 */
import type { CompiledHandler } from "@reprise/runtime";

type Entries = readonly { readonly handler: CompiledHandler }[];

/** One list. */
export class SwitchedList {
  readonly #entriesNow: () => Entries;
  /** The list that clients were told of last. */
  #entries: Entries;
  #switched = new Set<CompiledHandler>();

  /** `entriesNow` gives the same array until it changes. */
  constructor(entriesNow: () => Entries) {
    this.#entriesNow = entriesNow;
    this.#entries = entriesNow();
  }

  /** The list is another one. */
  note(): void {
    const [before, after] = [handlersOf(this.#entries), handlersOf(this.#entriesNow())];
    this.#entries = this.#entriesNow();
    for (const handler of before) if (!after.has(handler)) this.#switched.add(handler);
    for (const handler of after) if (!before.has(handler)) this.#switched.add(handler);
  }

  /** What came or went, one that came back too: a client may have listed in between. */
  take(): ReadonlySet<CompiledHandler> {
    const switched = this.#switched;
    this.#switched = new Set();
    return switched;
  }
}

function handlersOf(entries: Entries): ReadonlySet<CompiledHandler> {
  return new Set(entries.map(({ handler }) => handler));
}
