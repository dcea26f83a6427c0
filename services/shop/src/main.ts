/**
 * The shop as a program: opens the shop's own page, whose address the payment service has to know; starts the outside
 * world (payment service and mail server, a process of its own); serves the shop's tools over MCP, and says where
 * everything is. Ends all on SIGINT, SIGTERM and SIGHUP.
 */
import { join } from "node:path";
import process from "node:process";
import { isRepriseError, RepriseError, type ServedServer, serve } from "reprise";
import { readConfig, type ShopConfig } from "./config.ts";
import { createMail } from "./mail/client.ts";
import { OutsideFailed, type OutsideProcess, startOutsideProcess } from "./outsideProcess.ts";
import { openShopPage } from "./page/shopPage.ts";
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
  const page = await openShopPage({ port: config.pagePort });
  let outside: OutsideProcess | undefined;
  try {
    outside = await startOutside(config, shopDir, page.url);
    const payments = createPayments(outside.url);
    const mail = createMail({ smtpPort: outside.smtpPort, logUrl: outside.url });
    const server = createShop({ payments, mail, scratchDir });
    const print = (link: string): void => {
      process.stdout.write(`  operators ${link}  (opens once)\n`);
    };
    const { port, dataDir } = config;
    // A newcomer looks for every run of the page in the dashboard.
    const mcp = await serve(server, { port, dataDir, repeatableHistory: true, ops: { print } });
    page.serve({ server, payments, mcpUrl: mcp.url });
    // Before the first line: who reads it may send a signal at once.
    const signal = nextSignal();
    process.stdout.write(welcome(mcp, page.url, outside, config.dataDir, scratchDir));

    const reason = await Promise.race([signal, outside.ended.then(() => "outside" as const)]);
    await mcp.close();
    if (reason === "outside") throw new Error("the payment service ended, so the shop did too");
  } finally {
    await outside?.stop();
    await page.close();
  }
}

async function startOutside(
  config: ShopConfig,
  dataDir: string,
  merchantUrl: string,
): Promise<OutsideProcess> {
  const { shopPort: port, smtpPort } = config;
  try {
    return await startOutsideProcess({ port, smtpPort, dataDir, merchantUrl });
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
  { url: mcpUrl, newOpsLink }: ServedServer,
  pageUrl: string,
  outside: OutsideProcess,
  dataDir: string,
  scratchDir: string,
): string {
  return `
The shop is open.
  MCP       ${mcpUrl}
  payments  ${outside.url}  GET /orders /invoices /charges /refunds /bookings /cancellations /payments, POST /faults
  mail log  ${outside.url}/mails  (SMTP on port ${outside.smtpPort})
  shop page ${pageUrl}  where the payment service sends people who have paid
  data      ${dataDir}
  scratch   ${scratchDir}
Try it in the browser, and watch the messages:
  ${new URL("host/", pageUrl).href}
See what operators see (the link opens once, within ten minutes):
  ${newOpsLink?.() ?? "no dashboard"}
or from another terminal:
  npx reprise call ${mcpUrl} refund_order '{"orderId":"1001"}'
  npx reprise call ${mcpUrl} pay_invoice '{"orderId":"1001"}'

`;
}
