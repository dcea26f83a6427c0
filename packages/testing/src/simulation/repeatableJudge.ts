/**
 * Judges runs whose effects may repeat (docs/design.md 4.1): their journal rides in the state, and nothing else knows them.
 *
 * Called by the fleet for each state that it sees leave, and at the end of a case.
 *
 * P1 What a state holds is in every state that is made from it, word for word and in the same order, whatever answers came
 *    along: a contradicting answer changes nothing that was sealed.
 * P2 A step or read that is in every state of a round is not entered in that round.
 * P3 The store is not touched, but for the records of URL asks.
 * P4 A question that stays open is the same one, word for word, unless a deploy changed it. (By its digest.)
 * P5 A page that is asked for again is one that was asked for before, at most 5 times under one digest.
 */
import { isDeepStrictEqual } from "node:util";
import { type Entry, nameOf } from "@reprise/journal";
import type { SealedState } from "./sealedStates.ts";
import { Violation } from "./violation.ts";
import type { World } from "./world.ts";

/** How often a page may be asked for again. */
const MOST_UNFINISHED = 5;

/** @param parent the state that the request carried; undefined for a first call. @throws Violation for P1, P4 and P5 */
export function judgeSealed(
  parent: SealedState | undefined,
  child: SealedState,
  isDeployed: boolean,
): void {
  // One with a record: P3 finds that.
  if (child.kind !== "repeatable") return;
  const round = (parent?.round ?? 0) + 1;
  if (child.round !== round) throw new Violation(`round ${round} is sealed as ${child.round}`);
  if (parent !== undefined) {
    for (const member of ["run", "seed", "startedAt"] as const) {
      if (parent[member] !== child[member]) {
        throw new Violation(`${member} of ${parent.run} was sealed anew: ${child[member]}`);
      }
    }
    const [before, after] = [parent.entries ?? [], child.entries ?? []];
    before.forEach((entry, place) => {
      if (isDeepStrictEqual(after[place], entry)) return;
      const [was, is] = [JSON.stringify(entry), JSON.stringify(after[place])];
      throw new Violation(`what was sealed of ${child.run} changed: ${was} / ${is}`);
    });
  }
  for (const { key, question, unfinished = 0 } of child.pending ?? []) {
    const open = parent?.pending?.find((one) => one.key === key);
    if (open !== undefined && open.question !== question && !isDeployed) {
      throw new Violation(`question "${key}" of ${child.run} changed from one round to the next`);
    }
    const before = open?.question === question ? open : undefined;
    const since = unfinished - (before?.unfinished ?? 0);
    if (unfinished > MOST_UNFINISHED || since < 0 || since > 1) {
      throw new Violation(`page "${key}" was asked for again ${unfinished} times, now ${since}`);
    }
  }
}

/** @throws Violation for P2 and P3 */
export function judgeRepeatable(world: World, states: readonly SealedState[]): void {
  const inEvery = new Map<string, ReadonlySet<string>>();
  for (const { run, round, entries = [] } of states) {
    const place = `${run} round ${round}`;
    const own = new Set(entries.filter(isEffect).map(nameOf));
    const before = inEvery.get(place);
    inEvery.set(place, before === undefined ? own : new Set([...before].filter((n) => own.has(n))));
  }
  for (const one of world.log) {
    if (one.is === "storeUsed" && !one.what.startsWith("page ")) {
      throw new Violation(`a repeatable run made a call of the store: ${one.what}`);
    }
    if (one.is !== "entered" && one.is !== "read") continue;
    if (inEvery.get(`${one.run} round ${one.round}`)?.has(one.name) === true) {
      throw new Violation(`${one.name} is sealed in round ${one.round} and was entered again`);
    }
  }
}

function isEffect({ kind }: Entry): boolean {
  return kind.startsWith("step_") || kind.startsWith("read");
}
