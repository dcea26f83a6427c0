/**
 * A tool that moves money: one refund and one e-mail, whatever is repeated, lost or killed on the way.
 */
import { CallerError, type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import type { Mail } from "../mail/client.ts";
import { formatMoney } from "../money.ts";
import type { Payments } from "../payments/client.ts";

/** `refund_order {orderId}`: gives the money of an order back after a yes, and writes a receipt. */
export function refundOrder(payments: Payments, mail: Mail): ToolDefinition {
  return tool({
    name: "refund_order",
    description: "Refund an order after the customer confirms",
    input: z.object({ orderId: z.string().describe("For example 1001") }),
    // An order is refunded once, so a second call is about the same refund, whoever makes it.
    idempotency: { key: ({ orderId }) => orderId, scope: "tool" },
    async handler({ orderId }, ctx) {
      const order = await ctx.read("load order", () => payments.order(orderId));
      if (order === undefined) throw new CallerError(`There is no order ${orderId}.`);
      if (order.status === "refunded") return `Order ${orderId} was already refunded.`;

      const question = `Refund ${formatMoney(order.total)} to ${order.email}?`;
      if (!(await ctx.confirm(question))) return "Nothing was refunded.";

      // The payment service knows idempotency keys: to try again with the same one is safe.
      const refund = await ctx.step("refund", (step) => payments.refund(order, step));
      // A mail server knows none: when a mail may or may not have gone out, ask its log.
      await ctx.step(
        "mail receipt",
        ({ idempotencyKey }) => mail.receipt(order, refund, idempotencyKey),
        { onUncertain: ({ idempotencyKey }) => mail.find(idempotencyKey) },
      );
      return `Refunded ${formatMoney(refund)}.`;
    },
  });
}
