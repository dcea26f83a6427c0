/**
 * Events of a run as text: those that were told together are one value, and what they say alike stands there once.
 *
 * Called by adapters of the history port. A run's events mostly come together and say the same of their run: one value for each would be
 * ten times the keys and bytes in the transactions that runs wait for.
 *
 * C1 The first and the newest events of a run are kept (`keptOf`). What a chunk holds beyond them, for being told together with them, is
 *    read by nobody.
 */
import { keptOf } from "./historyRules.ts";
import type { RunEvent, RunFacts } from "./observer.ts";

/** What an event says of its run: carried over to the next one unless that says otherwise. The run's id is known to who reads. */
const facts: ReadonlySet<string> = new Set(
  Object.keys({
    method: true,
    handler: true,
    effects: true,
    principal: true,
    client: true,
    protocolVersion: true,
    round: true,
    epoch: true,
    attempt: true,
    version: true,
    runStartedAt: true,
    instance: true,
  } satisfies Record<Exclude<keyof RunFacts, "runId">, true>),
);

type Members = Readonly<Record<string, unknown>>;

/** Events that follow each other. */
export interface HistoryChunk {
  /** Of the first of them; a run's numbers begin with 0. */
  readonly number: number;
  readonly text: string;
}

/** What is to be stored of a run's next events. @param number of the first of them @param told how many there are with them */
export function chunksOf(
  events: readonly RunEvent[],
  number: number,
  told: number,
): readonly HistoryChunk[] {
  const { first, newest } = keptOf(told);
  // Of these, the ones in the middle are not kept either.
  const early = events.slice(0, Math.max(0, first - number));
  const from = Math.max(first, newest, number);
  const late = events.slice(from - number);
  return [
    { number, text: chunkOf(early), count: early.length },
    { number: from, text: chunkOf(late), count: late.length },
  ].flatMap(({ count, ...chunk }) => (count === 0 ? [] : [chunk]));
}

/** The events that are kept of a run, oldest first (C1). @param chunks in order @param told how many events there were */
export function eventsIn(
  chunks: Iterable<HistoryChunk>,
  runId: string,
  told: number,
): readonly RunEvent[] {
  const { first, newest } = keptOf(told);
  return [...chunks].flatMap(({ number: start, text }) =>
    eventsOf(text, runId).filter((_, index) => {
      const number = start + index;
      return number < first || number >= newest;
    }),
  );
}

function chunkOf(events: readonly RunEvent[]): string {
  let before: Members = {};
  const parts = events.map(({ runId: _known, ...event }) => {
    const all: Members = event;
    const part: Record<string, unknown> = { ...all };
    for (const name of facts) {
      if (isSame(all[name], before[name])) delete part[name];
      // Null is no fact: it says that there is none any more.
      else part[name] = all[name] ?? null;
    }
    before = all;
    return part;
  });
  return JSON.stringify(parts);
}

function eventsOf(text: string, runId: string): readonly RunEvent[] {
  const parsed = JSON.parse(text) as Members | readonly Members[];
  // A value of its own for each event, as builds before the first release wrote it.
  const parts = Array.isArray(parsed) ? (parsed as readonly Members[]) : [parsed as Members];
  const known: Record<string, unknown> = { runId };
  return parts.map((part) => {
    const own: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(part)) {
      if (!facts.has(name)) own[name] = value;
      else if (value === null) delete known[name];
      else known[name] = value;
    }
    return { ...known, ...own } as unknown as RunEvent;
  });
}

/** Of facts: words and numbers, and the handler's kind and name. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null)
    return false;
  return JSON.stringify(one) === JSON.stringify(other);
}
