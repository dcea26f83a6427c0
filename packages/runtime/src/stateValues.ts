/**
 * `ctx.state` of one attempt.
 *
 * At the start of an attempt the values are what they were when the last round ended, also for a take-over
 * (docs/design.md 2). A write that a started step may have seen is durable before that step; a later attempt of the round that
 * writes the same key for the n-th time gets the recorded n-th value, so the step's inputs are the same.
 */
import { RepriseError } from "@reprise/errors";
import type { RunState } from "./contextTypes.ts";
import type { RunHead } from "./runRecord.ts";

type Drafts = Record<string, (string | null)[]>;

/** State values of one attempt. */
export class StateValues {
  /** Made for the first: most handlers keep none. */
  #values: Map<string, string> | undefined;
  #recorded: RunHead["drafts"];
  #drafts: Drafts = {};
  readonly #changed: (drafts: RunHead["drafts"]) => void;

  constructor(
    start: Readonly<Record<string, string>>,
    recorded: RunHead["drafts"],
    changed: (drafts: RunHead["drafts"]) => void,
  ) {
    const values = Object.entries(start);
    if (values.length > 0) this.#values = new Map(values);
    this.#recorded = recorded;
    this.#changed = changed;
  }

  /** The values now. */
  snapshot(): Readonly<Record<string, string>> {
    return this.#values === undefined ? {} : Object.fromEntries(this.#values);
  }

  /** The round has ended with the values as they are: what is written from now on belongs to the next one. */
  endRound(): void {
    this.#recorded = {};
    this.#drafts = {};
  }

  /** Writes since the last round ended; undefined: none. */
  get drafts(): RunHead["drafts"] | undefined {
    return Object.keys(this.#drafts).length === 0 ? undefined : this.#merged();
  }

  /** `ctx.state`; `check` throws once the attempt has ended. */
  view(check: () => void): RunState {
    return {
      get: (key) => {
        check();
        return this.#values?.get(key);
      },
      has: (key) => {
        check();
        return this.#values?.has(key) === true;
      },
      set: (key, value) => {
        check();
        requireString(key, "key");
        requireString(value, "value");
        this.#write(key, value);
      },
      delete: (key) => {
        check();
        const had = this.#values?.has(key) === true;
        this.#write(key, null);
        return had;
      },
    };
  }

  #write(key: string, value: string | null): void {
    const own = Object.hasOwn(this.#drafts, key) ? (this.#drafts[key] ?? []) : [];
    const recorded = Object.hasOwn(this.#recorded, key)
      ? this.#recorded[key]?.[own.length]
      : undefined;
    const effective = recorded === undefined ? value : recorded;
    Object.defineProperty(this.#drafts, key, {
      value: [...own, effective],
      enumerable: true,
      configurable: true,
      writable: true,
    });
    if (effective === null) this.#values?.delete(key);
    else {
      this.#values ??= new Map();
      this.#values.set(key, effective);
    }
    if (recorded === undefined) this.#changed(this.#merged());
  }

  /** Recorded writes that this attempt has not come to yet stay recorded: a started step may have seen them. */
  #merged(): RunHead["drafts"] {
    const keys = new Set([...Object.keys(this.#recorded), ...Object.keys(this.#drafts)]);
    return Object.fromEntries(
      [...keys].map((key) => {
        const own = Object.hasOwn(this.#drafts, key) ? (this.#drafts[key] ?? []) : [];
        const recorded = Object.hasOwn(this.#recorded, key) ? (this.#recorded[key] ?? []) : [];
        return [key, [...own, ...recorded.slice(own.length)]];
      }),
    );
  }
}

function requireString(value: unknown, what: string): void {
  if (typeof value === "string") return;
  throw new RepriseError(
    "VALUE_UNSUPPORTED",
    `ctx.state takes strings; the ${what} is a ${typeof value}`,
  );
}
