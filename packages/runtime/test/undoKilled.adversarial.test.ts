/**
 * A process that is killed at every point of a run that is undone: before and after each store call, and each effect (docs/design.md
 * 4.5).
 */
import { type Context, type ToolDefinition, tool } from "@reprise/runtime";
import { describe, expect, test } from "vitest";
import { code, type Harness, settled, startHarness, yes } from "./support/harness.ts";

const description = "d";
const named = (body: (ctx: Context) => Promise<string>): ToolDefinition =>
  tool({
    name: "t",
    description,
    idempotency: { key: () => "k" },
    answerWithin: "1m",
    handler: (_, ctx) => body(ctx),
  });

const headOf = (h: Harness) => h.store.snapshot().runs.at(-1)?.head;
const runIdOf = (h: Harness): string => h.store.snapshot().runs.at(-1)?.origin.runId ?? "";

/** `cancelledInStep`: by another process, while its second step runs. */
type End = "fails" | "cancelled" | "cancelledInStep" | "expires";

/** What becomes of a run whose process is killed at one of its points; undefined when it has not so many. */
async function killedAt(target: number, end: End) {
  const done = new Map<string, string>();
  const undone: string[] = [];
  const undoneKeys = new Set<string>();
  let points = 0;
  let serving: Harness | undefined;
  let isKilled = false;
  /** Another process, at whose calls nobody is killed. */
  let isOther = false;
  /** Before and after everything that leaves the process. */
  const point = (): Promise<void> | undefined => {
    if (isOther) return undefined;
    points += 1;
    if (points !== target) return undefined;
    isKilled = true;
    serving?.store.kill();
    return new Promise(() => undefined);
  };
  const book = (ctx: Context, name: string): Promise<string> =>
    ctx.step(
      name,
      async ({ idempotencyKey, attempt }) => {
        await point();
        done.set(idempotencyKey, name);
        if (end === "cancelledInStep" && name === "hotel" && attempt === 1) await cancelElsewhere();
        await point();
        return name;
      },
      {
        undo: async (_, { idempotencyKey }) => {
          await point();
          if (!undoneKeys.has(idempotencyKey)) undone.push(name);
          undoneKeys.add(idempotencyKey);
          await point();
        },
      },
    );
  const server = {
    tools: [
      named(async (ctx) => {
        await book(ctx, "flight");
        await book(ctx, "hotel");
        if (end === "fails") throw new Error("no car is left");
        await ctx.confirm("A car as well?");
        return "booked";
      }),
    ],
  };
  const h = startHarness(server);
  serving = h;
  async function cancelElsewhere(): Promise<void> {
    const canceller = h.beside();
    isOther = true;
    await canceller.runtime.cancel(runIdOf(canceller));
    isOther = false;
  }
  h.traffic.before = point;
  h.traffic.after = point;
  const play = async (on: Harness): Promise<unknown> => {
    let reply = await on.call("t");
    if (end === "cancelled") await on.runtime.cancel(runIdOf(on));
    if (end === "expires") await on.advance(61_000);
    if (reply.kind === "input_required") {
      const { requestState } = reply;
      reply = await on.call("t", { requestState, inputResponses: { confirm: yes } });
    }
    return reply;
  };
  const first = play(h);
  await Promise.race([first, settled()]);
  if (!isKilled) return undefined;
  const other = h.beside();
  serving = other;
  const reply = await play(other);
  return { reply, done: [...done.values()], undone, head: headOf(other), other };
}

describe.each(["fails", "cancelled", "cancelledInStep", "expires"] as const)(
  "a run that %s",
  (end) => {
    // promise P4.5.17
    test("is undone once for each thing it did, wherever its process is killed, and its key is free", async () => {
      let target = 1;
      for (; ; target += 1) {
        const ended = await killedAt(target, end);
        if (ended === undefined) break;
        const { reply, done, undone, head, other } = ended;
        expect(undone.toSorted(), `killed at ${target}`).toEqual(done.toSorted());
        expect(head, `killed at ${target}`).toMatchObject({ status: "undone", keyFree: true });
        const cancelled = "RUN_CANCELLED";
        const told = {
          ...{ fails: "no car", cancelled, cancelledInStep: cancelled, expires: "RUN_EXPIRED" },
        }[end];
        if (end !== "fails") expect(code(reply as never), `killed at ${target}`).toBe(told);
        else expect(reply).toMatchObject({ result: { isError: true } });
        // The next call with the key is a new run.
        await other.call("t");
        expect(other.store.snapshot().runs.length, `killed at ${target}`).toBeGreaterThan(1);
      }
      expect(target).toBeGreaterThan(15);
    });
  },
);
