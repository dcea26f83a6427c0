import { notDone, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  code,
  decline,
  deferred,
  person,
  question,
  settled,
  startHarness,
  text,
  yes,
} from "./support/harness.ts";

const description = "d";

/** What a remote system saw: effects with the step keys they came under. */
interface Remote {
  down: boolean;
  readonly effects: string[];
  readonly stepKeys: string[];
  readonly entered: string[];
}
const remote = (): Remote => ({ down: false, effects: [], stepKeys: [], entered: [] });

const refunds = (world: Remote, scope?: "tool"): ToolDefinition =>
  tool({
    name: "refund",
    description,
    input: z.object({ orderId: z.string() }),
    idempotency: {
      key: ({ orderId }) => orderId.split("/")[0],
      ...(scope === undefined ? {} : { scope }),
    },
    async handler({ orderId }, ctx) {
      world.entered.push(orderId);
      if (!(await ctx.confirm(`Refund ${orderId}?`))) return "kept";
      const what = await ctx.step(
        "refund",
        ({ idempotencyKey }) => {
          world.stepKeys.push(idempotencyKey);
          if (world.down) throw notDone(new Error("outage"));
          world.effects.push(orderId);
          return world.effects.length;
        },
        { retry: { tries: 1 } },
      );
      return `refunded ${what}`;
    },
  });

const args = { orderId: "o-1" };

describe("the same key and arguments", () => {
  // promise P4.3.4
  test("while it runs, joins it: one execution, equal results", async () => {
    const release = deferred<string>();
    let entered = 0;
    const h = startHarness({
      tools: [
        tool({
          name: "slow",
          description,
          idempotency: { key: () => "k" },
          handler: (_args, ctx) => {
            entered += 1;
            return ctx.step("s", () => release.promise);
          },
        }),
      ],
    });
    const replies = [h.call("slow"), h.call("slow"), h.beside().call("slow")];
    await settled();
    release.resolve("once");
    expect((await Promise.all(replies)).map(text)).toEqual(["once", "once", "once"]);
    expect(entered).toBe(1);
  });

  // promise P4.3.5
  test("while it waits, gets the same question sealed anew, and either state goes on", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world)] });
    const first = question(await h.call("refund", { args }));
    await h.advance(1000);
    const second = question(await h.call("refund", { args }));
    expect(second.inputRequests).toEqual(first.inputRequests);
    expect(second.requestState).not.toBe(first.requestState);
    expect(second.answerBeforeMs).toBeGreaterThan(first.answerBeforeMs);
    expect(world.entered).toHaveLength(1);
    const older = await h.call("refund", {
      args,
      requestState: first.requestState,
      inputResponses: { confirm: yes },
    });
    expect(text(older)).toBe("refunded 1");
  });

  // promise P4.3.6
  test("after a completed step, gets the recorded result", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world)] });
    const { requestState } = question(await h.call("refund", { args }));
    const ended = await h.call("refund", { args, requestState, inputResponses: { confirm: yes } });
    expect(await h.call("refund", { args })).toEqual(ended);
    expect(world.effects).toHaveLength(1);
  });
});

describe("when the key is free", () => {
  // promise P4.3.7
  test("B2: after a decline: the next call is a new run under a new generation", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world)] });
    const declined = question(await h.call("refund", { args }));
    expect(
      text(
        await h.call("refund", {
          args,
          requestState: declined.requestState,
          inputResponses: { confirm: decline },
        }),
      ),
    ).toBe("kept");
    const again = question(await h.call("refund", { args }));
    expect(
      text(
        await h.call("refund", {
          args,
          requestState: again.requestState,
          inputResponses: { confirm: yes },
        }),
      ),
    ).toBe("refunded 1");
    const generations = h.store.snapshot().runs.map((run) => run.origin.key?.generation);
    expect(generations).toEqual([1, 2]);
    // The declined state still gets its own recorded end.
    expect(
      text(
        await h.call("refund", {
          args,
          requestState: declined.requestState,
          inputResponses: { confirm: decline },
        }),
      ),
    ).toBe("kept");
    expect(world.effects).toHaveLength(1);
  });

  // promise P4.3.7
  test("B2: after an outage in which nothing happened: a new run whose step has another key", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world)] });
    world.down = true;
    const { requestState } = question(await h.call("refund", { args }));
    await h.call("refund", { args, requestState, inputResponses: { confirm: yes } });
    world.down = false;
    const again = question(await h.call("refund", { args }));
    await h.call("refund", {
      args,
      requestState: again.requestState,
      inputResponses: { confirm: yes },
    });
    expect(world.effects).toHaveLength(1);
    expect(new Set(world.stepKeys).size).toBe(2);
  });

  // promise P4.3.8, P4.3.9
  test("B2: after a throw before any step, and after nothingDone; not after a plain return without steps", async () => {
    const ends: ((say: (text: string) => string) => string)[] = [
      () => {
        throw new Error("stock service is down");
      },
      (say) => say("nothing to do"),
      () => "looked",
    ];
    const entered: number[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          input: z.object({ way: z.number() }),
          idempotency: { key: ({ way }) => String(way) },
          handler: ({ way }, ctx) => {
            entered.push(way);
            return (ends[way] ?? (() => "?"))((result) => ctx.nothingDone(result));
          },
        }),
      ],
    });
    for (const way of [0, 1, 2]) {
      await h.call("t", { args: { way } });
      await h.call("t", { args: { way } });
    }
    expect(entered).toEqual([0, 0, 1, 1, 2]);
  });

  // promise P4.3.8
  test("nothingDone after a started step is refused", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx.step("s", () => 1);
            return ctx.nothingDone("x");
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toContain("NOTHING_DONE_REFUSED");
  });
});

describe("when the key is kept", () => {
  // promise P4.3.10
  test("any other failure goes on from the failed step, under the same step key, with what was recorded before", async () => {
    const keys: string[] = [];
    const effects: string[] = [];
    let fails = true;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx.step("first", () => effects.push("first"));
            const rate = await ctx.read("rate", () => effects.push("rate"));
            await ctx.step(
              "second",
              ({ idempotencyKey }) => {
                keys.push(idempotencyKey);
                if (fails) throw new Error("connection dropped");
                effects.push("second");
              },
              { retry: { tries: 1 } },
            );
            return `done ${rate}`;
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toMatch(/"second" may or may not have happened/);
    fails = false;
    expect(text(await h.call("t"))).toBe("done 2");
    expect(text(await h.call("t"))).toBe("done 2");
    expect(effects).toEqual(["first", "rate", "second"]);
    expect(new Set(keys).size).toBe(1);
  });

  // promise P4.3.12
  test("an answer behind the failed step stands: the same question is not asked twice", async () => {
    let fails = true;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          idempotency: { key: () => "k" },
          async handler(_args, ctx) {
            await ctx
              .step(
                "try",
                () => {
                  if (fails) throw new Error("dropped");
                },
                { retry: { tries: 1 } },
              )
              .catch(() => undefined);
            const sure = await ctx.confirm("Go on?");
            if (fails) throw new Error("no");
            return `sure ${sure}`;
          },
        }),
      ],
    });
    const { requestState } = question(await h.call("t"));
    await h.call("t", { requestState, inputResponses: { confirm: yes } });
    fails = false;
    expect(text(await h.call("t"))).toBe("sure true");
  });
});

describe("whose key it is", () => {
  // promise P4.3.14
  test("other arguments under the same key are a coded error and run nothing", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world)] });
    question(await h.call("refund", { args }));
    expect(code(await h.call("refund", { args: { orderId: "o-1/other" } }))).toBe(
      "IDEMPOTENCY_CONFLICT",
    );
    expect(world.entered).toHaveLength(1);
  });

  test("with the scope of the caller, two callers have two runs", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world)] });
    question(await h.call("refund", { args, caller: person("ann") }));
    question(await h.call("refund", { args, caller: person("bob") }));
    expect(world.entered).toHaveLength(2);
  });

  // promise P4.3.15
  test("with the scope of the tool, another caller learns only that it runs, or is done", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world, "tool")] });
    const ann = { args, caller: person("ann") };
    const bob = { args, caller: person("bob") };
    const { requestState } = question(await h.call("refund", ann));
    expect(code(await h.call("refund", bob))).toBe("ALREADY_RUNNING");
    await h.call("refund", { ...ann, requestState, inputResponses: { confirm: yes } });
    const done = await h.call("refund", bob);
    expect(code(done)).toBe("ALREADY_DONE");
    expect(JSON.stringify(done)).not.toContain("refunded");
  });

  // promise P4.3.13
  test("with the scope of the tool, an expired question that started no step gives way to another caller", async () => {
    const world = remote();
    const h = startHarness({ tools: [refunds(world, "tool")] });
    const ann = { args, caller: person("ann") };
    const bob = { args, caller: person("bob") };
    const first = question(await h.call("refund", ann));
    h.clock.advance(24 * 3_600_000 + 1);
    const { requestState } = question(await h.call("refund", bob));
    const late = await h.call("refund", {
      ...ann,
      requestState: first.requestState,
      inputResponses: { confirm: yes },
    });
    expect(code(late)).toBe("RUN_CANCELLED");
    expect(
      text(await h.call("refund", { ...bob, requestState, inputResponses: { confirm: yes } })),
    ).toBe("refunded 1");
    expect(world.effects).toHaveLength(1);
  });

  test("another person's state is refused like an altered one", async () => {
    const h = startHarness({ tools: [refunds(remote())] });
    const { requestState } = question(await h.call("refund", { args, caller: person("ann") }));
    const reply = await h.call("refund", {
      args,
      caller: person("bob"),
      requestState,
      inputResponses: { confirm: yes },
    });
    expect(code(reply)).toBe("REQUEST_STATE_INVALID");
  });
});

describe("the client's own key", () => {
  const entered: string[] = [];
  const plain = tool({
    name: "plain",
    description,
    async handler(_args, ctx) {
      entered.push("in");
      await ctx.step("s", () => 1);
      return "x";
    },
  });
  const idempotencyKey = "0123456789abcdefghijkl";

  // promise P4.3.1
  test("makes repeated first calls of a tool without a key one run", async () => {
    const h = startHarness({ tools: [plain] });
    await h.call("plain", { idempotencyKey });
    await h.call("plain", { idempotencyKey });
    expect(entered).toEqual(["in"]);
  });

  // promise P4.3.2
  test.each(["short", "x".repeat(513), 5, null, {}])(
    "%j is refused before anything runs",
    async (bad) => {
      const h = startHarness({ tools: [plain] });
      expect(code(await h.call("plain", { idempotencyKey: bad }))).toBe("INVALID_IDEMPOTENCY_KEY");
      expect(h.traffic.calls).toEqual([]);
    },
  );

  // promise P4.3.1
  test("does not meet an author's key of the same text", async () => {
    const authored = tool({
      name: "plain",
      description,
      idempotency: { key: () => idempotencyKey },
      handler: () => "authored",
    });
    const h = startHarness({ tools: [plain] });
    await h.call("plain", { idempotencyKey });
    expect(text(await h.beside({ tools: [authored] }).call("plain"))).toBe("authored");
  });
});
