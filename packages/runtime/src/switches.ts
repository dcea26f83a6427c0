/**
 * Tools and prompts that an operator or the author's code has switched off, for all instances of a server.
 *
 * Called by the engine, and through `server.tools` and `server.prompts`. What it says hides them from lists and from new
 * requests; runs that have begun are none of its business.
 *
 * W1 One shared record for each kind names what is off; whoever switches changes it by compare-and-set.
 * W2 The instance that switches knows it when its promise resolves, every other one within a second while it reaches the store:
 *    at once when it is told, else when it looks again. No instance goes back to what it knew before: of looks that cross, the
 *    one that began last counts.
 * W3 A switch is no lock: a call that an instance let in before it knew is served.
 * W4 A name that this release does not have stays in the record: another release may have it.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject } from "@reprise/journal";
import type { Change, Changes } from "./changes.ts";
import type { Clock } from "./clock.ts";
import { sha256 } from "./digest.ts";
import type { Logger } from "./logger.ts";
import type { Catalog } from "./runtimeTypes.ts";
import type { SharedRecord, SharedRecords } from "./sharedRecords.ts";

/** What switches handlers of one kind on and off, by name. */
export interface Switch {
  /** Lists and serves it again, here at once and on all instances within a second. @throws RangeError; RepriseError STORE_UNAVAILABLE */
  enable(name: string): Promise<void>;
  /**
   * Hides it from lists, and new calls get the error of an unknown one, here at once and on all instances within a second, and
   * after their restart. Runs that have begun go on, their questions included: cancel those that must not.
   * @throws RangeError for a name that the definition does not have; RepriseError STORE_UNAVAILABLE
   */
  disable(name: string): Promise<void>;
}

/** What switches are made of. */
export interface SwitchParts {
  readonly catalog: Catalog;
  readonly shared: SharedRecords;
  readonly changes: Changes;
  readonly clock: Clock;
  readonly log: Logger;
  /** Whose handlers they are. */
  readonly audience: string;
  /** No other process has these records: nothing changes unseen, and nothing has to be looked for. */
  readonly isAlone: boolean;
}

/** The kinds that can be switched: what the catalog calls them. */
type Switched = "tools" | "prompts";

const changed = { tools: "toolsChanged", prompts: "promptsChanged" } as const;
const LOOK_AGAIN_MS = 900;
/** As good as for ever; each change counts anew. */
const KEPT_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** So many conflicts in a row are an overload. */
const MAX_TRIES = 16;

/** The switches of one instance. */
export class Switches {
  readonly tools: KindSwitch;
  readonly prompts: KindSwitch;
  /** What is served: what is on. Its lists are the same arrays until they change. */
  readonly catalog: Catalog;

  constructor(parts: SwitchParts) {
    const tools = new KindSwitch("tools", parts);
    const prompts = new KindSwitch("prompts", parts);
    const all = parts.catalog;
    this.tools = tools;
    this.prompts = prompts;
    this.catalog = {
      ...all,
      get tools() {
        return tools.entries;
      },
      get prompts() {
        return prompts.entries;
      },
      findTool: (name) => (tools.isOff(name) ? undefined : all.findTool(name)),
      findPrompt: (name) => (prompts.isOff(name) ? undefined : all.findPrompt(name)),
    };
  }

  /** Looks now and then again and again. Resolves after the first looks, also when the store is away. */
  async start(): Promise<void> {
    await Promise.all([this.tools.start(), this.prompts.start()]);
  }

  /** Calls `listener` when others than before are on here; returns how to end that. */
  onChange(listener: (change: Change) => void): () => void {
    const ends = [this.tools.onChange(listener), this.prompts.onChange(listener)];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Looks no more. Idempotent. */
  close(): void {
    this.tools.close();
    this.prompts.close();
  }
}

/** The switches of one kind. */
class KindSwitch implements Switch {
  readonly #kind: Switched;
  readonly #parts: SwitchParts;
  readonly #key: { readonly kind: string; readonly id: string };
  readonly #listeners = new Set<(change: Change) => void>();
  #off: ReadonlySet<string> = new Set();
  #entries: Catalog[Switched];
  /** Looks that began. */
  #looks = 0;
  /** The look that counts: those that began before it know less (W2). */
  #known = 0;
  #stopHearing: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #isAway = false;
  #isClosed = false;

  constructor(kind: Switched, parts: SwitchParts) {
    this.#kind = kind;
    this.#parts = parts;
    this.#key = { kind: "flag", id: `${kind}-${sha256(parts.audience)}` };
    this.#entries = parts.catalog[kind];
  }

  /** Those that are on: the same array until they change. */
  get entries(): Catalog[Switched] {
    return this.#entries;
  }

  isOff(name: string): boolean {
    return this.#off.has(name);
  }

  async start(): Promise<void> {
    if (this.#parts.catalog[this.#kind].length === 0) return;
    this.#stopHearing = this.#parts.changes.onChange(({ kind }) => {
      if (kind === changed[this.#kind]) void this.#look();
    });
    await this.#beat();
  }

  enable(name: string): Promise<void> {
    return this.#switch(name, (off) => off.delete(name));
  }

  disable(name: string): Promise<void> {
    return this.#switch(name, (off) => off.size < off.add(name).size);
  }

  onChange(listener: (change: Change) => void): () => void {
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#stopHearing?.();
    this.#listeners.clear();
  }

  /** @param change says whether the set is another one now */
  async #switch(name: string, change: (off: Set<string>) => boolean): Promise<void> {
    const { catalog, shared, clock, changes } = this.#parts;
    if (!catalog[this.#kind].some(({ handler }) => handler.name === name)) {
      throw new RangeError(`${this.#kind} has no ${JSON.stringify(name)} to be switched`);
    }
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = await shared.get(this.#key);
      const off = new Set(offOf(record));
      const isChange = change(off);
      if (isChange) {
        const value = { off: [...off].sort() };
        const until = clock.now() + KEPT_MS;
        if ((await shared.put(this.#key, value, record?.revision, until)) === undefined) continue;
      }
      this.#looks += 1;
      this.#apply(off, this.#looks);
      return isChange ? changes.hint({ kind: changed[this.#kind] }) : undefined;
    }
    throw new RepriseError(
      "STORE_UNAVAILABLE",
      `the ${this.#kind} changed too often at the same time`,
      { data: { retryAfterMs: 1000 } },
    );
  }

  async #beat(): Promise<void> {
    await this.#look();
    if (this.#isClosed || this.#parts.isAlone) return;
    this.#cancelLook = this.#parts.clock.after(LOOK_AGAIN_MS, () => {
      void this.#beat();
    });
  }

  /** Never rejects: while the store is away, what was known stays in force. */
  async #look(): Promise<void> {
    this.#looks += 1;
    const look = this.#looks;
    try {
      const off = offOf(await this.#parts.shared.get(this.#key));
      this.#isAway = false;
      if (!this.#isClosed) this.#apply(new Set(off), look);
    } catch (error) {
      if (!this.#isAway && !this.#isClosed) {
        const what = `which ${this.#kind} are switched off can't be looked up`;
        this.#parts.log.warn({ err: error }, what);
      }
      this.#isAway = true;
    }
  }

  #apply(off: ReadonlySet<string>, look: number): void {
    if (look < this.#known) return;
    this.#known = look;
    const isSame = off.size === this.#off.size && [...off].every((name) => this.#off.has(name));
    if (isSame) return;
    this.#off = off;
    this.#entries = this.#parts.catalog[this.#kind].filter(({ handler }) => !off.has(handler.name));
    for (const listener of [...this.#listeners]) listener({ kind: changed[this.#kind] });
  }
}

function offOf(record: SharedRecord | undefined): readonly string[] {
  if (record === undefined || !isJsonObject(record.value)) return [];
  const { off } = record.value;
  return Array.isArray(off) ? off.filter((name) => typeof name === "string") : [];
}
