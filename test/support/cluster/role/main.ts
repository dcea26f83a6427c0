/**
 * A front or a worker with the shop, as one program that can be bundled: `main.ts front`. It is told by the same settings
 * and prints the same lines as services/front and services/worker, which load the shop as a file.
 */
import process from "node:process";
import {
  createMail,
  createPayments,
  createShop,
  readServedConfig,
  seedScratch,
} from "@reprise/shop";
import { readSettings, serveFront, serveWorker } from "reprise/roles";

const { shopUrl, smtpHost, smtpPort, scratchDir } = readServedConfig();
await seedScratch(scratchDir);
const shop = createShop({
  payments: createPayments(shopUrl),
  mail: createMail({ smtpHost, smtpPort, logUrl: shopUrl }),
  scratchDir,
});
const settings = readSettings();
const ended = new Promise<void>((resolve) => {
  process.once("SIGTERM", () => resolve());
});
if (process.argv[2] === "worker") {
  const worker = await serveWorker(shop, settings);
  process.stdout.write(`  queues    ${worker.queues.join(", ")}\n`);
  await ended;
  await worker.close();
} else {
  const front = await serveFront(shop, settings);
  process.stdout.write(`  MCP       ${front.url}\n`);
  await ended;
  await front.close();
}
