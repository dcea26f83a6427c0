/**
 * The data behind memory stores: what several of them share when they play processes on one data directory.
 *
 * Called by `memoryStore.ts` only. It decides nothing: transitions do, and this keeps what they return.
 *
 * D1 Values are kept as JSON text, so a reader never sees an object that a writer still holds, and what JSON drops
 *    (undefined members) is dropped here as in a store on disk.
 * D2 `apply` writes all of a transition or, when it throws, nothing: everything is encoded before anything is set.
 */
import type { Entry } from "@reprise/journal";
import {
  type KeyRecord,
  keyAfter,
  type RunHead,
  type RunOrigin,
  type RunRecord,
  type StoredRun,
  type Transition,
} from "@reprise/runtime";

interface RunText {
  readonly origin: string;
  /** Decoded; given to nobody (D1). */
  readonly own: RunOrigin;
  head: string;
  readonly entries: string[];
}

/** Everything that is stored, as a test may look at it. */
export interface MemorySnapshot {
  readonly runs: readonly RunRecord[];
  /** By scope digest. */
  readonly keys: Readonly<Record<string, KeyRecord>>;
}

/** A run as it was read: most who read one look at its head alone, so the origin is decoded when it is asked for. */
class ReadRun implements StoredRun {
  readonly head: RunHead;
  readonly #text: Pick<RunText, "origin" | "entries">;
  #origin: RunOrigin | undefined;

  constructor({ origin, head, entries }: RunText) {
    this.head = JSON.parse(head) as RunHead;
    this.#text = { origin, entries };
  }

  get origin(): RunOrigin {
    this.#origin ??= JSON.parse(this.#text.origin) as RunOrigin;
    return this.#origin;
  }

  entries(): readonly Entry[] {
    return this.#text.entries.map((entry) => JSON.parse(entry) as Entry);
  }
}

/** Records shared by the memory stores of one test. */
export class MemoryRecords {
  readonly #runs = new Map<string, RunText>();
  readonly #keys = new Map<string, string>();
  readonly #watchers = new Map<string, Set<() => void>>();

  run(runId: string): StoredRun | undefined {
    const text = this.#runs.get(runId);
    if (text === undefined) return undefined;
    return new ReadRun(text);
  }

  /** The head alone, for those who only look where a run stands. */
  head(runId: string): RunHead | undefined {
    const text = this.#runs.get(runId);
    return text === undefined ? undefined : (JSON.parse(text.head) as RunHead);
  }

  key(scope: string): KeyRecord | undefined {
    const text = this.#keys.get(scope);
    return text === undefined ? undefined : (JSON.parse(text) as KeyRecord);
  }

  runIds(): readonly string[] {
    return [...this.#runs.keys()];
  }

  /** Keeps what a transition of `runId` decided, and wakes who watches the runs it wrote. */
  apply(transition: Transition<unknown>, runId: string, scope: string | undefined): void {
    const { write, key, displaced } = transition;
    if (write === undefined) return;
    const id = write.origin?.runId ?? runId;
    const before = this.#runs.get(id);
    const originText = write.origin === undefined ? before?.origin : JSON.stringify(write.origin);
    if (originText === undefined)
      throw new Error(`a transition wrote run ${id}, which does not exist`);
    const known = write.origin === undefined ? before?.own : undefined;
    const origin = known ?? (JSON.parse(originText) as RunOrigin);
    const kept = (before?.entries ?? []).slice(0, write.cutEntriesAt);
    const appended = (write.append ?? []).map((entry) => JSON.stringify(entry));
    if (appended.length > 0 && write.appendAt !== kept.length) {
      throw new Error(`a transition of run ${id} leaves a gap in its journal`);
    }
    const head = JSON.stringify(write.head);
    const follows = origin.key && keyAfter(this.key(origin.key.scope), origin, write.head);
    const displacedHead = displaced === undefined ? undefined : JSON.stringify(displaced.head);

    this.#runs.set(id, { origin: originText, own: origin, head, entries: [...kept, ...appended] });
    if (displaced !== undefined && displacedHead !== undefined) {
      const other = this.#runs.get(displaced.runId);
      if (other !== undefined) other.head = displacedHead;
    }
    if (key !== undefined && scope !== undefined) this.#keys.set(scope, JSON.stringify(key));
    else if (follows !== undefined && origin.key !== undefined) {
      this.#keys.set(origin.key.scope, JSON.stringify(follows));
    }
    this.wake(id);
    if (displaced !== undefined) this.wake(displaced.runId);
  }

  remove(runId: string): void {
    const run = this.run(runId);
    if (run === undefined) return;
    this.#runs.delete(runId);
    const scope = run.origin.key?.scope;
    if (scope !== undefined && this.key(scope)?.runId === runId) this.#keys.delete(scope);
    this.wake(runId);
  }

  /** Calls `woken` after each write of the run, until the returned function is called. */
  subscribe(runId: string, woken: () => void): () => void {
    const watchers = this.#watchers.get(runId) ?? new Set();
    this.#watchers.set(runId, watchers);
    watchers.add(woken);
    return () => {
      watchers.delete(woken);
      if (watchers.size === 0 && this.#watchers.get(runId) === watchers)
        this.#watchers.delete(runId);
    };
  }

  wake(runId: string): void {
    for (const woken of [...(this.#watchers.get(runId) ?? [])]) woken();
  }

  wakeAll(): void {
    for (const runId of [...this.#watchers.keys()]) this.wake(runId);
  }

  snapshot(): MemorySnapshot {
    const runs = this.runIds().flatMap((runId) => {
      const run = this.run(runId);
      return run === undefined
        ? []
        : [{ origin: run.origin, head: run.head, entries: run.entries() }];
    });
    const keys = [...this.#keys].map(
      ([scope, text]) => [scope, JSON.parse(text) as KeyRecord] as const,
    );
    return { runs, keys: Object.fromEntries(keys) };
  }
}
