/**
 * `reprise keys`: what an operator sees and does of the ring of request state keys in Redis.
 *
 * The command line calls it. It joins no ring and needs no secret: it shows what lies in Redis, asks for new keys and sets
 * tombstones. What people read goes out as a table, what scripts read as JSON.
 */
import { RepriseError } from "@reprise/errors";
import type { KeyRingAdmin, RingKeyListing } from "@reprise/request-state";
import { connectRedis, openKeyRingAdmin, type RedisConnectionOptions } from "@reprise/store-redis";
import { readSettings } from "./config.ts";
import { redisOptions } from "./shared.ts";

/** What every command on keys is told. */
export interface KeysFlags {
  /** As for `connectRedis`. Absent: the Redis of the settings, which may be behind Sentinels or a Cluster. */
  readonly redis?: string;
  /** The configuration file, without `redis`; else `REPRISE_CONFIG`. */
  readonly config?: string;
  /** Default: that of the settings, or `reprise` with `redis`. */
  readonly namespace?: string;
  readonly json?: true;
}

/** What is to be done. */
export type KeysAction =
  | { readonly name: "list" }
  | { readonly name: "rotate" }
  /** `unknown`: also when the ring has no such key, which is a typing error more often than not. */
  | { readonly name: "revoke"; readonly kid: string; readonly unknown?: true };

/**
 * Does it and prints what came of it.
 * @throws RepriseError STORE_UNAVAILABLE, STORE_UNUSABLE, REQUEST_STATE_UNAVAILABLE; CONFIG_INVALID for a kid or
 *   namespace that can't be one, and for a kid that the ring does not have
 */
export async function runKeys(
  action: KeysAction,
  flags: KeysFlags,
  print: (text: string) => void,
): Promise<void> {
  try {
    const { redis, namespace } = addressOf(flags);
    const connection = await connectRedis(redis);
    try {
      const ring = openKeyRingAdmin({ connection, namespace });
      const { outcome, text } = await perform(action, ring);
      print(flags.json === true ? JSON.stringify(outcome, undefined, 2) : text);
    } finally {
      await connection.close();
    }
  } catch (error) {
    // Misuse of an option for those functions; here, what somebody typed.
    if (!(error instanceof TypeError || error instanceof RangeError)) throw error;
    throw new RepriseError("CONFIG_INVALID", error.message, { cause: error });
  }
}

function addressOf(flags: KeysFlags): {
  readonly redis: RedisConnectionOptions;
  readonly namespace: string | undefined;
} {
  if (flags.redis !== undefined) {
    return { redis: { url: flags.redis }, namespace: flags.namespace };
  }
  const settings = readSettings(flags.config);
  const redis = redisOptions(settings);
  return { redis, namespace: flags.namespace ?? settings.namespace };
}

interface Performed {
  readonly outcome: object;
  readonly text: string;
}

async function perform(action: KeysAction, ring: KeyRingAdmin): Promise<Performed> {
  if (action.name === "list") {
    const keys = await ring.list();
    return { outcome: { keys }, text: table(keys) };
  }
  if (action.name === "rotate") {
    const requestedAtMs = await ring.rotate();
    const text =
      "Asked every instance for a new key; each makes one within seconds. The old ones still open what they sealed.";
    return { outcome: { requestedAtMs }, text };
  }
  const { kid, unknown } = action;
  const known = (await ring.list()).some((key) => key.kid === kid);
  if (!known && unknown !== true) {
    const advice = "see `reprise keys list`, or add --unknown to revoke it all the same";
    throw new RepriseError("CONFIG_INVALID", `the ring has no key ${kid}: ${advice}`);
  }
  await ring.revoke(kid);
  const text = `Revoked ${kid}. Within 10 s no instance that reaches Redis opens a state that it sealed.`;
  return { outcome: { revoked: kid, known }, text };
}

const columns = ["KEY", "STATUS", "OWNER", "CREATED", "OPENS UNTIL", "WRAPPED"];

function table(keys: readonly RingKeyListing[]): string {
  if (keys.length === 0) return "The ring has no keys.";
  const rows = [columns, ...keys.map(cellsOf)];
  const widths = columns.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function cellsOf(key: RingKeyListing): readonly string[] {
  const wrapped = key.wrapped === undefined ? "" : key.wrapped ? "yes" : "no";
  return [
    printable(key.kid),
    key.status,
    printable(key.owner ?? ""),
    timeOf(key.createdAtMs ?? key.revokedAtMs),
    timeOf(key.opensUntilMs),
    wrapped,
  ];
}

function timeOf(ms: number | undefined): string {
  // Beyond what a Date can hold: only someone who writes into Redis by hand gets there.
  return ms === undefined || ms > 8.64e15 ? "" : new Date(ms).toISOString();
}

/** Names come from a database that others can write: no control character reaches the terminal. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?");
}
