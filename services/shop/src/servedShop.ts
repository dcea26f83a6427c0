/**
 * The shop for a process that others start and end: its services as the settings name them, and the shop's own page
 * where they say so.
 */
import type { Server } from "reprise";
import { readServedConfig, type ServedConfig } from "./config.ts";
import { createMail } from "./mail/client.ts";
import { openShopPage } from "./page/shopPage.ts";
import { createPayments } from "./payments/client.ts";
import { seedScratch } from "./scratch.ts";
import { createShop } from "./server.ts";

/**
 * The definition to serve. A page that is opened with it holds no process back from its end.
 * @throws RepriseError CONFIG_INVALID, PORT_IN_USE
 */
export async function openServedShop(config: ServedConfig = readServedConfig()): Promise<Server> {
  const { shopUrl, publicUrl, smtpHost, smtpPort, scratchDir, pagePort, pageHost, mcpUrl } = config;
  await seedScratch(scratchDir);
  const payments = createPayments(shopUrl, publicUrl);
  const mail = createMail({ smtpHost, smtpPort, logUrl: shopUrl });
  const server = createShop({ payments, mail, scratchDir });
  if (pagePort !== undefined) {
    const page = await openShopPage({ host: pageHost, port: pagePort, endsWithProcess: true });
    page.serve({ server, payments, ...(mcpUrl === undefined ? {} : { mcpUrl }) });
  }
  return server;
}
