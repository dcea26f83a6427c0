/**
 * From the text of a file and an environment to settings: pure, so that every refusal has a test.
 *
 * 1. Whatever is wrong is collected and told in one CONFIG_INVALID: who mends one setting should not meet the next.
 * 2. A name that is not in the table is refused: a misspelt one would otherwise leave a default in force unnoticed.
 * 3. No message quotes a secret.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { durationMs } from "@reprise/runtime";
import {
  type SettingKind,
  type SettingRow,
  type Settings,
  settingRows,
  variableOf,
} from "./settings.ts";
import { closest } from "./spelling.ts";

/** Where settings come from. */
export interface SettingSources {
  /** The environment; only names that start with `REPRISE_` are looked at. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration file, if there is one. */
  readonly file?: { readonly name: string; readonly text: string };
  /** Reads the file that a variable such as `REPRISE_REQUEST_STATE_KEY_FILE` names. */
  readonly readSecretFile: (path: string) => string;
}

/** Variables that are no settings: the configuration file's, the example shop's, and those of this project's test suites. */
const otherVariables = /^REPRISE_(CONFIG$|DATA$|TEST_)/;

/** Those who use the secrets refuse shorter ones as well. */
const leastSecretBytes = 32;

/** What is wrong with one setting, without its value. */
class Unfit extends Error {}

/** All that `reprise dev` takes from the environment. */
export type EnvironmentSettings = TokenSettings & Pick<Settings, "otlpEndpoint">;

/** Whose tokens are accepted. */
export type TokenSettings = Pick<
  Settings,
  "auth" | "publicUrl" | "tokenIssuers" | "tokenAudiences" | "tokenScopes" | "tokenClockTolerance"
>;

/** Reads, checks and fills in defaults. @throws RepriseError CONFIG_INVALID with everything that is wrong */
export function parseSettings(sources: SettingSources): Settings {
  const problems: string[] = [];
  const fromFile = fileMembers(sources, problems);
  problems.push(...unknownNames(sources.env, fromFile));
  const parsed = parseRows(settingRows, fromFile, sources, problems) as Settings;
  if (problems.length === 0) {
    problems.push(...contradictions(parsed), ...tokenContradictions(parsed));
  }
  refuse(problems);
  return parsed;
}

/** The same of what `reprise dev` takes alone. @throws RepriseError CONFIG_INVALID */
export function parseEnvironment(env: SettingSources["env"]): EnvironmentSettings {
  const problems: string[] = [];
  const rows = settingRows.filter(
    ({ name }) => name === "publicUrl" || name === "otlpEndpoint" || name.startsWith("token"),
  );
  const sources = { env, readSecretFile: () => "" };
  const parsed = parseRows(rows, {}, sources, problems) as EnvironmentSettings;
  const settings: EnvironmentSettings = { ...parsed, auth: "required" };
  if (problems.length === 0) problems.push(...tokenContradictions(settings));
  refuse(problems);
  return settings;
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new RepriseError("CONFIG_INVALID", problems.join("; "), { data: { problems } });
}

/** The values of some rows; what is wrong goes into `problems`. */
function parseRows(
  rows: readonly SettingRow[],
  fromFile: Readonly<Record<string, unknown>>,
  sources: SettingSources,
  problems: string[],
): unknown {
  const settings: Record<string, unknown> = {};
  for (const row of rows) {
    try {
      const value =
        fromEnvironment(row, sources) ?? fromMember(row, fromFile[row.name]) ?? row.otherwise;
      if (value !== undefined) settings[row.name] = value;
    } catch (error) {
      if (!(error instanceof Unfit)) throw error;
      problems.push(error.message);
    }
  }
  return settings;
}

function fileMembers(
  { file }: SettingSources,
  problems: string[],
): Readonly<Record<string, unknown>> {
  if (file === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(file.text);
  } catch (error) {
    problems.push(`${file.name} is no JSON: ${error instanceof Error ? error.message : "unknown"}`);
    return {};
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  problems.push(`${file.name} must hold one JSON object`);
  return {};
}

function unknownNames(env: SettingSources["env"], members: object): readonly string[] {
  const isSecret = ({ type }: SettingRow): boolean => type.kind === "secrets";
  const variables = settingRows.flatMap((row) => {
    const variable = variableOf(row.name);
    return isSecret(row) ? [variable, `${variable}_FILE`] : [variable];
  });
  const names: readonly string[] = settingRows.map(({ name }) => name);
  const strange = (given: readonly string[], known: readonly string[]): readonly string[] =>
    given
      .filter((name) => !known.includes(name))
      .map((name) => {
        const meant = closest(name, known);
        return `${name} is no setting${meant === undefined ? "" : `; did you mean ${meant}?`}`;
      });
  const set = Object.keys(env).filter(
    (name) => name.startsWith("REPRISE_") && !otherVariables.test(name),
  );
  return [...strange(set, variables), ...strange(Object.keys(members), names)];
}

function fromEnvironment(row: SettingRow, { env, readSecretFile }: SettingSources): unknown {
  const variable = variableOf(row.name);
  const text = env[variable];
  if (text !== undefined && text !== "") return fromText(variable, row.type, text);
  const { alias } = row;
  const shared = alias === undefined ? undefined : env[alias];
  if (alias !== undefined && shared !== undefined && shared !== "") {
    return fromText(alias, row.type, shared);
  }
  const path = row.type.kind === "secrets" ? env[`${variable}_FILE`] : undefined;
  if (path === undefined || path === "") return undefined;
  let secrets: string;
  try {
    secrets = readSecretFile(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Unfit(`${variable}_FILE can't be read: ${reason}`);
  }
  return checked(`${variable}_FILE`, row.type, items(secrets, "\n"));
}

function fromText(variable: string, type: SettingKind, text: string): unknown {
  switch (type.kind) {
    case "whole":
      return checked(variable, type, /^\d+$/.test(text) ? Number(text) : text);
    case "switch":
      return checked(variable, type, text === "true" ? true : text === "false" ? false : text);
    case "list":
    case "secrets":
      return checked(variable, type, items(text, ","));
    case "counts":
      return checked(variable, type, Object.fromEntries(items(text, ",").map(pair)));
    default:
      return checked(variable, type, text);
  }
}

function fromMember(row: SettingRow, value: unknown): unknown {
  if (value === undefined) return undefined;
  // One secret or one name need no brackets.
  const isLone = typeof value === "string" && ["list", "secrets"].includes(row.type.kind);
  return checked(row.name, row.type, isLone ? [value] : value);
}

/** `name=number` of the environment; what is none is refused by the value's own check. */
function pair(text: string): readonly [string, unknown] {
  const [, name = text, digits] = /^([^=]+)=(\d+)$/.exec(text) ?? [];
  return [name, digits === undefined ? null : Number(digits)];
}

function items(text: string, separator: string): readonly string[] {
  return text
    .split(separator)
    .map((item) => item.trim())
    .filter((item) => item !== "");
}

/** The value, if it is of the setting's kind. */
function checked(name: string, type: SettingKind, value: unknown): unknown {
  const refuse = (wanted: string): never => {
    const isHidden = type.kind === "secrets" || (type.kind === "text" && type.isHidden === true);
    const shown = isHidden ? "" : `, not ${JSON.stringify(value)}`;
    throw new Unfit(`${name} must be ${wanted}${shown}`);
  };
  switch (type.kind) {
    case "text":
      if (typeof value !== "string" || value === "") return refuse("a text");
      return type.form?.pattern.test(value) === false ? refuse(type.form.words) : value;
    case "whole": {
      const { least, most } = type;
      const fits = Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;
      return fits ? value : refuse(`a whole number from ${least} to ${most}`);
    }
    case "switch":
      return typeof value === "boolean" ? value : refuse("true or false");
    case "choice":
      return type.choices.includes(String(value)) ? value : refuse(type.choices.join(" or "));
    case "duration":
      return isDuration(value) ? value : refuse('a duration above 0 such as "30s", "10m" or "24h"');
    case "counts": {
      const fits =
        typeof value === "object" &&
        value !== null &&
        !Array.isArray(value) &&
        Object.values(value).every((each) => Number.isSafeInteger(each) && each > 0);
      return fits ? value : refuse("names with whole numbers above 0");
    }
    case "list":
    case "secrets": {
      const fits =
        Array.isArray(value) && value.every((item) => typeof item === "string" && item !== "");
      if (!fits) return refuse("a list of texts");
      const isShort = (item: string): boolean => Buffer.byteLength(item) < leastSecretBytes;
      return type.kind === "secrets" && value.some(isShort)
        ? refuse(`secrets of at least ${leastSecretBytes} bytes each (openssl rand -base64 48)`)
        : value;
    }
  }
}

function isDuration(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return durationMs(value, "duration") > 0;
  } catch (error) {
    if (isRepriseError(error, "CONFIG_INVALID")) return false;
    throw error;
  }
}

/** What no single setting can get wrong. */
function contradictions(settings: Settings): readonly string[] {
  const { redisSentinels, redisSentinelName, redisCluster, redisUrl } = settings;
  const ways = [redisSentinels.length > 0, redisCluster.length > 0].filter(Boolean).length;
  const found: string[] = [];
  if (ways === 0 && redisUrl === undefined) {
    found.push(
      `redisUrl is missing: set ${variableOf("redisUrl")}, such as redis://127.0.0.1:6379`,
    );
  }
  if (ways === 2) found.push("redisSentinels and redisCluster exclude each other");
  if (redisSentinels.length > 0 && redisSentinelName === undefined) {
    found.push("redisSentinels needs redisSentinelName");
  }
  if (redisSentinels.length === 0 && redisSentinelName !== undefined) {
    found.push("redisSentinelName needs redisSentinels");
  }
  return found;
}

/** A check that nobody makes must not look like one that is made. */
function tokenContradictions(settings: TokenSettings): readonly string[] {
  const { auth, publicUrl, tokenIssuers, tokenAudiences, tokenScopes } = settings;
  if (tokenIssuers.length === 0) {
    const idle = { tokenAudiences, tokenScopes };
    return Object.entries(idle)
      .filter(([, value]) => value.length > 0)
      .map(([name]) => `${name} needs tokenIssuers: no token is checked without an issuer`);
  }
  const found: string[] = [];
  if (auth === "none") found.push("tokenIssuers and auth none exclude each other");
  if (publicUrl === undefined) {
    found.push(
      `tokenIssuers needs publicUrl: set ${variableOf("publicUrl")} to the URL under which clients reach the endpoint`,
    );
  }
  return found;
}
