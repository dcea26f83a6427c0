/**
 * An author's own server in the simulation: what is right stays right, and a tool that pays without its key is caught.
 */
import { defineServer, tool } from "@reprise/runtime";
import { type ServedWorld, simulateServer } from "@reprise/testing";
import { expect, test } from "vitest";

/** @param usesKey whether the payment service is told the step's key */
function shop(usesKey: boolean): ServedWorld {
  const charges = new Map<string, number>();
  let charged = 0;
  const charge = async (amount: number, key: string): Promise<number> => {
    if (usesKey && charges.has(key)) return amount;
    charges.set(key, amount);
    charged += amount;
    return amount;
  };
  const refund = tool({
    name: "charge",
    description: "Charge a card",
    async handler(_args, ctx) {
      const price = await ctx.read("price", async () => 12);
      if (!(await ctx.confirm(`Charge ${price}?`))) return "Kept.";
      const paid = await ctx.step("charge", ({ idempotencyKey }) => charge(price, idempotencyKey));
      return `Charged ${paid}.`;
    },
  });
  return { server: defineServer({ name: "shop", tools: [refund] }), seen: () => charged };
}

const options = { tool: "charge", answers: { confirm: true }, seeds: 40 };

test("a tool that gives its key to the remote charges once, whatever happens", async () => {
  const { violations } = await simulateServer({ ...options, open: () => shop(true) });
  expect(violations.map(({ story }) => story)).toEqual([]);
}, 120_000);

test("a tool that forgets its key is caught with a history that shows the second charge", async () => {
  const { violations } = await simulateServer({ ...options, open: () => shop(false) });
  expect(violations.length).toBeGreaterThan(0);
  expect(violations[0]?.message).toMatch(/^seen: (24|36|48) instead of 12$/);
  expect(violations[0]?.story).toContain("what happened:");
}, 120_000);

test("an undisturbed call that fails by a code is told as it is", async () => {
  const wrong = simulateServer({ ...options, tool: "nothing", open: () => shop(true) });
  await expect(wrong).rejects.toThrow('the server has no tool "nothing"');
}, 120_000);
