/** A front or a worker with the shop, as one program that can be bundled: `main.ts front`. */
import {
  createMail,
  createPayments,
  createShop,
  readServedConfig,
  seedScratch,
} from "@reprise/shop";
import { serveRole } from "./serveRole.ts";

const { shopUrl, smtpHost, smtpPort, scratchDir } = readServedConfig();
await seedScratch(scratchDir);
await serveRole(
  createShop({
    payments: createPayments(shopUrl),
    mail: createMail({ smtpHost, smtpPort, logUrl: shopUrl }),
    scratchDir,
  }),
);
