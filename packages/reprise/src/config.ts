/**
 * Reads the settings of this process: the only file of this package that looks at the environment.
 */
import { readFileSync } from "node:fs";
import process from "node:process";
import { RepriseError } from "@reprise/errors";
import { type EnvironmentSettings, parseEnvironment, parseSettings } from "./parseSettings.ts";
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

/** Where commands for operators look when nothing says where: as redis-cli does. */
const USUAL_REDIS = "redis://127.0.0.1:6379";

/**
 * The settings that a command for operators goes by. `redis` stands for whatever they say of how Redis is reached.
 * @throws RepriseError CONFIG_INVALID that names everything that is wrong
 */
export function readOperatorSettings(
  { config, redis }: { readonly config?: string; readonly redis?: string },
  env: Readonly<Record<string, string | undefined>> = process.env,
): Settings {
  const isAlone = (config ?? (env["REPRISE_CONFIG"] || undefined)) === undefined;
  const url = redis ?? (env["REPRISE_REDIS_URL"] || (isAlone ? USUAL_REDIS : undefined));
  return readSettings(config, url === undefined ? env : { ...env, REPRISE_REDIS_URL: url });
}

/** What `reprise dev` takes from the environment: whose tokens it accepts, where spans go. @throws RepriseError CONFIG_INVALID */
export function readEnvironment(
  env: Readonly<Record<string, string | undefined>> = process.env,
): EnvironmentSettings {
  return parseEnvironment(env);
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
