/**
 * What may go wrong between a front and its workers: lost jobs, dead and paused workers, drains, jobs that come twice.
 */
import { tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";
import { createMemoryDispatcher, type MemoryDispatcher } from "./support/memoryDispatcher.ts";

const description = "d";

interface Crew {
  readonly front: Harness;
  readonly workers: readonly [Harness, Harness];
  readonly dispatcher: MemoryDispatcher;
  readonly effects: string[];
  /** What the step waits for. */
  held: ReturnType<typeof deferred<void>>;
}

/** A tool with one step, once and twice: with a key and without. */
function crew(repeatable = false): Crew {
  const dispatcher = createMemoryDispatcher();
  const effects: string[] = [];
  const front = startHarness(
    {
      tools: (repeatable ? [false] : [false, true]).map((isKeyed) =>
        tool({
          name: isKeyed ? "keyed" : "bare",
          description,
          ...(isKeyed ? { idempotency: { key: () => "k" } } : {}),
          ...(repeatable ? { effects: "repeatable" } : {}),
          async handler(_args, ctx) {
            await ctx.step("pay", async () => {
              effects.push("pay");
              await made.held.promise;
            });
            return "paid";
          },
        }),
      ),
    },
    { dispatcher },
  );
  const worker = (): Harness => front.beside({}, { dispatcher: undefined });
  const workers = [worker(), worker()] as const;
  dispatcher.workers = [workers[0].runtime];
  const made: Crew = { front, workers, dispatcher, effects, held: deferred() };
  return made;
}

describe("a worker that dies", () => {
  // promise P4.2.22
  test("costs a recorded run one take-over: another goes on within a lease, for the same caller", async () => {
    const { front, workers, dispatcher, effects, ...rest } = crew();
    const reply = front.call("keyed");
    await settled();
    expect(effects).toEqual(["pay"]);
    workers[0].store.kill();
    dispatcher.workers = [workers[1].runtime];
    rest.held.resolve();
    await front.advance(10);
    expect(text(await reply)).toBe("paid");
    expect(front.store.snapshot().runs[0]?.head).toMatchObject({ status: "completed", epoch: 2 });
  });

  test("before a call without a key has a record: the call is made again, and only one record comes of it", async () => {
    const { front, workers, dispatcher, effects, held } = crew();
    held.resolve();
    let paused: Promise<unknown> = Promise.resolve();
    const resume = deferred();
    // Paused before it did anything, and awake again when another worker has done it all.
    dispatcher.dieIn = async (run) => {
      paused = resume.promise.then(run);
    };
    const reply = front.call("bare");
    expect(text(await reply)).toBe("paid");
    expect(effects).toEqual(["pay"]);
    resume.resolve();
    expect(await paused).toEqual({ kind: "unanswered", died: false });
    expect(effects).toEqual(["pay"]);
    expect(front.store.snapshot().runs.length).toBe(1);
    expect(workers[1].log).toEqual([]);
  });

  test("after a call without a key has made its record: the run goes on, its effect is not repeated", async () => {
    const { front, dispatcher, effects, held } = crew();
    held.resolve();
    dispatcher.dieIn = async (run) => {
      await run();
    };
    expect(text(await front.call("bare"))).toBe("paid");
    expect(effects).toEqual(["pay"]);
    expect(dispatcher.taken.length).toBe(1);
  });

  test("in a repeatable call has it made again, but not for ever", async () => {
    const { front, dispatcher, effects, held } = crew(true);
    held.resolve();
    dispatcher.dieIn = async () => undefined;
    expect(text(await front.call("bare"))).toBe("paid");
    expect(effects).toEqual(["pay"]);
    const diesAlways = async (): Promise<void> => {
      dispatcher.dieIn = diesAlways;
    };
    dispatcher.dieIn = diesAlways;
    expect(code(await front.call("bare"))).toBe("INTERRUPTED");
    expect(dispatcher.taken.length).toBe(2 + 6);
  });
});

describe("jobs that are lost or doubled", () => {
  test("a queued run whose job is lost is queued again for the one who waits", async () => {
    const { front, dispatcher, held } = crew();
    held.resolve();
    dispatcher.size = 0;
    const reply = front.call("keyed");
    await settled();
    dispatcher.lose();
    dispatcher.size = 1;
    await settled();
    await front.advance(500);
    expect(text(await reply)).toBe("paid");
    expect(front.store.snapshot().runs[0]?.head.epoch).toBe(1);
  });

  test("a run whose front died between its record and its job is found by a sweep", async () => {
    const { front, dispatcher, held } = crew();
    held.resolve();
    dispatcher.size = 0;
    const reply = front.call("keyed");
    await settled();
    front.store.kill();
    dispatcher.lose();
    expect(code(await reply)).toBe("STORE_UNAVAILABLE");
    dispatcher.size = 1;
    const second = front.beside({}, { sweep: true });
    await second.advance(10_001);
    await second.advance(10_001);
    await settled();
    const head = (await second.store.load(second.store.snapshot().runs[0]?.origin.runId ?? ""))
      ?.head;
    expect(head).toMatchObject({ status: "completed", takeovers: 0, epoch: 1 });
    expect(text(await second.call("keyed"))).toBe("paid");
  });

  test("a run that waits for a worker is left to those with a dispatcher, but not where there are none any more", async () => {
    const { front, dispatcher, effects, held } = crew();
    held.resolve();
    dispatcher.size = 0;
    void front.call("keyed");
    await settled();
    front.store.kill();
    const inline = front.beside({}, { dispatcher: undefined, sweep: true });
    for (let lease = 0; lease < 29; lease += 1) await inline.advance(10_001);
    expect(effects).toEqual([]);
    for (let lease = 0; lease < 4; lease += 1) await inline.advance(10_001);
    expect(effects).toEqual(["pay"]);
    expect(inline.store.snapshot().runs[0]?.head).toMatchObject({ status: "completed" });
  });

  test("a job that comes twice, also late, executes once", async () => {
    const { front, workers, dispatcher, effects, held } = crew();
    held.resolve();
    expect(text(await front.call("keyed"))).toBe("paid");
    const job = dispatcher.taken[0];
    if (job === undefined || !("epoch" in job)) throw new Error("no job was taken");
    await Promise.all([
      workers[0].runtime.runQueued(job, undefined),
      workers[1].runtime.runQueued({ ...job, epoch: 7 }, undefined),
      workers[1].runtime.runQueued({ ...job, runId: "nowhere" }, undefined),
    ]);
    expect(effects).toEqual(["pay"]);
  });
});

describe("a worker that drains", () => {
  test("gives its runs and calls back, and another one goes on for the same callers", async () => {
    const { front, workers, dispatcher, effects, ...rest } = crew(true);
    const reply = front.call("bare");
    await settled();
    dispatcher.workers = [workers[1].runtime];
    const closing = workers[0].runtime.close();
    await front.advance(10_001);
    rest.held.resolve();
    await settled();
    for (let turn = 0; turn < 20; turn += 1) await front.advance(100);
    await closing;
    expect(text(await reply)).toBe("paid");
    expect(effects).toEqual(["pay", "pay"]);
  });

  test("takes no call any more", async () => {
    const { front, workers, dispatcher, held } = crew();
    held.resolve();
    const closing = workers[0].runtime.close();
    await front.advance(100);
    await closing;
    dispatcher.workers = [workers[0].runtime, workers[1].runtime];
    expect(text(await front.call("bare"))).toBe("paid");
  });
});

describe("a pool of one worker", () => {
  test("answers fifty parallel retries of one round, with one effect", async () => {
    const effects: string[] = [];
    const dispatcher = createMemoryDispatcher();
    const front = startHarness(
      {
        tools: [
          tool({
            name: "t",
            description,
            async handler(_args, ctx) {
              if (!(await ctx.confirm("Sure?"))) return "no";
              await ctx.step("pay", () => effects.push("pay"));
              return "paid";
            },
          }),
        ],
      },
      { dispatcher },
    );
    dispatcher.workers = [front.beside({}, { dispatcher: undefined }).runtime];
    dispatcher.size = 1;
    const other = front.beside();
    const { requestState } = question(await front.call("t"));
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? front : other).call("t", {
          requestState,
          inputResponses: { confirm: yes },
        }),
      ),
    );
    expect(new Set(replies.map(text))).toEqual(new Set(["paid"]));
    expect(effects).toEqual(["pay"]);
  });
});

describe("a front that drains", () => {
  test("tells its callers to come again, and the run they waited for goes on", async () => {
    const { front, workers, dispatcher, effects, ...rest } = crew();
    const reply = front.call("keyed");
    await settled();
    const closing = front.runtime.close();
    await front.advance(10_001);
    expect(code(await reply)).toBe("INTERRUPTED");
    for (let turn = 0; turn < 3; turn += 1) await front.advance(100);
    await closing;
    rest.held.resolve();
    await settled();
    const second = workers[1].beside({}, { dispatcher });
    expect(text(await second.call("keyed"))).toBe("paid");
    expect(effects).toEqual(["pay"]);
  });
});
