import type { Entry, OperationKind } from "@reprise/journal";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seed } from "../../../test/support/config.ts";
import {
  answerEntry,
  type CursorRun,
  cursorRun,
  readEntry,
  stepEntry,
  turns,
} from "./support/cursorRun.ts";

/** Runs the same handler live, completing operations in the given order, then replays its journal. */
async function twice(
  handler: (run: CursorRun) => Promise<unknown>,
  order: readonly (readonly [kind: OperationKind, name: string])[],
): Promise<{ readonly first: unknown; readonly again: unknown; readonly replayed: CursorRun }> {
  const live = cursorRun([]);
  const firstRun = handler(live).catch((error: unknown) => error);
  for (const [kind, name] of order) {
    await turns(4);
    live.complete(kind, name);
  }
  const first = await firstRun;
  const replayed = cursorRun(live.cursor.entries);
  const again = await handler(replayed).catch((error: unknown) => error);
  return { first, again, replayed };
}

describe("combinators settle on replay as they settled first", () => {
  test("J2: a race is won by what was recorded first, though its loser is asked for first", async () => {
    const handler = (run: CursorRun): Promise<unknown> =>
      Promise.race([run.request("step", "slow"), run.request("step", "fast")]);
    const { first, again } = await twice(handler, [
      ["step", "fast"],
      ["step", "slow"],
    ]);
    expect([first, again]).toEqual(["fast", "fast"]);
  });

  test("J2: a race between a short and a long chain goes as it went", async () => {
    const chain = async (run: CursorRun): Promise<unknown> => {
      await run.request("read", "one");
      // Continuations that need no I/O belong to the turn of their delivery.
      await Promise.resolve();
      await new Promise<void>((resolve) => process.nextTick(resolve));
      return run.request("step", "two");
    };
    const handler = (run: CursorRun): Promise<unknown> =>
      Promise.race([chain(run), run.request("step", "rival")]);
    const chainWins = await twice(handler, [
      ["read", "one"],
      ["step", "two"],
      ["step", "rival"],
    ]);
    expect([chainWins.first, chainWins.again]).toEqual(["two", "two"]);
    const rivalWins = await twice(handler, [
      ["read", "one"],
      ["step", "rival"],
      ["step", "two"],
    ]);
    expect([rivalWins.first, rivalWins.again]).toEqual(["rival", "rival"]);
  });

  // promise P3.2.3
  test("J2: Promise.any skips the branch that throws, then as before", async () => {
    const failing = async (run: CursorRun): Promise<unknown> => {
      await run.request("step", "a");
      throw new Error("a is refused");
    };
    const handler = (run: CursorRun): Promise<unknown> =>
      Promise.any([failing(run), run.request("step", "b"), run.request("step", "c")]);
    const { first, again } = await twice(handler, [
      ["step", "a"],
      ["step", "c"],
      ["step", "b"],
    ]);
    expect([first, again]).toEqual(["c", "c"]);
  });

  test("J2: allSettled gives every branch its own entry", async () => {
    const handler = (run: CursorRun): Promise<unknown> =>
      Promise.allSettled(["a", "b", "c"].map((name) => run.request("read", name)));
    const { first, again } = await twice(handler, [
      ["read", "c"],
      ["read", "a"],
      ["read", "b"],
    ]);
    expect(again).toEqual(first);
  });

  test("J3: what a race's winner starts next is started only behind the loser's recorded entry", async () => {
    const handler = async (run: CursorRun): Promise<void> => {
      await Promise.race([run.request("step", "a"), run.request("step", "b")]);
      void run.request("step", "after");
    };
    const live = cursorRun([]);
    const done = handler(live);
    await turns(4);
    live.complete("step", "b");
    live.complete("step", "a");
    await done;
    const replayed = cursorRun(live.cursor.entries);
    await handler(replayed);
    await turns(6);
    expect(replayed.log).toEqual(["entry b", "entry a", "live after"]);
  });
});

describe("any program of parallel branches", () => {
  const branches = fc.array(
    fc.array(fc.constantFrom<OperationKind>("step", "read", "ask"), { minLength: 1, maxLength: 4 }),
    { minLength: 1, maxLength: 4 },
  );

  // promise P3.2.3
  test("J1 J2 J3: replays to the same order of events, and starts nothing that is recorded", async () => {
    await fc.assert(
      fc.asyncProperty(
        branches,
        fc.array(fc.nat(), { maxLength: 40 }),
        fc.nat(),
        async (program, picks, cut) => {
          const handler = async (run: CursorRun, events: string[]): Promise<void> => {
            const branch = async (
              kinds: readonly OperationKind[],
              index: number,
            ): Promise<string> => {
              for (const [position, kind] of kinds.entries()) {
                events.push(String(await run.request(kind, `${index}.${position}`)));
              }
              return `branch ${index}`;
            };
            const running = program.map(branch);
            events.push(await Promise.race(running));
            await Promise.all(running);
            events.push("end");
          };
          const liveEvents: string[] = [];
          const live = cursorRun([]);
          const done = handler(live, liveEvents);
          const kindOf = (name: string): OperationKind => {
            const [branch, position] = name.split(".").map(Number);
            return program[branch ?? 0]?.[position ?? 0] ?? "step";
          };
          for (let turn = 0; ; turn += 1) {
            await turns(2);
            const open = [...live.live];
            if (open.length === 0) break;
            const name = open[(picks[turn % Math.max(picks.length, 1)] ?? 0) % open.length] ?? "";
            live.complete(kindOf(name), name);
          }
          await done;

          // A later attempt may begin with any part of the journal.
          const entries = live.cursor.entries.slice(0, cut % (live.cursor.length + 1));
          const again: string[] = [];
          const replayed = cursorRun(entries);
          const finished = handler(replayed, again);
          await turns(entries.length + 3);
          const recorded = new Set(
            entries.map((entry) => ("key" in entry ? entry.key : entry.name)),
          );
          expect(replayed.log.filter((line) => recorded.has(line.replace("live ", "")))).toEqual(
            [],
          );
          expect(liveEvents.slice(0, again.length)).toEqual(again);
          if (entries.length === live.cursor.length) {
            await finished;
            expect(again).toEqual(liveEvents);
          }
          expect(replayed.mismatches).toEqual([]);
        },
      ),
      { numRuns: 60, seed },
    );
  });

  // promise P3.2.10
  test("J5: a handler that leaves out one recorded step or answer never runs anything new", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<OperationKind>("step", "ask"), { minLength: 1, maxLength: 6 }),
        fc.nat(),
        async (kinds, drawn) => {
          const missing = drawn % kinds.length;
          const entries = kinds.map(
            (kind, index): Entry =>
              kind === "step" ? stepEntry(`${index}`) : answerEntry(`${index}`),
          );
          const run = cursorRun(entries);
          kinds.forEach((kind, index) => {
            if (index !== missing) void run.request(kind, `${index}`);
          });
          void run.request("step", "renamed");
          await turns(kinds.length + 2);
          run.cursor.stall();
          await turns(3);
          expect(run.live.size).toBe(0);
          expect(run.mismatches).toMatchObject([{ index: missing, reason: "stalled" }]);
        },
      ),
      { numRuns: 40, seed },
    );
  });
});

describe("calls at bad moments", () => {
  test("J6: an end between two deliveries keeps the second back", async () => {
    const run = cursorRun([stepEntry("a"), stepEntry("b")]);
    void run.request("step", "b");
    await run.request("step", "a");
    run.cursor.end();
    await turns(4);
    expect(run.log).toEqual(["entry a"]);
    expect(run.cursor.waiting).toEqual([]);
  });

  test("J6: what is requested or published after the end changes nothing", async () => {
    const run = cursorRun([]);
    run.cursor.end();
    void run.request("step", "late");
    run.cursor.publish(stepEntry("late"));
    await turns(4);
    expect(run.log).toEqual([]);
  });

  test("what waits at a mismatch is still known, so that its promises can be rejected", async () => {
    const run = cursorRun([stepEntry("recorded")]);
    void run.request("step", "asked instead");
    run.cursor.settle();
    await turns(3);
    expect(run.mismatches).toHaveLength(1);
    expect(run.cursor.waiting.map((one) => one.name)).toEqual(["asked instead"]);
  });

  test("a withdrawn operation is neither started nor named as waiting", async () => {
    const run = cursorRun([]);
    void run.request("step", "withdrawn");
    const [operation] = run.cursor.waiting;
    if (operation !== undefined) run.cursor.withdraw(operation);
    await turns(3);
    expect(run.log).toEqual(["idle []"]);
  });

  test("a stall with nothing left to deliver is no mismatch", async () => {
    const run = cursorRun([readEntry("r")]);
    await run.request("read", "r");
    run.cursor.stall();
    await turns(3);
    expect(run.mismatches).toEqual([]);
  });

  test("wakes in one turn cause one look", async () => {
    const run = cursorRun([]);
    run.cursor.wake();
    run.cursor.wake();
    await turns(4);
    expect(run.log).toEqual(["idle []"]);
  });
});
