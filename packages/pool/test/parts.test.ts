/**
 * The parts of the pool that need no Redis: lists by caller, packing, names.
 */
import { createJobCodec, createPoolDispatcher, FairQueue, startWorker } from "@reprise/pool";
import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import { createRuntime, defineServer } from "@reprise/runtime";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seed } from "../../../test/support/config.ts";

const job = (principal: string, id: string, priority = 0) => ({ principal, id, priority });

describe("lists by caller", () => {
  test("callers take turns, and each one's jobs keep their order", () => {
    const queue = new FairQueue<ReturnType<typeof job>>();
    for (const id of ["a1", "a2", "a3"]) queue.add(job("ann", id));
    queue.add(job("bob", "b1"));
    queue.add(job("cid", "c1"));
    queue.add(job("bob", "b2"));
    expect(queue.clear().map((one) => one.id)).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
    expect(queue.size).toBe(0);
  });

  test("higher priorities go first, whoever has them", () => {
    const queue = new FairQueue<ReturnType<typeof job>>();
    queue.add(job("ann", "low", -1));
    queue.add(job("ann", "normal"));
    queue.add(job("bob", "high", 5));
    expect(queue.clear().map((one) => one.id)).toEqual(["high", "normal", "low"]);
  });

  test("any sequence of adding, taking and withdrawing loses nothing, doubles nothing and counts right", () => {
    const step = fc.record({
      what: fc.constantFrom("add", "add", "take", "withdraw"),
      principal: fc.constantFrom("ann", "bob", "cid"),
      priority: fc.constantFrom(-1, 0, 1),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new FairQueue<ReturnType<typeof job>>();
        const waiting: ReturnType<typeof job>[] = [];
        for (const [index, { what, principal, priority }] of steps.entries()) {
          if (what === "add") {
            const made = job(principal, `${index}`, priority);
            queue.add(made);
            waiting.push(made);
          } else {
            const taken = what === "take" ? queue.take() : waiting[index % (waiting.length || 1)];
            if (taken === undefined) continue;
            if (what === "withdraw") expect(queue.withdraw(taken)).toBe(true);
            expect(queue.withdraw(taken)).toBe(false);
            if (what === "take") {
              expect(taken.priority).toBe(Math.max(...waiting.map((one) => one.priority)));
            }
            waiting.splice(waiting.indexOf(taken), 1);
          }
          expect(queue.size).toBe(waiting.length);
          const own = waiting.filter((one) => one.principal === "ann").length;
          expect(queue.sizeOf("ann")).toBe(own);
        }
        expect(new Set(queue.clear())).toEqual(new Set(waiting));
      }),
      { seed },
    );
  });
});

describe("packing", () => {
  const secret = "a secret of thirty-two bytes, or more";
  const other = "another secret of thirty-two bytes or so";

  test("what one key packs, a list with that key unpacks", () => {
    const packed = createJobCodec([secret]).pack({ a: "é", n: [1] });
    expect(JSON.stringify(packed)).not.toContain("é");
    expect(createJobCodec([other, secret]).unpack(JSON.parse(JSON.stringify(packed)))).toEqual({
      a: "é",
      n: [1],
    });
  });

  test("another key, an altered text, an unknown version and a plain job are refused", () => {
    const codec = createJobCodec([secret]);
    const packed = codec.pack({ a: 1 }) as { v: number; sealed: string };
    expect(() => createJobCodec([other]).unpack(packed)).toThrow(/lacks/);
    const bytes = Buffer.from(packed.sealed, "base64url");
    for (const index of [0, 12, bytes.length - 1]) {
      const altered = Buffer.from(bytes);
      altered[index] = (altered[index] ?? 0) ^ 1;
      const sealed = altered.toString("base64url");
      expect(() => codec.unpack({ v: 1, sealed })).toThrow(/lacks/);
    }
    expect(() => codec.unpack({ v: 1, sealed: "" })).toThrow();
    expect(() => codec.unpack({ ...packed, v: 2 })).toThrow(/format 2/);
    expect(() => codec.unpack(createJobCodec([]).pack({ a: 1 }))).toThrow(/not encrypted/);
    expect(() => createJobCodec([]).unpack(packed)).toThrow(/lacks/);
    for (const nothing of [undefined, null, 7, "x", {}]) {
      expect(() => codec.unpack(nothing)).toThrow(/format/);
    }
  });

  test("a key that is too short is refused", () => {
    expect(() => createJobCodec(["short"])).toThrow(RangeError);
  });
});

describe("options", () => {
  const never = (): never => {
    throw new Error("nothing is connected");
  };
  const connection = {
    get client(): never {
      return never();
    },
    duplicate: never,
  };

  test("names that can't be part of a key and numbers that can't be meant are refused before anything is connected", async () => {
    const runtime = createRuntime({
      server: defineServer({ name: "tests" }),
      store: "none",
      sealer: createStateSealer({ keys: ephemeralKeys() }),
    });
    await expect(createPoolDispatcher({ connection, namespace: "a:b" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await expect(startWorker({ runtime, connection, queues: ["a{b"] })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    for (const wrong of [{ concurrency: 0 }, { concurrency: 1.5 }, { leaseMs: -1 }]) {
      await expect(startWorker({ runtime, connection, ...wrong })).rejects.toThrow(RangeError);
    }
  });
});
