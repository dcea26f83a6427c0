import { RepriseError } from "@reprise/errors";
import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import type { StoreMethod } from "@reprise/testing";
import { describe, expect, test } from "vitest";
import { code, deferred, question, settled, startHarness, text, yes } from "./support/harness.ts";

const description = "d";
const named = (body: (ctx: Context) => Promise<string>): ToolDefinition =>
  tool({
    name: "t",
    description,
    idempotency: { key: () => "k" },
    handler: (_args, ctx) => body(ctx),
  });

describe("the order of what becomes durable", () => {
  test("W3: one write of an attempt is on its way at a time, and what comes meanwhile goes together with the next", async () => {
    const names = Array.from({ length: 10 }, (_, index) => `s${index}`);
    const h = startHarness({
      tools: [
        named(async (ctx) =>
          (await Promise.all(names.map((name) => ctx.step(name, () => name)))).join(" "),
        ),
      ],
    });
    let open = 0;
    let most = 0;
    h.traffic.before = async (method: StoreMethod) => {
      if (method === "renew") return;
      open += 1;
      most = Math.max(most, open);
      await settled();
    };
    h.traffic.after = (method) => {
      if (method !== "renew") open -= 1;
    };
    expect(text(await h.call("t"))).toBe(names.join(" "));
    expect(most).toBe(1);
    expect(h.traffic.calls.length).toBeLessThan(names.length);
    expect(h.store.snapshot().runs[0]?.entries).toHaveLength(10);
  });

  test("W1: a read that ends behind a step's unwritten result shows neither before the store has the step", async () => {
    const seen: string[] = [];
    const held = deferred();
    const slow = deferred();
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          const step = ctx.step("s", () => "s").then((value) => seen.push(value));
          const read = ctx
            .read("r", () => slow.promise.then(() => "r"))
            .then((value) => seen.push(value));
          await Promise.all([step, read]);
          return seen.join();
        }),
      ],
    });
    let appends = 0;
    h.traffic.before = async (method) => {
      if (method === "append" && ++appends === 2) await held.promise;
    };
    const reply = h.call("t");
    await settled();
    slow.resolve();
    await settled();
    expect(seen).toEqual([]);
    held.resolve();
    expect(text(await reply)).toBe("s,r");
  });

  test("W4: after a write that failed for good, nothing more becomes visible to the handler", async () => {
    const seen: string[] = [];
    const slow = deferred();
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          const all = ["a", "b"].map(async (name) => {
            await ctx.step(name, () => (name === "b" ? slow.promise : undefined));
            seen.push(name);
          });
          await Promise.all(all);
          return "x";
        }),
      ],
    });
    h.traffic.before = (method) => {
      // What is no RepriseError is not tried again.
      if (method === "append" && h.store.snapshot().runs[0]?.head.stepStarted === true)
        throw new Error("broken disk");
    };
    expect(code(await h.call("t"))).toBe("STORE_UNAVAILABLE");
    h.traffic.before = () => undefined;
    slow.resolve();
    await settled();
    expect(seen).toEqual([]);
    expect(h.store.snapshot().runs[0]?.entries).toEqual([]);
  });

  // promise P3.3.2
  test("A2: nothing is asked while a step runs; the question goes out behind its record", async () => {
    const release = deferred();
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          const [sure] = await Promise.all([
            ctx.confirm("?"),
            ctx.step("s", () => release.promise),
          ]);
          return String(sure);
        }),
      ],
    });
    let replied = false;
    const reply = h.call("t").then((value) => {
      replied = true;
      return value;
    });
    await settled();
    expect(replied).toBe(false);
    release.resolve();
    const { requestState } = question(await reply);
    expect(h.store.snapshot().runs[0]).toMatchObject({
      head: { status: "waiting" },
      entries: [{ name: "s" }],
    });
    expect(text(await h.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "true",
    );
  });
});

describe("state that a started step has seen", () => {
  // promise P4.2.11
  test("stays the same for every later attempt of the round, also when one between writes other keys first", async () => {
    const seen: string[] = [];
    let attempt = 0;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          attempt += 1;
          ctx.state.set("k", `${attempt}a`);
          if (attempt === 2) {
            // A branch that was slower before: its write is new, and a step makes it durable.
            ctx.state.set("j", "new");
            await ctx.step("other", () => new Promise(() => undefined));
          }
          ctx.state.set("k", `${attempt}b`);
          const before = ctx.state.get("k") ?? "";
          await ctx.step("use", () => {
            seen.push(before);
            return attempt === 1 ? new Promise<void>(() => undefined) : undefined;
          });
          return "x";
        }),
      ],
    });
    let current = h;
    for (let death = 0; death < 2; death += 1) {
      void current.call("t");
      await settled();
      const next = h.beside();
      current.store.kill();
      current = next;
    }
    expect(text(await current.call("t"))).toBe("x");
    expect(seen).toEqual(["1b", "1b"]);
  });
});

describe("parallel calls of a failing tool", () => {
  // promise P4.3.4
  test("L4: share one failure: a call that joined does not run it again", async () => {
    const release = deferred();
    let entered = 0;
    const h = startHarness({
      tools: [
        named(async (ctx) => {
          entered += 1;
          await ctx.step("s", () => release.promise, { retry: { tries: 1 } });
          return "x";
        }),
      ],
    });
    const replies = Array.from({ length: 5 }, () => h.call("t"));
    await settled();
    release.reject(new Error("down"));
    const texts = (await Promise.all(replies)).map(text);
    expect(new Set(texts).size).toBe(1);
    expect(entered).toBe(1);
  });
});

describe("the sweep and what it finds", () => {
  test("a swept handler that hangs keeps no other run waiting", async () => {
    const ended: string[] = [];
    const hangs = tool({
      name: "hangs",
      description,
      idempotency: { key: () => "h" },
      handler: (_args, ctx) => ctx.step("s", () => new Promise<string>(() => undefined)),
    });
    let isFirst = true;
    const ends = tool({
      name: "ends",
      description,
      idempotency: { key: () => "e" },
      handler: (_args, ctx) =>
        ctx.step("s", () => {
          if (isFirst) return new Promise<string>(() => undefined);
          ended.push("ended");
          return "x";
        }),
    });
    const h = startHarness({ tools: [hangs, ends] });
    void h.call("hangs");
    await settled();
    const second = h.beside();
    const sweeping = h.beside({}, { sweep: true });
    h.store.kill();
    await h.advance(10_000);
    void second.call("ends");
    await settled();
    isFirst = false;
    second.store.kill();
    await h.advance(10_000);
    expect(ended).toEqual(["ended"]);
    await sweeping.store.close();
  });

  test("a store that fails during one sweep is asked again at the next", async () => {
    const h = startHarness({
      tools: [
        named((ctx) => ctx.step("s", () => (isFirst ? new Promise<string>(() => undefined) : "x"))),
      ],
    });
    let isFirst = true;
    void h.call("t");
    await settled();
    isFirst = false;
    h.traffic.before = (method) => {
      if (method === "claimKnown") throw new RepriseError("STORE_UNAVAILABLE", "away");
    };
    const sweeping = h.beside({}, { sweep: true });
    h.store.kill();
    await h.advance(10_000);
    h.traffic.before = () => undefined;
    await h.advance(10_000);
    expect(h.store.snapshot().runs[0]?.head.status).toBe("completed");
    await sweeping.store.close();
  });
});
