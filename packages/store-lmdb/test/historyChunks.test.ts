/**
 * Events that were told together come back as they were told, whatever changed between them.
 */
import type { RunEvent } from "@reprise/runtime";
import { createMemoryHistory } from "@reprise/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { freshDirectory, openStore } from "./support/stores.ts";

const word = fc.constantFrom("a", "b", "__proto__", "", "ä\u2028");
const count = fc.nat({ max: 3 });

const facts = fc.record(
  {
    method: fc.constantFrom("tools/call", "prompts/get"),
    handler: fc.record({ kind: word, name: word }, { noNullPrototype: true }),
    effects: fc.constantFrom("once", "repeatable"),
    principal: word,
    client: fc.option(word, { nil: undefined }),
    protocolVersion: word,
    round: count,
    epoch: count,
    version: word,
    instance: word,
    attempt: count,
    runStartedAt: count,
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      ...(["method", "handler", "effects", "principal", "client", "protocolVersion"] as const),
      ...(["round", "epoch", "version", "instance"] as const),
    ],
  },
);

const happening = fc.oneof(
  fc.constant({ type: "attempt_started", cause: "call" }),
  fc.record({
    type: fc.constant("asked"),
    asks: fc.array(fc.record({ key: word, kind: fc.constant("confirm") }), { maxLength: 2 }),
    until: count,
  }),
  fc.record({
    type: fc.constant("step_ended"),
    step: word,
    outcome: fc.constantFrom("completed", "uncertain"),
    tries: count,
    durationMs: count,
    undo: fc.boolean(),
  }),
);

const event = fc
  .tuple(facts, happening, count)
  .map(([said, what, at]) => ({ runId: "run", ...said, at: Date.now() + at, ...what }) as RunEvent);

const plain = (events: readonly RunEvent[]): unknown => JSON.parse(JSON.stringify(events));

describe("the history of the embedded store", () => {
  test("gives back what was told, as the history in memory does, however it was told", async () => {
    const { history } = await openStore({ directory: freshDirectory() });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(event, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 }),
        async (calls) => {
          run += 1;
          const runId = `run${run}`;
          const memory = createMemoryHistory(() => Date.now());
          for (const events of calls) {
            const told = events.map((one) => ({ ...one, runId }));
            await history.record(told);
            await memory.record(told);
          }
          const timeline = await history.timeline(runId);
          expect(plain(timeline)).toEqual(plain(calls.flat().map((one) => ({ ...one, runId }))));
          expect(plain(timeline)).toEqual(plain(await memory.timeline(runId)));
          expect(await history.summary(runId)).toEqual(await memory.summary(runId));
        },
      ),
      { numRuns: 100 },
    );
  });

  test("of a run of very many events keeps the first and the newest, told in calls of any length", async () => {
    const { history } = await openStore({ directory: freshDirectory() });
    const lengths = fc.sample(fc.integer({ min: 1, max: 180 }), { numRuns: 40, seed: 3 });
    const told: RunEvent[] = [];
    const [first] = fc.sample(event, { numRuns: 1, seed: 1 });
    if (first === undefined) throw new Error("nothing was drawn");
    for (const length of lengths) {
      const events = Array.from({ length }, (_, index) => ({
        ...first,
        at: first.at + told.length + index,
      }));
      await history.record(events);
      told.push(...events);
      const kept = told.length <= 500 ? told : [...told.slice(0, 50), ...told.slice(-450)];
      const timeline = await history.timeline("run");
      expect(timeline.map(({ at }) => at)).toEqual(kept.map(({ at }) => at));
    }
  });
});
