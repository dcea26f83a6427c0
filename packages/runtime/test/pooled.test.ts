/**
 * Runs that workers execute for a front: two runtimes over one store, with a dispatcher between them.
 */
import { anonymous, resourceTemplate, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  dialogue,
  type Harness,
  question,
  sender,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";
import { createMemoryDispatcher, type MemoryDispatcher } from "./support/memoryDispatcher.ts";

interface Pool {
  readonly front: Harness;
  readonly other: Harness;
  readonly worker: Harness;
  readonly dispatcher: MemoryDispatcher;
}

type Tools = Parameters<typeof startHarness>[0]["tools"];

function pool(tools: NonNullable<Tools>): Pool {
  const dispatcher = createMemoryDispatcher();
  const front = startHarness({ tools }, { dispatcher });
  const other = front.beside();
  const worker = front.beside({}, { dispatcher: undefined });
  dispatcher.workers = [worker.runtime];
  return { front, other, worker, dispatcher };
}

const description = "d";

describe("a call through the pool", () => {
  test("gets what the handler returned in the worker, and a call without effects leaves no record", async () => {
    const { front } = pool([
      tool({
        name: "add",
        description,
        input: { type: "object", properties: { n: { type: "number" } } },
        handler: (args) => `${(args as { n: number }).n + 1}`,
      }),
    ]);
    expect(text(await front.call("add", { args: { n: 41 } }))).toBe("42");
    expect(front.store.snapshot().runs).toEqual([]);
  });

  test("asks, and goes on with the answer on another front, its steps run once", async () => {
    const effects: string[] = [];
    const { front, other } = pool([
      tool({
        name: "t",
        description,
        async handler(_args, ctx) {
          const n = await ctx.step("before", () => effects.push("before"));
          if (!(await ctx.confirm("Sure?"))) return "no";
          await ctx.step("after", () => effects.push("after"));
          return `yes ${n}`;
        },
      }),
    ]);
    const { requestState } = question(await front.call("t"));
    expect(text(await other.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "yes 1",
    );
    expect(effects).toEqual(["before", "after"]);
  });

  test("of a repeatable handler asks and goes on without a store", async () => {
    const { front } = pool([
      tool({
        name: "t",
        description,
        annotations: { readOnlyHint: true },
        handler: async (_args, ctx) => ((await ctx.confirm("Sure?")) ? "yes" : "no"),
      }),
    ]);
    expect(text(await dialogue(front, "t", [{ confirm: yes }]))).toBe("yes");
    expect(front.store.snapshot().runs).toEqual([]);
  });

  test("with a key is recorded before it is queued, and a repeated one on another front joins it", async () => {
    const release = deferred();
    let entered = 0;
    const { front, other, dispatcher } = pool([
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        async handler(_args, ctx) {
          entered += 1;
          await ctx.step("s", () => release.promise);
          return "done";
        },
      }),
    ]);
    dispatcher.size = 0;
    const calls = [front.call("t"), other.call("t")];
    await settled();
    expect(front.store.snapshot().runs[0]?.head).toMatchObject({ status: "running", queued: true });
    dispatcher.size = 1;
    dispatcher.pump();
    await settled();
    release.resolve();
    expect((await Promise.all(calls)).map(text)).toEqual(["done", "done"]);
    expect(entered).toBe(1);
    expect(text(await other.call("t"))).toBe("done");
  });

  test("shows progress and log messages of the worker to the one who waits", async () => {
    const { front } = pool([
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        handler(_args, ctx) {
          ctx.progress(1, 2);
          ctx.log("warning", "careful");
          return "x";
        },
      }),
    ]);
    const seen: unknown[] = [];
    const notifications = {
      progress: (value: number, total: number | undefined) => seen.push([value, total]),
      log: (level: string, data: unknown) => seen.push([level, data]),
    };
    await front.call("t", { notifications, logLevel: "info" });
    expect(seen).toEqual([
      [1, 2],
      ["warning", "careful"],
    ]);
  });

  test("is refused with BUSY before anything is recorded", async () => {
    const { front, dispatcher } = pool([
      tool({ name: "t", description, idempotency: { key: () => "k" }, handler: () => "x" }),
    ]);
    dispatcher.isFull = true;
    expect(code(await front.call("t"))).toBe("BUSY");
    expect(front.store.snapshot().runs).toEqual([]);
    dispatcher.isFull = false;
    expect(text(await front.call("t"))).toBe("x");
  });

  test("reads a resource of a template with its variables", async () => {
    const dispatcher = createMemoryDispatcher();
    const note = resourceTemplate({
      uriTemplate: "note://{id}",
      name: "note",
      handler: ({ id }) => `note ${id}`,
    });
    const front = startHarness({ resourceTemplates: [note] }, { dispatcher });
    dispatcher.workers = [front.beside({}, { dispatcher: undefined }).runtime];
    const uri = "note://7";
    const found = front.runtime.catalog.findResource(uri);
    if (found === undefined) throw new Error("no resource");
    const { isGone, onGone } = sender();
    const reply = await front.runtime.execute({
      method: "resources/read",
      handler: found.handler,
      target: uri,
      args: found.args,
      params: { uri },
      caller: anonymous,
      client: { info: undefined, capabilities: {}, protocolVersion: "2026-07-28" },
      requestState: undefined,
      inputResponses: undefined,
      idempotencyKey: undefined,
      logLevel: undefined,
      notifications: undefined,
      isGone,
      onGone,
    });
    expect(reply).toEqual({ kind: "complete", result: { contents: [{ uri, text: "note 7" }] } });
  });
});

describe("an answer that a worker can't give", () => {
  test("a question that the client can't be asked is the error of its own call, and the run stays open", async () => {
    const { front } = pool([
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        handler: async (_args, ctx) => ((await ctx.confirm("Sure?")) ? "yes" : "no"),
      }),
    ]);
    expect(code(await front.call("t", { capabilities: {} }))).toBe("MISSING_CAPABILITY");
    expect(front.store.snapshot().runs[0]?.head.status).toBe("interrupted");
    expect(question(await front.call("t")).inputRequests).toHaveProperty("confirm");
  });

  test("a mismatch reaches the one who waits, with both versions", async () => {
    const make = (step: string): NonNullable<Tools>[number] =>
      tool({
        name: "t",
        description,
        version: step,
        async handler(_args, ctx) {
          await ctx.step(step, () => 1);
          return (await ctx.confirm("Sure?")) ? "yes" : "no";
        },
      });
    const { front, dispatcher } = pool([make("one")]);
    const { requestState } = question(await front.call("t"));
    const deployed = front.beside({ tools: [make("two")] }, { dispatcher: undefined });
    dispatcher.workers = [deployed.runtime];
    const reply = front.call("t", { requestState, inputResponses: { confirm: yes } });
    await settled();
    // The silence after which a handler that asks for something else is known to be another one.
    await front.advance(30_001);
    await front.advance(1_000);
    expect(code(await reply)).toBe("JOURNAL_MISMATCH");
    dispatcher.workers = [front.beside({}, { dispatcher: undefined }).runtime];
    expect(text(await front.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "yes",
    );
  });
});

describe("the sender that goes away", () => {
  test("stops the attempt in the worker at once, also of a recorded run", async () => {
    const entered = deferred();
    const release = deferred();
    let aborted = false;
    const { front } = pool([
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        async handler(_args, ctx) {
          ctx.signal.addEventListener("abort", () => {
            aborted = true;
          });
          entered.resolve();
          await ctx.step("s", () => release.promise);
          await ctx.step("never", () => 1);
          return "x";
        },
      }),
    ]);
    const gone = sender();
    const reply = front.call("t", { gone });
    await entered.promise;
    await settled();
    gone.leave();
    await settled();
    expect(aborted).toBe(true);
    release.resolve();
    expect(code(await reply)).toBe("INTERRUPTED");
    await settled();
    expect(front.store.snapshot().runs[0]).toMatchObject({
      head: { status: "interrupted" },
      entries: [{ name: "s" }],
    });
    expect(text(await front.call("t"))).toBe("x");
  });

  test("takes a run that no worker has out of the queue", async () => {
    let entered = 0;
    const { front, dispatcher } = pool([
      tool({
        name: "t",
        description,
        idempotency: { key: () => "k" },
        handler() {
          entered += 1;
          return `${entered}`;
        },
      }),
    ]);
    dispatcher.size = 0;
    const gone = sender();
    const reply = front.call("t", { gone });
    await settled();
    gone.leave();
    expect(code(await reply)).toBe("INTERRUPTED");
    dispatcher.size = 1;
    dispatcher.pump();
    await settled();
    expect(entered).toBe(0);
    expect(text(await front.call("t"))).toBe("1");
  });
});
