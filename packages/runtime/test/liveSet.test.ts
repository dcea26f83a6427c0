/**
 * The set of what comes and goes, against a plain one.
 */

import { LiveSet } from "@reprise/runtime";
import fc from "fast-check";
import { expect, test } from "vitest";
import { seed } from "../../../test/support/config.ts";

test("holds what a set would hold, whatever comes and goes in which order", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20), { maxLength: 200 }), (moves) => {
      const members = Array.from({ length: 21 }, (_, id) => ({ id, slot: -1 }));
      const live = new LiveSet<(typeof members)[number]>();
      const plain = new Set<(typeof members)[number]>();
      for (const move of moves) {
        const member = members[move] as (typeof members)[number];
        if (plain.delete(member)) live.delete(member);
        else {
          plain.add(member);
          live.add(member);
        }
        expect(live.size).toBe(plain.size);
      }
      const byId = (one: { id: number }, other: { id: number }): number => one.id - other.id;
      expect(live.members().toSorted(byId)).toEqual([...plain].toSorted(byId));
    }),
    { seed },
  );
});

test("gives the members of one moment, though they leave while they are gone through", () => {
  const live = new LiveSet<{ id: number; slot: number }>();
  for (let id = 0; id < 5; id += 1) live.add({ id, slot: -1 });
  const seen: number[] = [];
  for (const member of live.members()) {
    seen.push(member.id);
    live.delete(member);
  }
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(live.size).toBe(0);
});
