import {
  createRuntime,
  defineServer,
  type Effects,
  type StepOptions,
  tool,
} from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { code, deferred, question, settled, startHarness, text, yes } from "./support/harness.ts";

const description = "d";

describe("a runtime that has enough to do", () => {
  test("answers BUSY at once, with when to come back, and takes calls again afterwards", async () => {
    const release = deferred<string>();
    const h = startHarness(
      { tools: [tool({ name: "t", description, handler: () => release.promise })] },
      { maxConcurrentAttempts: 2 },
    );
    const running = [h.call("t"), h.call("t")];
    await settled();
    const refused = await h.call("t");
    expect(code(refused)).toBe("BUSY");
    expect(refused).toMatchObject({
      error: { data: { retryAfterMs: expect.any(Number) as number } },
    });
    release.resolve("x");
    await Promise.all(running);
    expect(text(await h.call("t"))).toBe("x");
  });
});

describe("a runtime that is closed", () => {
  test("takes no calls, says so to health checks, and closes its store; a second close is the first", async () => {
    const h = startHarness({ tools: [tool({ name: "t", description, handler: () => "x" })] });
    expect(await h.runtime.health()).toEqual({ ok: true });
    const closing = h.runtime.close();
    expect(h.runtime.close()).toBe(closing);
    await closing;
    expect(code(await h.call("t"))).toBe("BUSY");
    expect(await h.runtime.health()).toEqual({ ok: false, reason: "closing" });
    expect(await h.store.health()).toMatchObject({ ok: false });
  });

  test("lets running attempts end within drainTimeoutMs", async () => {
    const release = deferred<string>();
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          handler: (_a, ctx) => ctx.step("s", () => release.promise),
        }),
      ],
    });
    const reply = h.call("t");
    await settled();
    const closing = h.runtime.close();
    await h.advance(5000);
    release.resolve("whole");
    await settled();
    await h.advance(10);
    await closing;
    expect(text(await reply)).toBe("whole");
  });

  test("hands over at the next step boundary what takes longer, and the next call goes on elsewhere", async () => {
    const effects: string[] = [];
    const release = deferred();
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx.step("first", async () => {
              await release.promise;
              effects.push("first");
            });
            await ctx.step("second", () => effects.push("second"));
            return "whole";
          },
        }),
      ],
    });
    const other = h.beside();
    const reply = h.call("t");
    await settled();
    const closing = h.runtime.close();
    for (let beat = 0; beat < 101; beat += 1) await h.advance(100);
    release.resolve();
    await settled();
    await h.advance(10);
    await closing;
    const handedOver = await reply;
    expect(code(handedOver)).toBe("INTERRUPTED");
    expect(handedOver).toMatchObject({ error: { spec: { retryable: true } } });
    expect(text(await other.call("t"))).toBe("whole");
    expect(effects).toEqual(["first", "second"]);
  });
});

describe("a server without a store", () => {
  const asks = tool({
    name: "t",
    description,
    handler: async (_args, ctx) => String(await ctx.confirm("?")),
  });

  // promise P4.1.10
  test("runs once handlers by the pure protocol rule: the token carries all", async () => {
    const h = startHarness({ tools: [asks] }, { store: "none" });
    const { requestState } = question(await h.call("t"));
    expect(text(await h.call("t", { requestState, inputResponses: { confirm: yes } }))).toBe(
      "true",
    );
    expect(await h.runtime.health()).toEqual({ ok: true });
  });

  // promise P4.1.11
  test.each<readonly [string, readonly Effects[], StepOptions<string>]>([
    ["onUncertain fail", ["once"], { onUncertain: "fail" }],
    ["a function as onUncertain", ["once"], { onUncertain: () => undefined }],
    ["undo", ["once", "repeatable"], { undo: () => undefined }],
    ["undo beside retry", ["once", "repeatable"], { undo: () => undefined, onUncertain: "retry" }],
  ])("refuses a step with %s before it runs (handlers: %j)", async (_, handlers, options) => {
    for (const effects of handlers) {
      let ran = 0;
      const body = tool({
        name: "t",
        description,
        effects,
        handler: (_args, ctx) =>
          ctx.step(
            "s",
            () => {
              ran += 1;
              return "x";
            },
            options,
          ),
      });
      const h = startHarness({ tools: [body] }, { store: "none" });
      expect(text(await h.call("t"))).toMatch(/step "s" of tool "t".*DEFINITION_INVALID/);
      expect(ran).toBe(0);
      if (effects === "once")
        expect(text(await startHarness({ tools: [body] }).call("t"))).toBe("x");
    }
  });

  // promise P4.1.11
  test("runs a step that says what is so anyway: retry", async () => {
    const body = tool({
      name: "t",
      description,
      handler: (_args, ctx) => ctx.step("s", () => "x", { onUncertain: "retry" }),
    });
    expect(text(await startHarness({ tools: [body] }, { store: "none" }).call("t"))).toBe("x");
  });

  // promise P4.1.11
  test("refuses idempotency keys at start", () => {
    const keyed = tool({
      name: "t",
      description,
      idempotency: { key: () => "k" },
      handler: () => "x",
    });
    expect(() => startHarness({ tools: [keyed] }, { store: "none" })).toThrow(
      expect.objectContaining({
        code: "DEFINITION_INVALID",
        message: expect.stringContaining('"t"') as string,
      }) as Error,
    );
  });
});

describe("settings that can't be used", () => {
  // promise P5.7
  test.each(["0s", "-1h", "soon", Number.NaN, 0])(
    "requestStateLifetime %j is CONFIG_INVALID and named",
    (requestStateLifetime) => {
      expect(() => startHarness({}, { requestStateLifetime })).toThrow(
        expect.objectContaining({
          code: "CONFIG_INVALID",
          message: expect.stringContaining("requestStateLifetime") as string,
        }) as Error,
      );
    },
  );

  test("a server without a name is DEFINITION_INVALID", () => {
    const { store } = startHarness({});
    expect(() =>
      createRuntime({
        server: defineServer({ name: "" }),
        store,
        sealer: { seal: () => "", open: () => ({ ok: false, cause: "x" }) },
      }),
    ).toThrow(expect.objectContaining({ code: "DEFINITION_INVALID" }) as Error);
  });
});
