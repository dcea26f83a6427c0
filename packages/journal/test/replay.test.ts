import { describe, expect, test } from "vitest";
import {
  answerEntry,
  cursorRun,
  manualTurns,
  readEntry,
  stepEntry,
  turns,
} from "./support/cursorRun.ts";

describe("delivery", () => {
  // promise P3.2.2
  test("J1: entries are delivered in their order, whatever the order of the requests", async () => {
    const run = cursorRun([stepEntry("a"), readEntry("b"), answerEntry("c")]);
    const order: unknown[] = [];
    const all = [run.request("ask", "c"), run.request("read", "b"), run.request("step", "a")];
    for (const promise of all) void promise.then((value) => order.push(value));
    await Promise.all(all);
    expect(order).toEqual(["a", "b", "c"]);
  });

  test("J1: an entry goes to the operation of its kind and name only", async () => {
    const run = cursorRun([stepEntry("x")]);
    void run.request("ask", "x");
    void run.request("read", "x");
    await turns(5);
    expect(run.log).toEqual([]);
    await run.request("step", "x");
    expect(run.log).toContain("entry x");
  });

  test("J2: between two deliveries lies one turn, in which the handler's continuations run", () => {
    const steered = manualTurns();
    const run = cursorRun([stepEntry("a"), stepEntry("b")], steered.schedule);
    void run.request("step", "a");
    void run.request("step", "b");
    steered.take();
    expect(run.log).toEqual(["entry a"]);
    steered.take();
    expect(run.log).toEqual(["entry a", "entry b"]);
  });

  // promise P3.2.2
  test("an entry waits for the handler to ask for it, however long that takes", async () => {
    const run = cursorRun([stepEntry("late")]);
    await turns(20);
    expect(run.log).toEqual([]);
    expect(run.cursor.isReplaying).toBe(true);
    expect(await run.request("step", "late")).toBe("late");
    expect(run.cursor.isReplaying).toBe(false);
  });
});

describe("going live", () => {
  // promise P3.2.4
  test("J3: an operation that has no entry starts one turn after the last delivery, not at it", () => {
    const steered = manualTurns();
    const run = cursorRun([stepEntry("a")], steered.schedule);
    void run.request("step", "new");
    void run.request("step", "a");
    steered.take();
    expect(run.log).toEqual(["entry a"]);
    steered.take();
    expect(run.log).toEqual(["entry a", "live new"]);
  });

  test("J3: nothing starts while an entry is undelivered", async () => {
    const run = cursorRun([stepEntry("a")]);
    void run.request("step", "b");
    await turns(10);
    expect(run.live.size).toBe(0);
  });

  test("J3: an operation that publishes as it goes live holds back those behind it", async () => {
    const run = cursorRun([]);
    const answered = run.request("ask", "yes");
    void run.request("step", "behind");
    run.cursor.publish(answerEntry("yes"));
    expect(await answered).toBe("yes");
    expect(run.log).toEqual(["entry yes"]);
    await turns(2);
    expect(run.log).toEqual(["entry yes", "live behind"]);
  });

  test("a live operation is answered by the entry that is published for it", async () => {
    const run = cursorRun([]);
    const result = run.request("step", "a");
    await turns(2);
    expect([...run.live]).toEqual(["a"]);
    run.complete("step", "a");
    expect(await result).toBe("a");
  });
});

describe("having nothing left to do", () => {
  // promise P3.2.4
  test("J4: is told only with every entry delivered, and names what waits in the order of the requests", async () => {
    const run = cursorRun([readEntry("r")]);
    void run.request("ask", "second");
    void run.request("ask", "first");
    await turns(5);
    expect(run.log).toEqual([]);
    void run.request("read", "r");
    await turns(5);
    expect(run.log.at(-1)).toBe("idle [second first]");
  });

  // promise P3.3.2
  test("J4: is not told while something is in progress", async () => {
    const run = cursorRun([]);
    void run.request("step", "running");
    void run.request("ask", "open");
    await turns(5);
    expect(run.log).toEqual(["live running", "live open"]);
    run.complete("step", "running");
    await turns(5);
    expect(run.log.at(-1)).toBe("idle [open]");
  });
});

describe("a handler that does not fit", () => {
  test("J5: a step that nobody asks for is reported when the handler has settled, with what it asked instead", async () => {
    const run = cursorRun([stepEntry("charge")]);
    void run.request("step", "charge card");
    run.cursor.settle();
    await turns(3);
    expect(run.mismatches).toEqual([
      {
        entry: stepEntry("charge"),
        index: 0,
        asked: [{ kind: "step", name: "charge card" }],
        reason: "settled",
      },
    ]);
    expect(run.live.size).toBe(0);
  });

  test("J5: a taken answer that nobody asks for is reported like a step", async () => {
    const run = cursorRun([stepEntry("a"), answerEntry("confirm")]);
    await run.request("step", "a");
    run.cursor.settle();
    await turns(3);
    expect(run.mismatches).toMatchObject([{ index: 1, reason: "settled" }]);
  });

  // promise P3.2.7
  test("J5: a stall reports the step at the cursor", async () => {
    const run = cursorRun([stepEntry("charge")]);
    void run.request("step", "other");
    await turns(3);
    run.cursor.stall();
    expect(run.mismatches).toMatchObject([{ reason: "stalled", index: 0 }]);
  });

  test("another question under a taken answer's key is a mismatch at once", async () => {
    const run = cursorRun([answerEntry("confirm", "Delete a?")]);
    void run.request("ask", "confirm", "Delete b?");
    await turns(3);
    expect(run.mismatches).toMatchObject([{ reason: "question", index: 0 }]);
  });

  test("J6: after a mismatch nothing is delivered or started any more", async () => {
    const run = cursorRun([answerEntry("confirm", "a"), stepEntry("s")]);
    void run.request("ask", "confirm", "b");
    void run.request("step", "s");
    await turns(3);
    void run.request("step", "later");
    run.cursor.settle();
    run.cursor.stall();
    await turns(5);
    expect(run.log).toEqual([]);
    expect(run.mismatches).toHaveLength(1);
  });
});

describe("reads that nobody asks for", () => {
  test("J5: are passed over when the handler has settled, and the end is found", async () => {
    const run = cursorRun([readEntry("old"), stepEntry("s"), readEntry("old 2")]);
    const step = run.request("step", "s");
    run.cursor.settle();
    expect(await step).toBe("s");
    await turns(4);
    expect(run.log).toEqual(["entry s", "idle []"]);
    expect(run.mismatches).toEqual([]);
  });

  test("J5: are passed over on a stall, and what is behind them is delivered", async () => {
    const run = cursorRun([readEntry("old"), stepEntry("s")]);
    const step = run.request("step", "s");
    await turns(3);
    run.cursor.stall();
    expect(await step).toBe("s");
  });

  // promise P3.2.13
  test("J5: are given to a later request of their name, without running it", async () => {
    const run = cursorRun([readEntry("late"), stepEntry("s")]);
    const step = run.request("step", "s");
    run.cursor.stall();
    await step;
    expect(await run.request("read", "late")).toBe("late");
    await turns(2);
    expect(run.log).not.toContain("live late");
  });

  test("J5: are given to a later request also while the entry at the cursor has not been asked for", async () => {
    const run = cursorRun([readEntry("slow to ask"), stepEntry("s")]);
    await turns(2);
    run.cursor.stall();
    // The handler was busy elsewhere; it asks in the recorded order after all.
    expect(await run.request("read", "slow to ask")).toBe("slow to ask");
    expect(await run.request("step", "s")).toBe("s");
    expect(run.mismatches).toEqual([]);
  });
});
