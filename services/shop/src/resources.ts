/**
 * The shop's resource. Reading it asks which month is wanted.
 */
import { type ResourceDefinition, resource } from "reprise";
import * as z from "zod";
import { formatMoney } from "./money.ts";
import type { Payments } from "./payments/client.ts";

/** `shop://report`: the orders of the month that the reader chooses, as a Markdown table. */
export function monthlyReport(payments: Payments): ResourceDefinition {
  return resource({
    name: "report",
    uri: "shop://report",
    title: "Monthly report",
    description: "The orders of one month",
    mimeType: "text/markdown",
    async handler(_args, ctx) {
      const orders = await ctx.read("load orders", () => payments.orders());
      const months = [...new Set(orders.map(({ placedOn }) => placedOn.slice(0, 7)))];
      const form = await ctx.elicit("Which month?", z.object({ month: z.enum(months) }));
      if (form.action !== "accept") return "No month was chosen.\n";

      const { month } = form.content;
      const rows = orders
        .filter(({ placedOn }) => placedOn.startsWith(month))
        .map(
          ({ id, customer, total, status }) =>
            `| ${id} | ${customer} | ${formatMoney(total)} | ${status} |`,
        );
      return [
        `# Orders of ${month}`,
        "",
        "| order | customer | total | status |",
        "|---|---|---:|---|",
        ...rows,
        "",
      ].join("\n");
    },
  });
}
