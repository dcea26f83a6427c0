/**
 * Three tools that refund an order with one plain step each, and differ in its `onUncertain` alone.
 *
 * For a payment service that ignores idempotency keys: there the policy is all that stands between a crash and a
 * doubled refund.
 */
import {
  type Context,
  defineServer,
  type OnUncertain,
  type ServerDefinition,
  type ToolDefinition,
  tool,
  UncertainStepError,
} from "@reprise/runtime";
import type { Order, Payments, Refund } from "@reprise/shop";
import * as z from "zod";

/** What the three tools answer. */
export const plainAnswers = {
  done: "Refunded.",
  unknown: "It may or may not be refunded.",
} as const;

/** Asks the remote for the refund that was made with a key. */
export type FindRefund = (idempotencyKey: string) => Promise<Refund | undefined>;

/** `plain_retry`, `plain_fail` and `plain_ask`. */
export function plainSteps(payments: Payments, find: FindRefund): ServerDefinition {
  return defineServer({
    name: "plain-steps",
    tools: [
      plain("plain_retry", payments, "retry"),
      plain("plain_fail", payments, "fail"),
      plain("plain_ask", payments, ({ idempotencyKey }) => find(idempotencyKey)),
    ],
  });
}

function plain(name: string, payments: Payments, onUncertain: OnUncertain<Refund>): ToolDefinition {
  return tool({
    name,
    description: "Refund an order with a plain step",
    input: z.object({ orderId: z.string() }),
    idempotency: { key: ({ orderId }) => orderId, scope: "tool" },
    async handler({ orderId }, ctx) {
      const order = await ctx.read("load order", () => payments.order(orderId));
      if (order === undefined || !(await ctx.confirm(`Refund ${orderId}?`))) return "Nothing.";
      return refunded(ctx, payments, order, onUncertain);
    },
  });
}

async function refunded(
  ctx: Context,
  payments: Payments,
  order: Order,
  onUncertain: OnUncertain<Refund>,
): Promise<string> {
  try {
    await ctx.step("refund", (step) => payments.refund(order, step), { onUncertain });
    return plainAnswers.done;
  } catch (error) {
    if (error instanceof UncertainStepError) return plainAnswers.unknown;
    throw error;
  }
}
