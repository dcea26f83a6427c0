/**
 * Calls that are not over, kept in the browser over reloads and restarts: the client's saved call, and the messages that passed.
 *
 * Written by the session at every turn. Invariants:
 *
 * 1. One entry a call, named by its idempotency key, so that two tabs don't write over each other's calls.
 * 2. What is not as written here is dropped and never believed: the storage is everybody's on this origin.
 * 3. A storage that is full or switched off loses the keeping and never the call.
 */
import { parseSavedCall, type SavedCall } from "reprise/client/browser";
import type { Passed } from "./recorder.ts";

/** A call that can be gone on with. */
export interface KeptCall {
  readonly call: SavedCall;
  readonly passed: readonly Passed[];
}

/** What of `localStorage` is used. */
export interface CallStorage {
  readonly length: number;
  key(index: number): string | null;
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

const PREFIX = "reprise.host.call.";
const VERSION = 1;

/** See the top of this file. */
export class KeptCalls {
  readonly #storage: CallStorage | undefined;

  /** Undefined: nothing is kept. */
  constructor(storage: CallStorage | undefined) {
    this.#storage = storage;
  }

  /** Those of the endpoint, in no order. */
  of(mcpUrl: string): readonly KeptCall[] {
    const storage = this.#storage;
    if (storage === undefined) return [];
    const names = Array.from({ length: storage.length }, (_, index) => storage.key(index));
    return names.flatMap((name) => {
      if (name === null || !name.startsWith(PREFIX)) return [];
      const kept = parsed(storage.getItem(name) ?? "");
      if (kept === undefined) storage.removeItem(name);
      return kept === undefined || kept.call.url !== mcpUrl ? [] : [kept];
    });
  }

  /** Whether it was kept. */
  keep({ call, passed }: KeptCall): boolean {
    if (this.#storage === undefined) return false;
    try {
      this.#storage.setItem(
        `${PREFIX}${call.idempotencyKey}`,
        JSON.stringify({ version: VERSION, call, passed }),
      );
      return true;
    } catch {
      return false;
    }
  }

  forget({ idempotencyKey }: SavedCall): void {
    this.#storage?.removeItem(`${PREFIX}${idempotencyKey}`);
  }
}

function parsed(text: string): KeptCall | undefined {
  try {
    const value = JSON.parse(text) as Partial<Record<"version" | "call" | "passed", unknown>>;
    if (value.version !== VERSION || !Array.isArray(value.passed)) return undefined;
    return {
      call: parseSavedCall(JSON.stringify(value.call)),
      passed: value.passed.filter(isPassed),
    };
  } catch {
    return undefined;
  }
}

function isPassed(value: unknown): value is Passed {
  if (typeof value !== "object" || value === null) return false;
  const { direction, line, headers, exchange } = value as Partial<Record<keyof Passed, unknown>>;
  const isDirection = direction === "sent" || direction === "received";
  return (
    isDirection &&
    typeof line === "string" &&
    Array.isArray(headers) &&
    typeof exchange === "string"
  );
}
