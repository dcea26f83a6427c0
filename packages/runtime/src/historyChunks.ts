/**
 * Events of a run as text: those that were told together are one value, and what they say alike stands there once.
 *
 * Called by the history table. A run's events mostly come together and say the same of their run: one value for each would be ten times
 * the keys and bytes in the transactions that runs wait for.
 */
import type { RunEvent, RunFacts } from "@reprise/runtime";

/** What an event says of its run: carried over to the next one unless that says otherwise. */
const facts: ReadonlySet<string> = new Set(
  Object.keys({
    runId: true,
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
  } satisfies Record<keyof RunFacts, true>),
);

type Members = Readonly<Record<string, unknown>>;

/** Events that follow each other, as text. */
export function chunkOf(events: readonly RunEvent[]): string {
  let before: Members = {};
  const parts = events.map((event) => {
    const all: Members = { ...event };
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

/** The events of a text. */
export function eventsOf(text: string): readonly RunEvent[] {
  const parsed = JSON.parse(text) as Members | readonly Members[];
  // A value of its own for each event, as builds before the first release wrote it.
  const parts = Array.isArray(parsed) ? (parsed as readonly Members[]) : [parsed as Members];
  const known: Record<string, unknown> = {};
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
