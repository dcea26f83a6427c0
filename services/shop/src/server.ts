/**
 * The shop as an MCP server: what it serves, given the services it needs. Nothing listens here; main.ts and the
 * tests decide where it runs and what stands behind it.
 */
import { defineServer, type Server } from "reprise";
import type { Mail } from "./mail/client.ts";
import type { Payments } from "./payments/client.ts";
import { orderReply } from "./prompts.ts";
import { monthlyReport } from "./resources.ts";
import { Scratch } from "./scratch.ts";
import { bookTrip } from "./tools/bookTrip.ts";
import { deleteFolder } from "./tools/deleteFolder.ts";
import { payInvoice } from "./tools/payInvoice.ts";
import { refundOrder } from "./tools/refundOrder.ts";
import { sendInvoice } from "./tools/sendInvoice.ts";
import { summarizeOrders } from "./tools/summarizeOrders.ts";

/** What the shop needs of the world. */
export interface ShopServices {
  readonly payments: Payments;
  readonly mail: Mail;
  /** The directory whose folders `delete_folder` may delete. */
  readonly scratchDir: string;
}

/** The shop's server definition. The questions of `pay_invoice` are completed by the shop's page (page/shopPage.ts). */
export function createShop({ payments, mail, scratchDir }: ShopServices): Server {
  return defineServer({
    name: "shop",
    version: "0.1.0",
    title: "Reprise example shop",
    instructions: "Refunds, invoices and trips of a small shop. Orders are numbered from 1001.",
    tools: [
      deleteFolder(new Scratch(scratchDir)),
      refundOrder(payments, mail),
      sendInvoice(payments, mail),
      payInvoice(payments, mail),
      bookTrip(payments),
      summarizeOrders(payments),
    ],
    prompts: [orderReply(payments)],
    resources: [monthlyReport(payments)],
  });
}
