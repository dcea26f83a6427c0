/**
 * The shop as a program: starts the outside world (payment service and mail server, a process of its own), then
 * serves the shop's tools over MCP, and says where everything is. Ends both on SIGINT, SIGTERM and SIGHUP.
 */
import { join } from "node:path";
import process from "node:process";
import { isRepriseError, RepriseError, serve } from "reprise";
import { readConfig, type ShopConfig } from "./config.ts";
import { createMail } from "./mail/client.ts";
import { OutsideFailed, type OutsideProcess, startOutsideProcess } from "./outsideProcess.ts";
import { createPayments } from "./payments/client.ts";
import { seedScratch } from "./scratch.ts";
import { createShop } from "./server.ts";

try {
  await run(readConfig());
} catch (error) {
  const text = isRepriseError(error) ? `${error.code}: ${error.message}` : String(error);
  process.stderr.write(`${text}\n`);
  process.exitCode = 1;
}

async function run(config: ShopConfig): Promise<void> {
  const shopDir = join(config.dataDir, "shop");
  const scratchDir = join(shopDir, "scratch");
  await seedScratch(scratchDir);
  const outside = await startOutside(config, shopDir);
  try {
    const payments = createPayments(outside.url);
    const mail = createMail({ smtpPort: outside.smtpPort, logUrl: outside.url });
    const shop = createShop({ payments, mail, scratchDir });
    const mcp = await serve(shop, { port: config.port, dataDir: config.dataDir });
    // Before the first line: who reads it may send a signal at once.
    const signal = nextSignal();
    process.stdout.write(welcome(mcp.url, outside, config.dataDir, scratchDir));

    const reason = await Promise.race([signal, outside.ended.then(() => "outside" as const)]);
    await mcp.close();
    if (reason === "outside") throw new Error("the payment service ended, so the shop did too");
  } finally {
    await outside.stop();
  }
}

async function startOutside(config: ShopConfig, dataDir: string): Promise<OutsideProcess> {
  const { shopPort: port, smtpPort } = config;
  try {
    return await startOutsideProcess({ port, smtpPort, dataDir });
  } catch (error) {
    if (!(error instanceof OutsideFailed) || error.code !== "EADDRINUSE") throw error;
    throw new RepriseError("PORT_IN_USE", `SHOP_PORT or SHOP_SMTP_PORT is taken: ${error.message}`);
  }
}

function nextSignal(): Promise<"signal"> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.once(signal, () => resolve("signal"));
    }
  });
}

function welcome(
  mcpUrl: string,
  outside: OutsideProcess,
  dataDir: string,
  scratchDir: string,
): string {
  return `
The shop is open.
  MCP       ${mcpUrl}
  payments  ${outside.url}  GET /orders /charges /refunds /bookings, POST /faults
  mail log  ${outside.url}/mails  (SMTP on port ${outside.smtpPort})
  data      ${dataDir}
  scratch   ${scratchDir}
Try it from another terminal:
  npx reprise call ${mcpUrl} refund_order '{"orderId":"1001"}'

`;
}
