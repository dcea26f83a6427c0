import { defineServer, tool } from "@reprise/runtime";
import { harness } from "@reprise/testing";

const refunds = new Map<string, number>();
const server = defineServer({
  name: "shop",
  tools: [
    tool({
      name: "refund",
      description: "Refund an order",
      idempotency: { key: () => "order 1" },
      async handler(_args, ctx) {
        if (!(await ctx.confirm("Refund 12?"))) return "Kept.";
        await ctx.step("pay", ({ idempotencyKey }) => {
          refunds.set(idempotencyKey, 12);
        });
        return "Refunded.";
      },
    }),
  ],
});

/** Refunds once, although the process dies with the money gone and nothing recorded. */
export async function refundOnce(): Promise<{ text: string; refunds: number; fits: boolean }> {
  const t = await harness(server);
  const asked = await t.call("refund");
  t.crashAfter("pay");
  const { text } = await asked.answer(true);
  // A record from production does as well: `JSON.parse` of what the store loads.
  const { fits } = await t.replay(t.records()[0]);
  await t.close();
  return { text, refunds: refunds.size, fits };
}
