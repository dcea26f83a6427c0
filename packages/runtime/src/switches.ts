/**
 * Tools that an operator or the author's code has switched off, for all instances of a server.
 *
 * Called by the engine, and through `server.tools`. What it says hides tools from lists and from new requests; runs that have
 * begun are none of its business.
 *
 * W1 One shared record names the tools that are off; whoever switches changes it by compare-and-set.
 * W2 Every instance knows it at its start, and a change within a second: at once when it is told, else when it looks again.
 * W3 A name that this release does not have stays in the record: another release may have it.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject } from "@reprise/journal";
import type { Changes } from "./changes.ts";
import type { Clock } from "./clock.ts";
import { sha256 } from "./digest.ts";
import type { Logger } from "./logger.ts";
import type { Catalog } from "./runtimeTypes.ts";
import type { SharedRecord, SharedRecords } from "./sharedRecords.ts";

/** What switches tools on and off. */
export interface ToolSwitch {
  /** Lists and serves the tool again, on all instances within a second. @throws RangeError; RepriseError STORE_UNAVAILABLE */
  enable(name: string): Promise<void>;
  /**
   * Hides the tool from lists, and new calls get the error of an unknown one, on all instances within a second and after their
   * restart. Runs that workers and sweeps have go on; a person's answer to one of its questions is refused meanwhile.
   * @throws RangeError for a name that no tool has; RepriseError STORE_UNAVAILABLE
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
  /** Whose tools they are. */
  readonly audience: string;
  /** No other process has these records: nothing changes unseen, and nothing has to be looked for. */
  readonly isAlone: boolean;
}

const LOOK_AGAIN_MS = 900;
/** As good as for ever; each change counts anew. */
const KEPT_MS = 10 * 365 * 24 * 60 * 60 * 1000;
/** So many conflicts in a row are an overload. */
const MAX_TRIES = 16;

/** The switches of one instance. */
export class ToolSwitches implements ToolSwitch {
  /** What is served: the tools that are on. */
  readonly catalog: Catalog;
  readonly #parts: SwitchParts;
  readonly #key: { readonly kind: string; readonly id: string };
  readonly #listeners = new Set<() => void>();
  #off: ReadonlySet<string> = new Set();
  #stopHearing: (() => void) | undefined;
  #cancelLook: (() => void) | undefined;
  #isAway = false;
  #isClosed = false;

  constructor(parts: SwitchParts) {
    this.#parts = parts;
    this.#key = { kind: "flag", id: `tools-${sha256(parts.audience)}` };
    this.catalog = this.#served(parts.catalog);
  }

  /** Looks now and then again and again. Resolves after the first look, also when the store is away. */
  async start(): Promise<void> {
    if (this.#parts.catalog.tools.length === 0) return;
    this.#stopHearing = this.#parts.changes.onChange(({ kind }) => {
      if (kind === "toolsChanged") void this.#look();
    });
    await this.#beat();
  }

  enable(name: string): Promise<void> {
    return this.#switch(name, (off) => off.delete(name));
  }

  disable(name: string): Promise<void> {
    return this.#switch(name, (off) => off.size < off.add(name).size);
  }

  /** Calls `listener` when other tools than before are on here; returns how to end that. */
  onChange(listener: () => void): () => void {
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Looks no more. Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#stopHearing?.();
    this.#listeners.clear();
  }

  /** @param change says whether the set is another one now */
  async #switch(name: string, change: (off: Set<string>) => boolean): Promise<void> {
    const { catalog, shared, clock, changes } = this.#parts;
    if (catalog.findTool(name) === undefined) {
      throw new RangeError(`there is no tool ${JSON.stringify(name)} to be switched`);
    }
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const record = await shared.get(this.#key);
      const off = new Set(offOf(record));
      if (!change(off)) return this.#apply(off);
      const value = { off: [...off].sort() };
      const until = clock.now() + KEPT_MS;
      if ((await shared.put(this.#key, value, record?.revision, until)) === undefined) continue;
      this.#apply(off);
      return changes.hint({ kind: "toolsChanged" });
    }
    throw new RepriseError("STORE_UNAVAILABLE", "the tools changed too often at the same time", {
      data: { retryAfterMs: 1000 },
    });
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
    try {
      const off = offOf(await this.#parts.shared.get(this.#key));
      this.#isAway = false;
      if (!this.#isClosed) this.#apply(new Set(off));
    } catch (error) {
      if (!this.#isAway && !this.#isClosed) {
        this.#parts.log.warn({ err: error }, "which tools are switched off can't be looked up");
      }
      this.#isAway = true;
    }
  }

  #apply(off: ReadonlySet<string>): void {
    const isSame = off.size === this.#off.size && [...off].every((name) => this.#off.has(name));
    if (isSame) return;
    this.#off = off;
    for (const listener of [...this.#listeners]) listener();
  }

  /** The list is one array until it changes: fronts render it once. */
  #served(all: Catalog): Catalog {
    let renderedFor = this.#off;
    let tools = all.tools;
    const listed = (): Catalog["tools"] => {
      if (renderedFor === this.#off) return tools;
      renderedFor = this.#off;
      tools = all.tools.filter(({ handler }) => !this.#off.has(handler.name));
      return tools;
    };
    return {
      ...all,
      get tools() {
        return listed();
      },
      findTool: (name) => (this.#off.has(name) ? undefined : all.findTool(name)),
    };
  }
}

function offOf(record: SharedRecord | undefined): readonly string[] {
  if (record === undefined || !isJsonObject(record.value)) return [];
  const { off } = record.value;
  return Array.isArray(off) ? off.filter((name) => typeof name === "string") : [];
}
