/**
 * The shop's prompt. Prompts may ask as tools do, and are repeatable unless they say otherwise.
 */
import { CallerError, type PromptDefinition, prompt } from "reprise";
import * as z from "zod";
import { formatMoney } from "./money.ts";
import type { Payments } from "./payments/client.ts";

const wishes = z.object({
  tone: z.enum(["friendly", "formal", "brief"]).describe("How it should sound"),
  message: z.string().min(1).describe("What the customer should be told"),
});

/** `order_reply {orderId}`: asks what to say, and gives the model everything to write an answer with. */
export function orderReply(payments: Payments): PromptDefinition {
  return prompt({
    name: "order_reply",
    description: "Draft a reply to the customer of an order",
    input: z.object({ orderId: z.string().describe("For example 1001") }),
    complete: {
      async orderId(typed) {
        const orders = await payments.orders();
        return orders.map(({ id }) => id).filter((id) => id.startsWith(typed));
      },
    },
    async handler({ orderId }, ctx) {
      const order = await ctx.read("load order", () => payments.order(orderId));
      if (order === undefined) throw new CallerError(`There is no order ${orderId}.`);
      const form = await ctx.elicit(`What should ${order.customer} be told?`, wishes);
      if (form.action !== "accept") return `Ask me what ${order.customer} should be told.`;

      const { tone, message } = form.content;
      return [
        `Write a ${tone} reply to ${order.customer} about order ${order.id}`,
        `(${formatMoney(order.total)}, placed on ${order.placedOn}, ${order.status}).`,
        `Tell them: ${message}`,
      ].join(" ");
    },
  });
}
