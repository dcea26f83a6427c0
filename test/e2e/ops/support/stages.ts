/**
 * The two ways in which a stranger starts the shop, and nothing but what each of them prints: `npm start` on the embedded store, and
 * `npm run cluster` with fronts behind nginx, workers and a dashboard of its own on one Redis.
 */
import { type Child, startNode } from "../../../support/childProcess.ts";
import { type ShopBooks, shopBooks, startShop } from "../../../support/shopProcess.ts";

/** What was started, as its start has printed it. */
export interface Stage {
  /** The host page. */
  readonly hostUrl: string;
  /** The link that opens the dashboard, once. */
  readonly opsLink: string;
  readonly books: ShopBooks;
  stop(): Promise<void>;
}

/** As they are typed. */
export const stages: Readonly<Record<string, () => Promise<Stage>>> = {
  "npm start": npmStart,
  "npm run cluster": npmRunCluster,
};

const hostLine = /^ {2}(http:\S+\/host\/)$/m;
const linkLine = /^ {2}(http:\S+\/ops\/enter\?link=\S+)$/m;

async function npmStart(): Promise<Stage> {
  const shop = await startShop();
  return { ...printedBy(shop.printed()), books: shop, stop: () => shop.stop() };
}

async function npmRunCluster(): Promise<Stage> {
  const env = { PORT: "0", SHOP_PORT: "0", OPS_PORT: "0" };
  const child = startNode(["infra/scripts/cluster.mjs"], env);
  const stop = async (): Promise<void> => endedWell(await child.stop());
  try {
    const [, outside = ""] = await child.line(/^ {2}payments +(\S+)/);
    await child.line(/npx reprise call/);
    return { ...printedBy(child.printed().stdout), books: shopBooks(outside), stop };
  } catch (error) {
    await child.stop();
    throw error;
  }
}

function printedBy(text: string): Pick<Stage, "hostUrl" | "opsLink"> {
  const [, hostUrl] = hostLine.exec(text) ?? [];
  const [, opsLink] = linkLine.exec(text) ?? [];
  if (hostUrl !== undefined && opsLink !== undefined) return { hostUrl, opsLink };
  throw new Error(`the start has not printed a host page and a link for operators\n${text}`);
}

function endedWell({ code, stderr }: Awaited<Child["ended"]>): void {
  if (code !== 0) throw new Error(`the start ended with ${code}\n${stderr}`);
}
