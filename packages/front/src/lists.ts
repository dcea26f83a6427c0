/**
 * List results, serialized once.
 *
 * A list depends on the definition and on which scopes the caller has, nothing else, so each page is built once
 * per set of scopes and a request only gets an id in front of it. Without auth there are no scopes to lack and
 * everybody sees everything.
 *
 * A cursor is the name of the last entry before the page: it means the same on every instance and after a restart,
 * and stays right when entries come and go elsewhere in the list. One that names nothing here, or a tool that was
 * switched off meanwhile, is refused; clients then list from the start (MCP 2026-07-28, "Caching", "Interaction with
 * Pagination").
 */
import { RepriseError } from "@reprise/errors";
import type { JsonObject, JsonValue } from "@reprise/protocol";
import type { Caller, CompiledHandler } from "@reprise/runtime";

/** An entry of a list. */
export interface ListEntry {
  readonly wire: JsonObject;
  readonly handler: CompiledHandler;
}

/** The entries of a list as they are now: the same array until they change. */
export type EntriesNow = () => readonly ListEntry[];

/** A list whose entries change seldom: built at once, and again by the first request after a change. */
export function currentList(
  entriesNow: EntriesNow,
  build: (entries: readonly ListEntry[]) => PrebuiltList,
): () => PrebuiltList {
  let builtOf = entriesNow();
  let list = build(builtOf);
  return () => {
    const entries = entriesNow();
    if (entries === builtOf) return list;
    list = build(entries);
    builtOf = entries;
    return list;
  };
}

/** Sets of scopes whose pages are kept; more than real servers have, and a bound if one hands out many. */
const maxKeptSets = 64;

/** One of the four lists. */
export class PrebuiltList {
  readonly #member: string;
  readonly #entries: readonly ListEntry[];
  readonly #pageSize: number;
  readonly #render: (result: JsonObject) => string;
  /** Scopes that decide what is seen; undefined without auth. */
  readonly #deciding: readonly string[] | undefined;
  readonly #kept = new Map<string, Map<string | undefined, string>>();

  /** `member` is the result's member with the entries, such as `tools`. */
  constructor(
    member: string,
    entries: readonly ListEntry[],
    options: {
      readonly pageSize: number;
      readonly byScope: boolean;
      /** The text of a result: what is added to it depends on the revision. */
      readonly render: (result: JsonObject) => string;
    },
  ) {
    this.#member = member;
    this.#entries = entries;
    this.#pageSize = options.pageSize;
    this.#render = options.render;
    this.#deciding = options.byScope ? decidingScopes(entries) : undefined;
    this.page(undefined, undefined);
  }

  /**
   * The text of the result for a cursor as it came in `params`.
   * @throws RepriseError UNKNOWN_TARGET
   */
  page(cursor: JsonValue | undefined, caller: Caller | undefined): string {
    const pages = this.#pagesFor(caller);
    const after = cursor === undefined ? undefined : this.#readCursor(cursor);
    const known = pages.get(after);
    if (known !== undefined) return known;
    const visible = this.#visibleTo(caller);
    const start = after === undefined ? 0 : visible.findIndex((e) => e.handler.name === after) + 1;
    if (after !== undefined && start === 0) throw badCursor();
    const text = this.#build(visible, start);
    pages.set(after, text);
    return text;
  }

  #build(visible: readonly ListEntry[], start: number): string {
    const entries = visible.slice(start, start + this.#pageSize);
    const last = entries.at(-1);
    const more = last !== undefined && start + entries.length < visible.length;
    const result = {
      [this.#member]: entries.map((entry) => entry.wire),
      ...(more ? { nextCursor: this.#writeCursor(last.handler.name) } : {}),
    };
    return this.#render(result);
  }

  #visibleTo(caller: Caller | undefined): readonly ListEntry[] {
    if (this.#deciding === undefined) return this.#entries;
    return this.#entries.filter((entry) =>
      entry.handler.scopes.every((scope) => caller?.scopes.includes(scope)),
    );
  }

  #pagesFor(caller: Caller | undefined): Map<string | undefined, string> {
    const key =
      this.#deciding === undefined
        ? ""
        : JSON.stringify(this.#deciding.filter((scope) => caller?.scopes.includes(scope)));
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const pages = new Map<string | undefined, string>();
    if (this.#kept.size < maxKeptSets) this.#kept.set(key, pages);
    return pages;
  }

  #writeCursor(name: string): string {
    return Buffer.from(JSON.stringify([1, this.#member, name])).toString("base64url");
  }

  #readCursor(cursor: JsonValue): string {
    if (typeof cursor !== "string") throw badCursor();
    let parts: unknown;
    try {
      parts = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    } catch {
      throw badCursor();
    }
    if (!Array.isArray(parts)) throw badCursor();
    const [version, member, name] = parts as unknown[];
    if (version !== 1 || member !== this.#member || typeof name !== "string") throw badCursor();
    if (this.#writeCursor(name) !== cursor) throw badCursor();
    return name;
  }
}

function decidingScopes(entries: readonly ListEntry[]): readonly string[] {
  return [...new Set(entries.flatMap((entry) => entry.handler.scopes))].sort();
}

function badCursor(): RepriseError {
  return new RepriseError("UNKNOWN_TARGET", "The cursor is not one of this list.");
}
