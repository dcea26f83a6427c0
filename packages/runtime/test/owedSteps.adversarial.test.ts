/**
 * N2: a step that may have happened and was renamed by a deploy never happens under its new name as well.
 */
import { type Context, notDone, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { code, type Harness, settled, startHarness, text } from "./support/harness.ts";

const description = "d";
const never = (): Promise<never> => new Promise(() => undefined);
type Body = (ctx: Context) => Promise<string>;
type Release = { readonly version: string; readonly tools: readonly ReturnType<typeof tool>[] };

const release = (version: string, handler: Body): Release => ({
  version,
  tools: [
    tool({
      name: "t",
      description,
      idempotency: { key: () => "k" },
      handler: (_args, ctx) => handler(ctx),
    }),
  ],
});

/** A first call whose process dies in the middle of a marked step "refund". */
async function diedInRefund(before: Body = async () => ""): Promise<Harness> {
  const h = startHarness(
    release("1", async (ctx) => {
      await before(ctx);
      return ctx.step("refund", never, { onUncertain: "fail" });
    }),
  );
  void h.call("t");
  await settled();
  const other = h.beside();
  h.store.kill();
  return other;
}

describe("a marked step that its deploy renamed", () => {
  // promise P3.2.12
  test("does not start; after the stall it is a mismatch that names the step in doubt", async () => {
    const other = await diedInRefund();
    let effects = 0;
    const renamed = other.beside(
      release("2", (ctx) =>
        ctx.step("pay back", () => `paid ${++effects}`, { onUncertain: "fail" }),
      ),
    );
    const reply = renamed.call("t");
    await settled();
    await renamed.advance(29_999);
    await renamed.advance(1);
    const error = await reply;
    expect(code(error)).toBe("JOURNAL_MISMATCH");
    expect(error).toMatchObject({
      error: {
        message: expect.stringMatching(
          /step "refund" was started by an earlier attempt and may have happened.*"pay back"/,
        ) as string,
      },
    });
    expect(effects).toBe(0);
  });

  // promise P3.2.11
  test("does not start under another policy either, nor does any other step that follows", async () => {
    const other = await diedInRefund();
    const ran: string[] = [];
    const renamed = other.beside(
      release("2", async (ctx) => {
        await Promise.all([
          ctx.step("mail", () => ran.push("mail")),
          ctx.step("pay back", () => ran.push("pay back")),
        ]);
        return "done";
      }),
    );
    const reply = renamed.call("t");
    await settled();
    await renamed.advance(30_000);
    expect(code(await reply)).toBe("JOURNAL_MISMATCH");
    expect(ran).toEqual([]);
  });

  // promise P3.2.12
  test("is a mismatch at once when the handler ends without waiting for its new step", async () => {
    const other = await diedInRefund();
    let effects = 0;
    const hasty = other.beside(
      release("2", async (ctx) => {
        void ctx.step("pay back", () => (effects += 1));
        return "done";
      }),
    );
    expect(code(await hasty.call("t"))).toBe("JOURNAL_MISMATCH");
    expect(effects).toBe(0);
  });

  test("goes on in an instance that has the name, which asks what its policy says", async () => {
    const other = await diedInRefund();
    const renamed = other.beside(release("2", (ctx) => ctx.step("pay back", () => "paid")));
    const reply = renamed.call("t");
    await settled();
    await renamed.advance(30_000);
    expect(code(await reply)).toBe("JOURNAL_MISMATCH");
    expect(text(await other.call("t"))).toMatch(/"refund" may or may not have happened/);
  });

  test("is held as well when the failed run is gone on with", async () => {
    const other = await diedInRefund();
    expect(text(await other.call("t"))).toMatch(/may or may not have happened/);
    let effects = 0;
    const renamed = other.beside(
      release("2", (ctx) => ctx.step("pay back", () => `paid ${++effects}`)),
    );
    const reply = renamed.call("t");
    await settled();
    await renamed.advance(30_000);
    expect(code(await reply)).toBe("JOURNAL_MISMATCH");
    expect(effects).toBe(0);
  });
});

describe("a handler that has not changed", () => {
  test("comes to its marked step behind other work, and the steps beside it wait for that", async () => {
    let arrive = (): void => undefined;
    let attempts = 0;
    const order: string[] = [];
    const h = startHarness(
      release("1", async (ctx) => {
        attempts += 1;
        const isSecond = attempts === 2;
        const remote = isSecond ? new Promise<void>((resolve) => (arrive = resolve)) : undefined;
        const refund = async (): Promise<string> => {
          await remote;
          const found = (): string => "found";
          return ctx.step("refund", isSecond ? () => "again" : never, { onUncertain: found });
        };
        const mail = async (): Promise<void> => {
          if (!isSecond) await never();
          await ctx.step("mail", () => order.push("mail"));
        };
        const [refunded] = await Promise.all([refund(), mail()]);
        return refunded;
      }),
    );
    void h.call("t");
    await settled();
    const other = h.beside();
    h.store.kill();
    const reply = other.call("t");
    await settled();
    await other.advance(20_000);
    expect(order).toEqual([]);
    arrive();
    expect(text(await reply)).toBe("found");
    expect(order).toEqual(["mail"]);
  });

  // promise P3.2.11
  test("may go another way behind a failure that runs again", async () => {
    let isDown = true;
    const h = startHarness(
      release("1", async (ctx) => {
        try {
          await ctx.step("stock", () => {
            if (isDown) throw notDone(new Error("down"));
            return "booked";
          });
          return "booked";
        } catch {
          return ctx.step("refund", never, { onUncertain: "fail", timeoutMs: 1000 });
        }
      }),
    );
    const reply = h.call("t");
    await settled();
    for (let second = 0; second < 20; second += 1) await h.advance(1000);
    expect(text(await reply)).toMatch(/"refund" may or may not have happened/);
    isDown = false;
    expect(text(await h.call("t"))).toBe("booked");
  });
});
