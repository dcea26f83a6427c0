/**
 * Reads the settings of this process: the only file of this package that looks at the environment.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { RepriseError } from "@reprise/errors";
import { parseSettings, parseTokenSettings, type TokenSettings } from "./parseSettings.ts";
import type { Settings } from "./settings.ts";

/**
 * The settings of a front or a worker: from the configuration file, if one is named here or by `REPRISE_CONFIG`, and
 * from the environment, which wins.
 * @throws RepriseError CONFIG_INVALID that names everything that is wrong
 */
export function readSettings(
  configFile?: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Settings {
  const name = configFile ?? (env["REPRISE_CONFIG"] || undefined);
  const file = name === undefined ? {} : { file: { name, text: textOf(name) } };
  return parseSettings({ env, ...file, readSecretFile: (path) => readFileSync(path, "utf8") });
}

/** Whose tokens `reprise dev` accepts, from the environment alone. @throws RepriseError CONFIG_INVALID */
export function readTokenSettings(
  env: Readonly<Record<string, string | undefined>> = process.env,
): TokenSettings {
  return parseTokenSettings(env);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RepriseError("CONFIG_INVALID", `the configuration file can't be read: ${reason}`, {
      cause,
    });
  }
}
