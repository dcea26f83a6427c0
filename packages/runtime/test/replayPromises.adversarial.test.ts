import { type Context, notDone, type ToolDefinition, tool } from "@reprise/runtime";
import type { StoreMethod } from "@reprise/testing";
import { describe, expect, test, vi } from "vitest";
import {
  code,
  deferred,
  type Harness,
  question,
  sender,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";
const named = (body: (ctx: Context) => Promise<string>): ToolDefinition =>
  tool({
    name: "t",
    description,
    idempotency: { key: () => "k" },
    handler: (_args, ctx) => body(ctx),
  });
const keyed = (body: (ctx: Context) => Promise<string>): Harness =>
  startHarness({ tools: [named(body)] });
const once = { retry: { tries: 1 } };

describe("a step that is given up between two tries", () => {
  // promise P4.5.3
  test("A4: is no failure to the handler: what a handler that catches it returns is not recorded", async () => {
    let tries = 0;
    const h = keyed(async (ctx) => {
      try {
        return await ctx.step("refund", () => {
          tries += 1;
          if (tries === 1) throw new Error("connection lost");
          return "refunded";
        });
      } catch {
        return "The refund failed.";
      }
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(text(await h.call("t"))).toBe("refunded");
  });

  test("U1: keeps no mark when its tries have surely done nothing, so that the next attempt runs it", async () => {
    let tries = 0;
    const h = keyed(async (ctx) => {
      await ctx.step(
        "refund",
        () => {
          tries += 1;
          if (tries === 1) throw notDone(new Error("not connected"));
        },
        { onUncertain: "fail" },
      );
      return "refunded";
    });
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    expect(tries).toBe(1);
    gone.leave();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(h.store.snapshot().runs[0]?.head.marks).toEqual({});
    expect(text(await h.call("t"))).toBe("refunded");
  });

  test("O4: is not tried again by a process that lost its lease in the pause", async () => {
    const triedBy: string[] = [];
    const body =
      (process: string) =>
      async (ctx: Context): Promise<string> =>
        ctx.step(
          "refund",
          () => {
            triedBy.push(process);
            if (triedBy.length === 1) throw new Error("connection lost");
            return "refunded";
          },
          { retry: { backoffMs: 60_000, maxBackoffMs: 60_000 } },
        );
    const h = keyed(body("paused"));
    const other = h.beside({ tools: [named(body("other"))] });
    const never = deferred();
    // The paused process does not get to renew.
    h.traffic.before = (method: StoreMethod) => (method === "renew" ? never.promise : undefined);
    const first = h.call("t");
    await settled();
    await h.advance(11_000);
    h.traffic.before = () => undefined;
    expect(text(await other.call("t"))).toBe("refunded");
    await h.advance(60_000);
    expect(text(await first)).toBe("refunded");
    expect(triedBy).toEqual(["paused", "other"]);
  });
});

describe("replay", () => {
  test("3.2: a cursor that is about to move does not stand, however long the turn before took", async () => {
    let attempt = 0;
    const h = keyed(async (ctx) => {
      attempt += 1;
      const both = Promise.all([ctx.step("a", () => 1), ctx.step("b", () => 2)]);
      if (attempt > 1) h.clock.advance(31_000);
      await both;
      return (await ctx.confirm("Go on?")) ? "done" : "kept";
    });
    const { requestState } = question(await h.call("t"));
    const reply = await h.call("t", { requestState, inputResponses: { confirm: yes } });
    expect(text(reply)).toBe("done");
  });

  // promise P4.2.9
  test("4.2: a step that waits for its own write does not start before what was read meanwhile is durable", async () => {
    const held = deferred();
    let durable: readonly string[] = [];
    const h = keyed(async (ctx) => {
      let limit = 0;
      await Promise.all([
        ctx.step("charge", () => {
          durable = (h.store.snapshot().runs[0]?.entries ?? []).map((entry) => entry.kind);
          return limit;
        }),
        ctx
          .read("limit", () => 10)
          .then((read) => {
            limit = read;
          }),
      ]);
      return "x";
    });
    h.traffic.before = (method: StoreMethod) => (method === "append" ? held.promise : undefined);
    const reply = h.call("t");
    await settled();
    held.resolve();
    await reply;
    expect(durable).toEqual(["read_completed"]);
  });
});

describe("a call that goes on from a failed step", () => {
  test("2: writes the state anew that the handler wrote after the failure", async () => {
    let works = false;
    const h = keyed(async (ctx) => {
      ctx.state.set("begun", "yes");
      try {
        await ctx.step(
          "a",
          () => {
            if (!works) throw new Error("down");
          },
          once,
        );
        ctx.state.set("status", "done");
      } catch (error) {
        ctx.state.set("status", "failed");
        throw error;
      }
      return ctx.state.get("status") ?? "";
    });
    expect((await h.call("t")).kind).toBe("complete");
    works = true;
    expect(text(await h.call("t"))).toBe("done");
  });

  test("2: also when another step that failed as well has seen those writes", async () => {
    let works = false;
    let seen: string | undefined;
    const h = keyed(async (ctx) => {
      ctx.state.set("begun", works ? "again" : "first");
      try {
        await ctx.step(
          "a",
          () => {
            if (!works) throw new Error("down");
          },
          once,
        );
        ctx.state.set("status", "done");
      } catch (error) {
        ctx.state.set("status", "failed");
        await ctx.step(
          "tell",
          () => {
            throw new Error("down too");
          },
          once,
        );
        throw error;
      }
      seen = ctx.state.get("begun");
      return ctx.state.get("status") ?? "";
    });
    await h.call("t");
    works = true;
    expect(text(await h.call("t"))).toBe("done");
    // What the failed step itself has seen stays as it was.
    expect(seen).toBe("first");
  });

  const withFallback =
    (h: {
      works: boolean;
      held: Promise<void> | undefined;
      sure: boolean;
    }): ((ctx: Context) => Promise<string>) =>
    async (ctx) => {
      try {
        await ctx.step(
          "a",
          async () => {
            await h.held;
            throw new Error("down");
          },
          once,
        );
        return "a";
      } catch (error) {
        if (h.sure) await ctx.confirm("Sure?", { key: "sure" });
        if (!(await ctx.confirm("Without a?"))) throw error;
        await ctx.step(
          "b",
          () => {
            if (!h.works) throw new Error("down");
          },
          once,
        );
        return "b";
      }
    };

  test("3.6: does not lose an answer that was taken behind the failure when its attempt is interrupted", async () => {
    const world: Parameters<typeof withFallback>[0] = {
      works: false,
      held: undefined,
      sure: false,
    };
    const h = keyed(withFallback(world));
    const { requestState } = question(await h.call("t"));
    expect((await h.call("t", { requestState, inputResponses: { confirm: yes } })).kind).toBe(
      "complete",
    );
    const held = deferred();
    world.held = held.promise;
    world.works = true;
    const gone = sender();
    const reply = h.call("t", { gone });
    await settled();
    gone.leave();
    held.resolve();
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(text(await h.call("t"))).toBe("b");
  });

  // promise P4.3.12
  test("3.6: takes the same answer again when the question had to be asked again", async () => {
    const world = { works: false, held: undefined, sure: false };
    const h = keyed(withFallback(world));
    const first = question(await h.call("t"));
    await h.call("t", { requestState: first.requestState, inputResponses: { confirm: yes } });
    world.works = true;
    world.sure = true;
    const sure = question(await h.call("t"));
    expect(Object.keys(sure.inputRequests)).toEqual(["sure"]);
    const again = question(
      await h.call("t", { requestState: sure.requestState, inputResponses: { sure: yes } }),
    );
    expect(Object.keys(again.inputRequests)).toEqual(["confirm"]);
    const reply = await h.call("t", {
      requestState: again.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(reply)).toBe("b");
  });
});

describe("what leaves the process", () => {
  // promise P4.1.7
  test("11: a state that holds what a step or read threw can't be read by the client", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          effects: "repeatable",
          handler: async (_args, ctx) => {
            const fail = (): never => {
              throw new Error("a marker of the author");
            };
            await ctx.read("r", fail).catch(() => undefined);
            await ctx.step("s", fail, once).catch(() => undefined);
            return (await ctx.confirm("Go on?")) ? "x" : "y";
          },
        }),
      ],
    });
    const { requestState } = question(await h.call("t"));
    const plain = requestState
      .split(".")
      .map((part) => Buffer.from(part, "base64url").toString("utf8"));
    expect(plain.join(" ")).not.toContain("a marker");
  });

  test("many steps at once are no warning of a leak", async () => {
    const warned = vi.spyOn(process, "emitWarning");
    const h = keyed(async (ctx) => {
      const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
      await Promise.all(names.map((name) => ctx.step(name, () => undefined)));
      return "x";
    });
    expect(text(await h.call("t"))).toBe("x");
    await settled();
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });
});
