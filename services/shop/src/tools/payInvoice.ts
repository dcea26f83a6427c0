/**
 * A tool that has a person pay on somebody else's page. The card's number goes from the browser to the payment service;
 * what passes through here is the id of a payment, which is looked up there before it is believed.
 */
import { CallerError, type ToolDefinition, type ToolResult, tool } from "reprise";
import * as z from "zod";
import type { Mail } from "../mail/client.ts";
import { formatMoney } from "../money.ts";
import type { Payments } from "../payments/client.ts";
import type { Invoice } from "../payments/model.ts";

const outcome = z.object({
  orderId: z.string(),
  status: z.enum(["open", "paid"]).describe("What is known of the invoice"),
  amount: z.int().describe("In the currency's minor unit"),
  currency: z.string(),
  paymentId: z.string().optional().describe("Of the payment that paid it"),
});
/** What the shop's page says when it completes the question (page/shopPage.ts). */
const pageData = z.object({ paymentId: z.string() });

/** How long a person who says "done" too early is waited for. */
export interface PayInvoiceOptions {
  /** Milliseconds, each time. Default that of `ctx.elicitUrl`: 20 s. */
  readonly waitMs?: number;
}

/** `pay_invoice {orderId}`: sends the customer to the payment service's card page, and mails a receipt once it is paid. */
export function payInvoice(
  payments: Payments,
  mail: Mail,
  { waitMs }: PayInvoiceOptions = {},
): ToolDefinition {
  return tool({
    name: "pay_invoice",
    description: "Pay the open invoice of an order by card, on the payment service's own page",
    input: z.object({ orderId: z.string().describe("For example 1001") }),
    output: outcome,
    // Without a browser to send people to there is no use in starting.
    needs: { elicitation: { url: true } },
    // A second call while the first one waits is about the same page, so that nobody is asked for the same money twice.
    idempotency: { key: ({ orderId }) => orderId },
    async handler({ orderId }, ctx) {
      const order = await ctx.read("load order", () => payments.order(orderId));
      if (order === undefined) throw new CallerError(`There is no order ${orderId}.`);
      const invoice = await ctx.read("load invoice", () => payments.invoice(orderId));
      if (invoice === undefined) throw new CallerError(`Order ${orderId} has no invoice.`);
      if (invoice.status === "paid") {
        const text = `Nothing is open for order ${orderId}: its invoice is paid.`;
        return ctx.nothingDone(said(text, invoice, invoice.paymentId));
      }

      const visit = await ctx.elicitUrl(
        `Pay ${formatMoney(invoice)} for the delivery of order ${orderId} on the payment service's page.`,
        ({ id }) => payments.cardPage(orderId, id),
        waitMs === undefined ? {} : { waitMs },
      );
      if (visit.action !== "accept") return said("Nothing was paid.", invoice);

      const paymentId = paymentIdIn(visit.data);
      const payment = await ctx.read("load payment", async () =>
        paymentId === undefined ? undefined : payments.payment(paymentId),
      );
      if (payment?.orderId !== orderId) {
        const text = `The payment for order ${orderId} is not there yet. Call pay_invoice again to be shown the page once more.`;
        return ctx.nothingDone(said(text, invoice));
      }

      await ctx.step(
        "mail receipt",
        ({ idempotencyKey }) => mail.paymentReceipt(order, payment, idempotencyKey),
        { onUncertain: ({ idempotencyKey }) => mail.find(idempotencyKey) },
      );
      const text = `Paid ${formatMoney(payment)} for order ${orderId} (${payment.id}, card ending in ${payment.card}).`;
      return said(text, payment, payment.id);
    },
  });
}

function paymentIdIn(data: unknown): string | undefined {
  const said = pageData.safeParse(data);
  return said.success ? said.data.paymentId : undefined;
}

function said(
  text: string,
  { orderId, amount, currency }: Pick<Invoice, "orderId" | "amount" | "currency">,
  paymentId: string | null = null,
): ToolResult {
  return {
    content: [{ type: "text", text }],
    structuredContent: {
      ...{ orderId, status: paymentId === null ? "open" : "paid", amount, currency },
      ...(paymentId === null ? {} : { paymentId }),
    },
  };
}
