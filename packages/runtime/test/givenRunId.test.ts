/**
 * Carriers that draw the run id themselves, so that whoever takes their call over finds the run again.
 */
import { type Context, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import {
  code,
  deferred,
  type Harness,
  person,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";
import { createMemoryDispatcher } from "./support/memoryDispatcher.ts";

const description = "d";
const runId = "given_run_id_0123456789";

function serving(
  handler: (ctx: Context) => Promise<string>,
  options: Parameters<typeof startHarness>[1] = {},
  effects: "once" | "repeatable" = "once",
): Harness {
  return startHarness(
    { tools: [tool({ name: "t", description, effects, handler: (_, ctx) => handler(ctx) })] },
    options,
  );
}

const taken = { runId, mayExist: true };

describe("a run id that the carrier gives", () => {
  test("is the record's", async () => {
    const h = serving(async (ctx) => ((await ctx.confirm("Sure?")) ? "yes" : "no"));
    const asked = question(await h.call("t", { runId }));
    expect(asked.runId).toBe(runId);
    expect((await h.store.load(runId))?.head.status).toBe("waiting");
  });

  test("of a call that is taken over begins the run when there is none", async () => {
    let entered = 0;
    const h = serving(async (ctx) => {
      entered += 1;
      await ctx.step("s", () => undefined);
      return "done";
    });
    expect(text(await h.call("t", taken))).toBe("done");
    expect(text(await h.call("t", taken))).toBe("done");
    expect(entered).toBe(1);
  });

  test("finds the open question again, and its answer goes on with the one run", async () => {
    const effects: string[] = [];
    const h = serving(async (ctx) => {
      if (!(await ctx.confirm("Sure?"))) return "no";
      await ctx.step("s", () => effects.push("s"));
      return "yes";
    });
    await h.call("t", { runId });
    const other = h.beside();
    const { requestState } = question(await other.call("t", taken));
    const answered = { requestState, inputResponses: { confirm: yes } };
    expect(text(await other.call("t", answered))).toBe("yes");
    expect(effects).toEqual(["s"]);
    expect(h.store.snapshot().runs).toHaveLength(1);
  });

  test("joins the attempt that executes it, and takes it over when its process is gone", async () => {
    let entered = 0;
    const effects: string[] = [];
    const h = serving(async (ctx) => {
      entered += 1;
      await ctx.step("first", () => effects.push("first"));
      // The process that is killed never comes further.
      if (entered === 1) await deferred().promise;
      await ctx.step("second", () => effects.push("second"));
      return "done";
    });
    void h.call("t", { runId });
    await settled();
    const other = h.beside();
    const reply = other.call("t", taken);
    await settled();
    h.store.kill();
    expect(text(await reply)).toBe("done");
    expect(effects).toEqual(["first", "second"]);
  });

  test("of another person's run is lost: nothing is told, nothing executed, nothing changed", async () => {
    let entered = 0;
    const h = serving(async (ctx) => {
      entered += 1;
      return (await ctx.confirm("Sure?")) ? "yes" : "no";
    });
    await h.call("t", { runId, caller: person("alice") });
    const before = h.store.snapshot();
    const stranger = await h.call("t", { ...taken, caller: person("mallory") });
    expect(code(stranger)).toBe("RUN_LOST");
    expect(stranger).toMatchObject({ error: { data: { reason: "missing" } } });
    expect(entered).toBe(1);
    expect(h.store.snapshot()).toEqual(before);
    expect(code(await h.call("t", { runId, caller: person("mallory") }))).toBe("RUN_LOST");
    expect(h.store.snapshot()).toEqual(before);
  });

  test("means nothing to a repeatable handler", async () => {
    let entered = 0;
    const h = serving(
      async () => {
        entered += 1;
        return "done";
      },
      {},
      "repeatable",
    );
    expect(text(await h.call("t", taken))).toBe("done");
    expect(text(await h.call("t", taken))).toBe("done");
    expect(entered).toBe(2);
    expect(h.traffic.calls).toEqual([]);
  });

  test("is the record's through the pool as well, and found again by another front", async () => {
    const dispatcher = createMemoryDispatcher();
    const effects: string[] = [];
    const front = serving(
      async (ctx) => {
        await ctx.step("s", () => effects.push("s"));
        return "done";
      },
      { dispatcher },
    );
    dispatcher.workers = [front.beside({}, { dispatcher: undefined }).runtime];
    expect(text(await front.call("t", { runId }))).toBe("done");
    expect((await front.store.load(runId))?.head.status).toBe("completed");
    expect(text(await front.beside().call("t", taken))).toBe("done");
    expect(effects).toEqual(["s"]);
  });
});
