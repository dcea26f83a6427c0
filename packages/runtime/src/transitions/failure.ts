/**
 * Where an ended run goes on from: its failed step (docs/design.md 4.3), for a repeated first call and for an operator.
 */
import { cutAtFailure, type Entry, nameOf } from "@reprise/journal";
import type { BroughtAnswer, RunHead } from "../runRecord.ts";
import type { StoredRun } from "./env.ts";

/** A run as it was before its first failure that no completed step follows. */
export interface BeforeFailure {
  readonly head: RunHead;
  /** Answers that were taken behind the failure: the same question takes them again. */
  readonly brought: RunHead["brought"];
  readonly kept: readonly Entry[];
}

/** The run before its failure; all of it when no step or read failed. */
export function beforeFailure(run: StoredRun): BeforeFailure {
  const entries = run.entries();
  const { kept, standing } = cutAtFailure(entries);
  // Entries, not assignments: an ask's key may be the name of an object's insides.
  const brought: [key: string, answer: BroughtAnswer][] = [];
  for (const taken of standing) {
    const digest = run.head.settled[taken.key]?.answer;
    if (digest === undefined) continue;
    const { key, question, answer: value, error } = taken;
    const failed = error === undefined ? {} : { error };
    brought.push([key, { value, digest, question, ...failed }]);
  }
  // What was written to the state behind the failure belongs to what is cut away.
  const drafts = run.head.draftsAtFailure ?? run.head.drafts;
  const head: RunHead = {
    ...run.head,
    drafts,
    draftsAtFailure: undefined,
    entryCount: kept.length,
    response: undefined,
    passable: passableAfter(run.head, entries[kept.length]),
  };
  return { head, brought: Object.fromEntries(brought), kept };
}

/** Of the marked steps all but the one that failed: the handler comes to that one again, whatever it does afterwards. */
function passableAfter(head: RunHead, failure: Entry | undefined): readonly string[] | undefined {
  const names = Object.keys(head.marks).filter((name) => name !== (failure && nameOf(failure)));
  return names.length === 0 ? undefined : names;
}
