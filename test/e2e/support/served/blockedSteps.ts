/**
 * A tool whose step pays and then blocks the event loop of its process, as a careless computation would.
 */
import { appendFileSync, existsSync } from "node:fs";
import { defineServer, type ServerDefinition, tool } from "@reprise/runtime";
import type { Payments } from "@reprise/shop";
import * as z from "zod";

/** `blocked_refund {orderId, blockMs}`: blocks when it is executed for the first time; `file` gets a line each time. */
export function blockedSteps(payments: Payments, file: string): ServerDefinition {
  return defineServer({
    name: "blocked-steps",
    tools: [
      tool({
        name: "blocked_refund",
        description: "Refund an order, and let nothing else happen for a while",
        input: z.object({ orderId: z.string(), blockMs: z.number() }),
        idempotency: { key: ({ orderId }) => orderId, scope: "tool" },
        async handler({ orderId, blockMs }, ctx) {
          const order = await ctx.read("load order", () => payments.order(orderId));
          if (order === undefined) return "There is no such order.";
          const execution = await ctx.step("refund", async (step) => {
            const isFirst = !existsSync(file);
            const name = `${process.pid}-${Date.now()}`;
            appendFileSync(file, `${name}\n`);
            await payments.refund(order, step);
            if (isFirst) block(blockMs);
            return name;
          });
          return `Refunded by execution ${execution}.`;
        },
      }),
    ],
  });
}

/** Neither timers nor replies come through meanwhile. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
