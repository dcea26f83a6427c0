import { type Entry, type Operation, ReplayCursor } from "@reprise/journal";

/** What reached the handler, in order. */
export const delivered: string[] = [];

const journal: readonly Entry[] = [
  { kind: "read_completed", name: "load order", value: '{"total":4990}', at: 1 },
  { kind: "step_completed", name: "refund", value: '"re_1"', at: 2 },
];

/** An operation that only notes what it is given. */
const operation = (kind: "step" | "read", name: string): Operation => ({
  kind,
  name,
  misfit: () => undefined,
  deliver: (entry) => delivered.push(`${entry.kind} ${name}`),
  goLive: () => false,
});

/** Resolves when the journal is delivered and the handler could go on by itself. */
export const replayed: Promise<void> = new Promise<void>((resolve) => {
  const cursor = new ReplayCursor(journal, {
    delivered: () => undefined,
    idle: () => resolve(),
    mismatch: ({ reason }) => delivered.push(`mismatch: ${reason}`),
  });
  // Asked for in the other order; delivered in the journal's.
  cursor.request(operation("step", "refund"));
  cursor.request(operation("read", "load order"));
});
