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
  /** `REPRISE_DATA`, default `.reprise`, as an absolute path. */
  readonly dataDir: string;
}

/** Reads and checks the settings. @throws RepriseError CONFIG_INVALID naming the variable */
export function readConfig(env: NodeJS.ProcessEnv = process.env): ShopConfig {
  return {
    port: readPort(env, "PORT", 3000),
    shopPort: readPort(env, "SHOP_PORT", 3001),
    smtpPort: readPort(env, "SHOP_SMTP_PORT", 0),
    dataDir: resolve(env["REPRISE_DATA"] || ".reprise"),
  };
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
