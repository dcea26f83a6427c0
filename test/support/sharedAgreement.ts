/**
 * Random sequences of calls against an adapter of shared records and against the records of one process, the model.
 *
 * Called by the tests of the adapters. Keys, times and limits are few, so that calls meet; revisions differ between the two, so
 * each is named by the write that gave it.
 */
import assert from "node:assert/strict";
import { createProcessRecords, type SharedKey, type SharedRecords } from "@reprise/runtime";
import type { SharedHarness } from "@reprise/testing";
import fc from "fast-check";

/** One call. Numbers choose among what the sequence has made so far. */
interface Step {
  readonly call: "get" | "put" | "remove" | "append" | "read" | "advance";
  readonly place: number;
  readonly key: number;
  /** Which revision of those that were given to this key, from the newest back; beyond them: none. */
  readonly back: number;
  readonly size: number;
  readonly lifeMs: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  call: fc.constantFrom(
    "get",
    "put",
    "put",
    "put",
    "remove",
    "append",
    "append",
    "append",
    "read",
    "advance",
  ),
  place: fc.nat({ max: 1 }),
  key: fc.nat({ max: 2 }),
  back: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 4 })),
  size: fc.nat({ max: 5 }),
  lifeMs: fc.constantFrom(-1, 0, 1, 50, 1_000, 60_000, 3_600_000),
});

/** One of the two under a sequence. */
class Player {
  readonly #places: readonly SharedRecords[];
  readonly #now: () => number;
  /** Revisions by key, the newest first; undefined where a removal came in between. */
  readonly #given = new Map<string, (string | undefined)[]>();
  /** The write that gave a revision. */
  readonly #writes = new Map<string, number>();
  #count = 0;

  constructor(places: readonly SharedRecords[], now: () => number) {
    this.#places = places;
    this.#now = now;
  }

  async play({ call, place, key, back, size, lifeMs }: Step): Promise<unknown> {
    this.#count += 1;
    const shared = this.#places[place] ?? assert.fail();
    const at: SharedKey = { kind: "kind", id: `id${key}` };
    const given = this.#given.get(at.id) ?? [];
    this.#given.set(at.id, given);
    const expiresAt = this.#now() + lifeMs;
    switch (call) {
      case "get": {
        const record = await shared.get(at);
        return record && { ...record, revision: this.#writes.get(record.revision) };
      }
      case "put": {
        const value = { n: this.#count, list: Array.from({ length: size }, () => "é") };
        const revision = await shared.put(at, value, given[back], expiresAt);
        if (revision === undefined) return "refused";
        assert.ok(!this.#writes.has(revision), "a revision was given twice");
        this.#writes.set(revision, this.#count);
        given.unshift(revision);
        return "written";
      }
      case "remove": {
        const removed = await shared.remove(at, given[back] ?? "never");
        if (removed) given.unshift(undefined);
        return removed;
      }
      case "append": {
        const items = Array.from({ length: size }, (_, index) => `${this.#count}.${index}`);
        return shared.append(at, items, { expiresAt, keep: 1 + back * 2 });
      }
      case "read":
        return shared.read(at, size * 2, 1 + back);
      case "advance":
        return undefined;
    }
  }
}

/** Rejects with the shortest sequence that was found on which the two differ. */
export async function agreeOnSharedRecords(
  harnessOf: () => SharedHarness | Promise<SharedHarness>,
  parameters: { readonly numRuns: number; readonly seed: number },
): Promise<void> {
  const sequences = fc.array(step, { minLength: 5, maxLength: 60, size: "max" });
  const property = fc.asyncProperty(sequences, async (steps) => {
    const harness = await harnessOf();
    const { now } = harness;
    const model = createProcessRecords(now);
    const expected = new Player([model, model], now);
    const places = [await harness.open(), await harness.open()];
    const actual = new Player(
      places.map(({ shared }) => shared),
      now,
    );
    for (const one of steps) {
      if (one.call === "advance") await harness.advance(Math.max(0, one.lifeMs));
      assert.deepEqual(await actual.play(one), await expected.play(one));
    }
    for (const place of places) await place.close?.();
  });
  await fc.assert(property, parameters);
}
