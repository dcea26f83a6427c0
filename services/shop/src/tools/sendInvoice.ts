/**
 * A tool that asks for a form. An invoice may be sent twice on purpose, so there is no idempotency key over calls;
 * within a call the e-mail still goes out once.
 */
import { CallerError, type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import type { Mail } from "../mail/client.ts";
import { languages } from "../mail/letters.ts";
import type { Payments } from "../payments/client.ts";

const destination = z.object({
  address: z.email().describe("Where the invoice goes"),
  language: z.enum(languages).describe("The language it is written in"),
});

/** `send_invoice {orderId}`: asks for address and language, then sends the order's invoice. */
export function sendInvoice(payments: Payments, mail: Mail): ToolDefinition {
  return tool({
    name: "send_invoice",
    description: "Send the invoice of an order by e-mail",
    input: z.object({ orderId: z.string().describe("For example 1001") }),
    async handler({ orderId }, ctx) {
      const order = await ctx.read("load order", () => payments.order(orderId));
      if (order === undefined) throw new CallerError(`There is no order ${orderId}.`);

      const form = await ctx.elicit(`Where shall the invoice of order ${orderId} go?`, destination);
      if (form.action !== "accept") return "No invoice was sent.";

      const delivery = await ctx.step(
        "mail invoice",
        ({ idempotencyKey }) => mail.invoice(order, form.content, idempotencyKey),
        { onUncertain: ({ idempotencyKey }) => mail.find(idempotencyKey) },
      );
      return `Sent the invoice of order ${orderId} to ${delivery.to}.`;
    },
  });
}
