/**
 * A tool that lets the client's model write. It changes nothing, so it is repeatable: its runs leave no record
 * behind, and what it read travels sealed with the client.
 */
import { type ToolDefinition, tool } from "reprise";
import { formatMoney } from "../money.ts";
import type { Payments } from "../payments/client.ts";

/** `summarize_orders`: a few sentences about all orders, written by the client's model. */
export function summarizeOrders(payments: Payments): ToolDefinition {
  return tool({
    name: "summarize_orders",
    description: "Summarize the shop's orders in a few sentences",
    annotations: { readOnlyHint: true },
    needs: { sampling: true },
    async handler(_args, ctx) {
      const orders = await ctx.read("load orders", () => payments.orders());
      const lines = orders.map(
        ({ id, placedOn, items, total, status }) =>
          `${id}, ${placedOn}, ${items.map(({ name }) => name).join(" + ")}, ${formatMoney(total)}, ${status}`,
      );
      const summary = await ctx.sample({
        systemPrompt: "You write short, factual summaries for a shop's owner.",
        messages: [
          {
            role: "user",
            content: {
              type: "text",
              text: `Summarize these orders in three sentences:\n${lines.join("\n")}`,
            },
          },
        ],
        maxTokens: 300,
      });
      return summary.text;
    },
  });
}
