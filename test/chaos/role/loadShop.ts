/**
 * The shop, as large as a load needs it: an order for every number, and two more tools that only trouble needs.
 *
 * Orders are those of the payment service under more names: `1001-a7` is order 1001 bought by `buyer-a7@example.com`. So the
 * ledger and the mail log tell every run's effects apart.
 */
import process from "node:process";
import {
  bookTrip,
  type Mail,
  type Payments,
  payInvoice,
  refundOrder,
  sendInvoice,
} from "@reprise/shop";
import { CallerError, defineServer, type Server, type ToolDefinition, tool } from "reprise";
import * as z from "zod";
import type { Trail } from "./trail.ts";

/** Which handlers are served: `changed` has a step under another name. */
export type Revision = "main" | "changed";

/** Short, so that who is late is asked again, and who never pays has an end within seconds. */
const pageWaitMs = 1_000;

/** The definition to serve. */
export function loadShop(
  services: { readonly payments: Payments; readonly mail: Mail },
  revision: Revision,
  trail?: Trail,
): Server {
  const payments = manyOrders(services.payments);
  const { mail } = services;
  const tools = [
    refundOrder(payments, mail),
    sendInvoice(payments, mail),
    bookTrip(payments),
    payInvoice(payments, mail, { waitMs: pageWaitMs }),
    payOut(payments, revision),
    killWorker(),
  ];
  return defineServer({
    name: "shop",
    version: revision,
    tools: trail === undefined ? tools : tools.map((each) => trail.followed(each)),
  });
}

/** Derived orders; the ledger takes a refund of any. */
function manyOrders(payments: Payments): Payments {
  return {
    ...payments,
    async order(id) {
      const [base = "", tag = ""] = id.split("-");
      const order = await payments.order(base);
      return order && { ...order, id, status: "paid", email: `buyer-${tag}@example.com` };
    },
  };
}

/** Two questions with a step between: a changed handler meets runs that have the step under its old name. */
function payOut(payments: Payments, revision: Revision): ToolDefinition {
  const stepName = revision === "main" ? "pay out" : "transfer";
  return tool({
    name: "pay_out",
    description: "Pay an order back, and close it after a second look",
    input: z.object({ orderId: z.string() }),
    async handler({ orderId }, ctx) {
      const order = await ctx.read("load order", () => payments.order(orderId));
      if (order === undefined) throw new CallerError(`There is no order ${orderId}.`);
      if (!(await ctx.confirm(`Pay back order ${orderId}?`))) return "Nothing was paid.";
      const refund = await ctx.step(stepName, (step) => payments.refund(order, step));
      const closes = await ctx.confirm(`Close order ${orderId}?`, { key: "close" });
      return `Paid back ${refund.id} for ${orderId}, ${closes ? "closed" : "left open"}.`;
    },
  });
}

/** Takes its process with it, each time: what a run does that no worker survives. */
function killWorker(): ToolDefinition {
  return tool({
    name: "kill_worker",
    description: "End the process that runs this",
    input: z.object({ orderId: z.string() }),
    async handler(_args, ctx) {
      await ctx.step("end", () => {
        process.kill(process.pid, "SIGKILL");
        return new Promise<never>(() => undefined);
      });
      return "It lives.";
    },
  });
}
