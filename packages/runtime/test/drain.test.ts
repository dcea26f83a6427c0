import { tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { code, deferred, settled, startHarness, text } from "./support/harness.ts";

const description = "d";

/** A refund and its mail; the refund waits for `release`. */
function shop(): {
  readonly effects: string[];
  readonly release: { resolve(): void };
  readonly tools: readonly ReturnType<typeof tool>[];
} {
  const effects: string[] = [];
  const release = deferred();
  const tools = [
    tool({
      name: "refund",
      description,
      idempotency: { key: () => "k" },
      async handler(_args, ctx) {
        await ctx.step("refund", async () => {
          await release.promise;
          effects.push("refund");
        });
        await ctx.step("mail", () => effects.push("mail"));
        return "whole";
      },
    }),
  ];
  return { effects, release, tools };
}

describe("4.5, 7: a process that drains", () => {
  // promise P4.2.20
  test("hands over what it can't finish: a sweep elsewhere goes on although nobody comes again", async () => {
    const { effects, release, tools } = shop();
    const h = startHarness({ tools });
    const reply = h.call("refund");
    await settled();
    const closing = h.runtime.close();
    for (let beat = 0; beat < 101; beat += 1) await h.advance(100);
    release.resolve();
    await settled();
    await h.advance(10);
    await closing;
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(effects).toEqual(["refund"]);
    const next = h.beside({ tools }, { sweep: true });
    await next.advance(10_001);
    expect(effects).toEqual(["refund", "mail"]);
    const [run] = next.store.snapshot().runs;
    expect(run?.head).toMatchObject({ status: "completed", takeovers: 0, openStepPossible: false });
  });

  test("executes nothing that it claims afterwards, and gives it back", async () => {
    const { effects, release, tools } = shop();
    const h = startHarness({ tools });
    const claim = deferred();
    h.traffic.after = (method) => (method === "claimFirst" ? claim.promise : undefined);
    const reply = h.call("refund");
    await settled();
    const closing = h.runtime.close();
    claim.resolve();
    await settled();
    await h.advance(10);
    await closing;
    expect(code(await reply)).toBe("INTERRUPTED");
    expect(effects).toEqual([]);
    release.resolve();
    const next = h.beside({ tools });
    // Given back in time, or its lease ends: either way the next call does it once.
    await next.advance(10_001);
    expect(text(await next.call("refund"))).toBe("whole");
    expect(effects).toEqual(["refund", "mail"]);
  });
});
