/**
 * A process of the chaos shop, as one program that can be bundled: `main.ts front`, `main.ts worker`, or `main.ts embedded`,
 * which is a whole server with the embedded store. Ends on SIGTERM after a drain.
 */
import "./clockShift.ts";
import { existsSync, readFileSync } from "node:fs";
import process from "node:process";
import {
  createMail,
  createPayments,
  openShopPage,
  type PageOptions,
  readServedConfig,
  type ShopPage,
} from "@reprise/shop";
import { type Authenticate, serve } from "reprise";
import { readSettings, serveFront, serveWorker } from "reprise/roles";
import {
  embeddedDataDir,
  embeddedLeaseMs,
  embeddedPort,
  revisionFile,
  trailFolder,
} from "./config.ts";
import { loadShop, type Revision } from "./loadShop.ts";
import { Trail } from "./trail.ts";

/** Callers say who they are, as behind a gateway that has authenticated them. */
const authenticate: Authenticate = ({ headers }) => {
  const { "x-caller": named = "legacy" } = headers;
  const principal = String(named);
  return { caller: { principal, person: principal, scopes: [], claims: {} } };
};

/** Read at every start, so that a deploy is a restart. */
function revision(): Revision {
  if (revisionFile === undefined || !existsSync(revisionFile)) return "main";
  return readFileSync(revisionFile, "utf8") === "changed" ? "changed" : "main";
}

function nextSigterm(): Promise<void> {
  return new Promise((resolve) => process.once("SIGTERM", () => resolve()));
}

/** The shop's own page. Visitors say who they are in the same way; a notice of the payment service is nobody's. */
async function openPage(): Promise<ShopPage | undefined> {
  if (pagePort === undefined) return undefined;
  const personOf: PageOptions["personOf"] = ({ headers }) => {
    const { "x-caller": named } = headers;
    return named === undefined ? undefined : String(named);
  };
  return openShopPage({ port: pagePort, personOf, endsWithProcess: true });
}

const { shopUrl, smtpHost, smtpPort, pagePort } = readServedConfig();
const payments = createPayments(shopUrl);
const shop = loadShop(
  { payments, mail: createMail({ smtpHost, smtpPort, logUrl: shopUrl }) },
  revision(),
  trailFolder === undefined ? undefined : new Trail(trailFolder),
);
// Before the first line: who reads it may send a signal at once.
const ended = nextSigterm();
const page = await openPage();
switch (process.argv[2]) {
  case "worker": {
    const worker = await serveWorker(shop, readSettings());
    process.stdout.write(`  queues    ${worker.queues.join(", ")}\n`);
    await ended;
    await worker.close();
    break;
  }
  case "front": {
    const front = await serveFront(shop, readSettings(), { authenticate });
    page?.serve({ server: shop, payments });
    process.stdout.write(`  MCP       ${front.url}\n`);
    await ended;
    await front.close();
    break;
  }
  default: {
    const dataDir = embeddedDataDir;
    const server = await serve(shop, {
      port: embeddedPort,
      dataDir,
      leaseMs: embeddedLeaseMs,
      authenticate,
      rateLimit: "none",
    });
    page?.serve({ server: shop, payments });
    process.stdout.write(`  MCP       ${server.url}\n`);
    await ended;
    await server.close();
  }
}
await page?.close();
