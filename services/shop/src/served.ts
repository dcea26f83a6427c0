/**
 * The shop as a file to serve: `reprise front services/shop/src/served.ts`, and the same for workers.
 *
 * The outside world runs elsewhere; config.ts tells where. Every process that serves this file must see the same
 * scratch folder, because a step of `delete_folder` may run in any of them.
 */
import type { ServerDefinition } from "reprise";
import { readServedConfig } from "./config.ts";
import { createMail } from "./mail/client.ts";
import { createPayments } from "./payments/client.ts";
import { seedScratch } from "./scratch.ts";
import { createShop } from "./server.ts";

const { shopUrl, smtpHost, smtpPort, scratchDir } = readServedConfig();
await seedScratch(scratchDir);

const shop: ServerDefinition = createShop({
  payments: createPayments(shopUrl),
  mail: createMail({ smtpHost, smtpPort, logUrl: shopUrl }),
  scratchDir,
});

export default shop;
