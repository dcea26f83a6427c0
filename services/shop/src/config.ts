/**
 * The shop's settings: the only file of this service that reads the environment.
 */
import { resolve } from "node:path";
import process from "node:process";
import { RepriseError } from "reprise";

/** Where the shop listens and keeps its data. */
export interface ShopConfig {
  /** `PORT`, default 3000: MCP. */
  readonly port: number;
  /** `SHOP_PORT`, default 3001: payment service, mail log and faults. */
  readonly shopPort: number;
  /** `SHOP_SMTP_PORT`, default 0: a free one, told at start. */
  readonly smtpPort: number;
  /** `SHOP_PAGE_PORT`, default 3003: the shop's own page, and the host in the browser at `/host/`. */
  readonly pagePort: number;
  /** `REPRISE_DATA`, default `.reprise`, as an absolute path. */
  readonly dataDir: string;
}

/** Reads and checks the settings. @throws RepriseError CONFIG_INVALID naming the variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): ShopConfig {
  return {
    port: readPort(env, "PORT", 3000),
    shopPort: readPort(env, "SHOP_PORT", 3001),
    smtpPort: readPort(env, "SHOP_SMTP_PORT", 0),
    pagePort: readPort(env, "SHOP_PAGE_PORT", 3003),
    dataDir: resolve(env["REPRISE_DATA"] || ".reprise"),
  };
}

/** Where the shop's tools find the outside world, when they run in processes of their own (served.ts). */
export interface ServedConfig {
  /** `SHOP_URL`, default `http://127.0.0.1:3001`: payment service and mail log. */
  readonly shopUrl: string;
  /** `SHOP_PUBLIC_URL`, default `SHOP_URL`: the payment service as a person's browser reaches it. */
  readonly publicUrl: string;
  /** `SHOP_SMTP_HOST`, default the host of `SHOP_URL`. */
  readonly smtpHost: string;
  /** `SHOP_SMTP_PORT`, default 2525. */
  readonly smtpPort: number;
  /** `SHOP_SCRATCH`, default `.reprise/shop/scratch`, as an absolute path. The same for all processes. */
  readonly scratchDir: string;
  /** `SHOP_PAGE_PORT`: where this process serves the shop's own page. Without it, it serves none; one front must. */
  readonly pagePort: number | undefined;
  /** `SHOP_PAGE_HOST`, default `127.0.0.1`. */
  readonly pageHost: string;
  /** `SHOP_MCP_URL`: MCP as a person's browser reaches it. Without it the page has no host in the browser. */
  readonly mcpUrl: string | undefined;
}

/** Reads and checks the settings of served.ts. @throws RepriseError CONFIG_INVALID naming the variable */
export function readServedConfig(env: NodeJS.ProcessEnv = process.env): ServedConfig {
  const shopUrl = readUrl(env, "SHOP_URL", "http://127.0.0.1:3001");
  return {
    shopUrl,
    publicUrl: readUrl(env, "SHOP_PUBLIC_URL", shopUrl),
    smtpHost: env["SHOP_SMTP_HOST"] || new URL(shopUrl).hostname,
    smtpPort: readPort(env, "SHOP_SMTP_PORT", 2525),
    scratchDir: resolve(env["SHOP_SCRATCH"] || ".reprise/shop/scratch"),
    pagePort: env["SHOP_PAGE_PORT"] ? readPort(env, "SHOP_PAGE_PORT", 0) : undefined,
    pageHost: env["SHOP_PAGE_HOST"] || "127.0.0.1",
    mcpUrl: env["SHOP_MCP_URL"] ? readUrl(env, "SHOP_MCP_URL", "") : undefined,
  };
}

function readUrl(env: NodeJS.ProcessEnv, name: string, otherwise: string): string {
  const url = env[name] || otherwise;
  if (URL.canParse(url)) return url;
  throw new RepriseError("CONFIG_INVALID", `${name} must be a URL, not ${JSON.stringify(url)}`);
}

function readPort(env: NodeJS.ProcessEnv, name: string, otherwise: number): number {
  const text = env[name];
  if (text === undefined || text === "") return otherwise;
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65535) {
    throw new RepriseError(
      "CONFIG_INVALID",
      `${name} must be a port, 0 to 65535, not ${JSON.stringify(text)}`,
    );
  }
  return port;
}
