import { CallerError, ReadError, StepError, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { dialogue, question, startHarness, text, yes } from "./support/harness.ts";

const description = "d";

describe("values of steps and reads", () => {
  test("the handler receives what was decoded from the journal, the first time too", async () => {
    const live = { when: new Date(5), nested: { n: 1n } };
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const step = await ctx.step("s", () => live);
            const read = await ctx.read("r", () => live);
            expect(step).toStrictEqual(live);
            expect(read).toStrictEqual(live);
            expect(step).not.toBe(live);
            expect(read.nested).not.toBe(live.nested);
            return "same";
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toBe("same");
  });

  test("a failed read throws ReadError with the message, and again on the next attempt without running", async () => {
    let reads = 0;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const seen = await ctx
              .read("r", () => {
                reads += 1;
                throw new Error("down");
              })
              .catch((error: unknown) => error);
            await ctx.confirm("?");
            return seen instanceof ReadError ? `${seen.read}: ${seen.message}` : "?";
          },
        }),
      ],
    });
    expect(text(await dialogue(h, "t", [{ confirm: yes }]))).toBe("r: down");
    expect(reads).toBe(1);
  });

  test("a step's final failure is thrown again on every attempt as StepError, and not run again", async () => {
    let tries = 0;
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const seen = await ctx
              .step(
                "s",
                () => {
                  tries += 1;
                  throw new Error("refused");
                },
                { retry: { tries: 1 } },
              )
              .catch((error: unknown) => error);
            await ctx.confirm("?");
            if (seen instanceof StepError)
              throw new CallerError(`${seen.step}: ${seen.recorded.message}`);
            return "?";
          },
        }),
      ],
    });
    expect(text(await dialogue(h, "t", [{ confirm: yes }]))).toBe("s: refused");
    expect(tries).toBe(1);
  });
});

describe("ctx.state", () => {
  test("values are kept over rounds; set, has, delete and get agree", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const count = Number(ctx.state.get("count") ?? 0);
            ctx.state.set("count", String(count + 1));
            ctx.state.set("__proto__", "kept");
            const gone = [ctx.state.has("temp"), ctx.state.delete("temp")];
            if (count === 0) ctx.state.set("temp", "x");
            await ctx.confirm("?");
            return JSON.stringify([
              ctx.state.get("count"),
              ctx.state.get("__proto__"),
              gone,
              ctx.state.has("temp"),
            ]);
          },
        }),
      ],
    });
    expect(JSON.parse(text(await dialogue(h, "t", [{ confirm: yes }])))).toEqual([
      "2",
      "kept",
      [true, true],
      false,
    ]);
  });

  test("takes strings only", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          handler(_args, ctx) {
            ctx.state.set("n", 1 as unknown as string);
            return "x";
          },
        }),
      ],
    });
    expect(text(await h.call("t"))).toContain("VALUE_UNSUPPORTED");
  });
});

describe("uuid, random and now", () => {
  test("are the same on every attempt of the run, differ by name and run, and cost no write", async () => {
    const seen: string[] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            seen.push(JSON.stringify([ctx.uuid("a"), ctx.uuid("b"), ctx.random("a"), ctx.now()]));
            await ctx.confirm("?");
            return "x";
          },
        }),
      ],
    });
    const asked = question(await h.call("t"));
    await h.advance(5000);
    await h.call("t", { requestState: asked.requestState, inputResponses: { confirm: yes } });
    await h.call("t");
    const [first, again, other] = seen.map((line) => JSON.parse(line) as unknown[]);
    expect(again).toEqual(first);
    expect(first?.[0]).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
    expect(new Set([...(first?.slice(0, 2) ?? []), ...(other?.slice(0, 2) ?? [])]).size).toBe(4);
    expect(first?.[2]).toBeGreaterThanOrEqual(0);
    expect(first?.[2]).toBeLessThan(1);
  });

  test("now is the time of the newest entry delivered, on replay as on the first attempt", async () => {
    const seen: number[][] = [];
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            const times = [ctx.now()];
            await ctx.step("s", () => h.clock.advance(700));
            times.push(ctx.now());
            seen.push(times);
            await ctx.confirm("?");
            return "x";
          },
        }),
      ],
    });
    const start = h.clock.now();
    const asked = question(await h.call("t"));
    await h.advance(60_000);
    await h.call("t", { requestState: asked.requestState, inputResponses: { confirm: yes } });
    expect(seen).toEqual([
      [start, start + 700],
      [start, start + 700],
    ]);
  });
});

describe("context of the request", () => {
  test("run, caller and client are those of the request; the round counts up", async () => {
    const h = startHarness({
      tools: [
        tool({
          name: "t",
          description,
          async handler(_args, ctx) {
            await ctx.confirm("?");
            return JSON.stringify([ctx.run, ctx.caller.principal, ctx.client.protocolVersion]);
          },
        }),
      ],
    });
    const [run, principal, version] = JSON.parse(
      text(await dialogue(h, "t", [{ confirm: yes }])),
    ) as [{ id: string; round: number }, string, string];
    expect(run.round).toBe(1);
    expect(run.id).toBe(h.store.snapshot().runs[0]?.origin.runId);
    expect([principal, version]).toEqual(["anonymous", "2026-07-28"]);
  });
});
