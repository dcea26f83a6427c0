/**
 * What a Redis must be, looked at once at start, with the command that mends each finding.
 *
 * Called by `connectRedis`. It reads INFO, TIME and, where the user may, CONFIG; it changes nothing.
 *
 * C1 What would lose runs silently is refused (STORE_UNUSABLE): a version without what the scripts need, eviction.
 * C2 What an operator may have chosen is a warning: no append-only file, a clock that is far off, a check that was denied.
 */
import { RepriseError } from "@reprise/errors";

/** What an acknowledged write survives: nothing, a restart but for the last second, or any crash of Redis. */
export type RedisDurability = "none" | "everysec" | "always";

/** What the checks found. */
export interface RedisFindings {
  readonly durability: RedisDurability;
  /** Each a sentence that ends with what to do. */
  readonly warnings: readonly string[];
}

/** One server, as the checks ask it. */
export interface CheckedServer {
  info(section: string): Promise<string>;
  time(): Promise<readonly (string | number)[]>;
  config(subcommand: "GET", name: string): Promise<unknown>;
}

const LEAST_MAJOR_VERSION = 7;
/** Server time decides leases and deadlines, ours what issuers' tokens say of time: beyond this, those are refused wrongly. */
const CLOCK_TOLERANCE_MS = 30_000;

/** Looks at one server. @throws RepriseError STORE_UNUSABLE */
export async function checkServer(
  server: CheckedServer,
  wallNow: () => number,
): Promise<RedisFindings> {
  const facts = new Map<string, string>();
  for (const section of ["server", "memory", "persistence"])
    readInfo(await server.info(section), facts);
  checkVersion(facts);
  checkEviction(facts);
  const warnings: string[] = [];
  const durability = await durabilityOf(server, facts, warnings);
  const [seconds, micros] = await server.time();
  const ahead = Number(seconds) * 1000 + Number(micros) / 1000 - wallNow();
  if (Math.abs(ahead) > CLOCK_TOLERANCE_MS) {
    const off = Math.round(Math.abs(ahead) / 1000);
    warnings.push(
      `Redis' clock is ${off} s ${ahead > 0 ? "ahead of" : "behind"} this machine's; synchronise both (timedatectl set-ntp true)`,
    );
  }
  return { durability, warnings };
}

/** Lines `name:value` of INFO. */
export function readInfo(text: string, into: Map<string, string> = new Map()): Map<string, string> {
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) into.set(line.slice(0, colon), line.slice(colon + 1).trim());
  }
  return into;
}

function checkVersion(facts: ReadonlyMap<string, string>): void {
  // Valkey says 7.2.4 under redis_version for ever, and its own beside it.
  const version = facts.get("redis_version") ?? "unknown";
  if (Number.parseInt(version, 10) >= LEAST_MAJOR_VERSION) return;
  const message = `Redis ${version} is too old: Reprise needs Redis 7.0 or newer, or Valkey; install it (apt-get install redis-server)`;
  throw new RepriseError("STORE_UNUSABLE", message);
}

function checkEviction(facts: ReadonlyMap<string, string>): void {
  const policy = facts.get("maxmemory_policy") ?? "noeviction";
  if (policy === "noeviction") return;
  const message = `Redis may evict records of runs (maxmemory-policy ${policy}), and their effects would happen again; run: redis-cli CONFIG SET maxmemory-policy noeviction`;
  throw new RepriseError("STORE_UNUSABLE", message);
}

async function durabilityOf(
  server: CheckedServer,
  facts: ReadonlyMap<string, string>,
  warnings: string[],
): Promise<RedisDurability> {
  if (facts.get("aof_enabled") !== "1") {
    warnings.push(
      "Redis keeps no append-only file: a crash of Redis loses runs, and their calls answer RUN_LOST; run: redis-cli CONFIG SET appendonly yes",
    );
    return "none";
  }
  const fsync = await settingOf(server, "appendfsync");
  if (fsync === "always") return "always";
  if (fsync === "no") {
    warnings.push(
      "Redis leaves it to the system when its append-only file reaches the disk (appendfsync no): a crash of the machine loses what the last half minute acknowledged; run: redis-cli CONFIG SET appendfsync always",
    );
    return "none";
  }
  if (fsync === undefined) {
    warnings.push(
      "this Redis user may not read appendfsync, so everysec is assumed; allow it with: ACL SETUSER <user> +config|get",
    );
  }
  return "everysec";
}

async function settingOf(server: CheckedServer, name: string): Promise<string | undefined> {
  try {
    const reply = await server.config("GET", name);
    if (Array.isArray(reply)) return reply[0] === name ? String(reply[1]) : undefined;
    const value: unknown =
      typeof reply === "object" && reply !== null
        ? Object.entries(reply).find(([key]) => key === name)?.[1]
        : undefined;
    return typeof value === "string" ? value : undefined;
  } catch {
    // Hosted Redis often denies CONFIG: the caller is told what is assumed then.
    return undefined;
  }
}
