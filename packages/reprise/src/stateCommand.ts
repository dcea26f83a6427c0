/**
 * `reprise state inspect`: what a requestState or a session id says, and whether a key of ours has sealed it.
 *
 * The command line calls it. Keys come from `requestStateKey`, from a data directory or from the ring in Redis, which is read and not
 * joined. What author, client or person wrote (the journal of a repeatable run) is shown only with `reveal`.
 */
import {
  inspectState,
  type KeySource,
  keysFromSecrets,
  type StateInspection,
} from "@reprise/request-state";
import { openLmdbStore } from "@reprise/store-lmdb";
import { connectRedis, openKeyRingReading } from "@reprise/store-redis";
import { readOperatorSettings } from "./config.ts";
import { operatorExitCodes } from "./operatorExitCodes.ts";
import { type PlaceFlags, storeDirectory } from "./runsPlace.ts";
import { redisOptions } from "./shared.ts";

/** What the command is told. */
export interface StateFlags extends PlaceFlags {
  readonly json?: true;
  readonly reveal?: true;
}

type Finder = Pick<KeySource, "find">;

/**
 * Inspects and prints. Gives the exit code: 0 for a token that a key of ours has sealed, else 1.
 * @throws RepriseError CONFIG_INVALID, STORE_UNAVAILABLE, STORE_UNUSABLE, REQUEST_STATE_UNAVAILABLE
 */
export async function runStateInspect(
  token: string,
  flags: StateFlags,
  print: (text: string) => void,
): Promise<number> {
  const now = Date.now();
  const inspection = await inspectState(token, await keysOf(flags), now);
  const shown = flags.reveal === true ? inspection : withoutValues(inspection);
  print(flags.json === true ? JSON.stringify(shown, undefined, 2) : textOf(shown, now));
  const isOurs = inspection.kind === "token" && inspection.seal === "intact";
  return isOurs ? operatorExitCodes.done : operatorExitCodes.failed;
}

async function keysOf(flags: StateFlags): Promise<Finder> {
  if (flags.data !== undefined) return directoryKeys(flags.data);
  const settings = readOperatorSettings(flags);
  if (settings.requestStateKey.length > 0) return keysFromSecrets(settings.requestStateKey);
  const redis = flags.redis === undefined ? redisOptions(settings) : { url: flags.redis };
  const connection = await connectRedis(redis);
  try {
    const namespace = flags.namespace ?? settings.namespace;
    const { keyEncryptionKey: secrets } = settings;
    return await openKeyRingReading(
      { connection, namespace },
      secrets.length === 0 ? undefined : secrets,
    );
  } finally {
    await connection.close();
  }
}

async function directoryKeys(data: string): Promise<Finder> {
  const store = await openLmdbStore({ directory: storeDirectory(data) });
  try {
    return keysFromSecrets(await store.stateKey());
  } finally {
    await store.close();
  }
}

/** Ids, counts and digests only. */
function withoutValues(inspection: StateInspection): StateInspection {
  if (inspection.kind === "unreadable" || typeof inspection.claims === "string") return inspection;
  const { payload } = inspection.claims;
  const names = ["kind", "run", "round", "asked", "version", "startedAt", "id"];
  const plain = names.flatMap((name) =>
    Object.hasOwn(payload, name) ? [[name, payload[name]] as const] : [],
  );
  const hidden = Object.keys(payload).filter((name) => !names.includes(name));
  return {
    ...inspection,
    claims: { ...inspection.claims, payload: { ...Object.fromEntries(plain), hidden } },
  };
}

const seals = {
  intact: "intact: a key of this deployment has sealed it",
  broken: "broken: the key of that id has not sealed this text",
  unknown_key:
    "not known: no key of that id is here; it is of another deployment, revoked and forgotten, or made up",
  unavailable: "not known: the key lies in the ring under another keyEncryptionKey",
} as const;

function textOf(inspection: StateInspection, now: number): string {
  if (inspection.kind === "unreadable") return `No token of ours: ${inspection.fault}.`;
  const { form, kid, seal, key, claims } = inspection;
  const lines = [
    `form:     ${form === "jws" ? "signed (JWS HS256)" : "encrypted (JWE A256GCM)"}`,
    `key:      ${kid}${key === undefined ? "" : `, ${key}`}`,
    `seal:     ${seals[seal]}`,
  ];
  if (typeof claims === "string") lines.push(`claims:   none can be shown (${claims})`);
  else {
    const { issuedAtMs, expiresAtMs, binding, payload } = claims;
    const state = expiresAtMs <= now ? "expired" : "in time";
    lines.push(
      `issued:   ${new Date(issuedAtMs).toISOString()}`,
      `expires:  ${new Date(expiresAtMs).toISOString()} (${state})`,
      `bound to: ${Object.entries(binding)
        .map(([name, digest]) => `${name} ${String(digest)}`)
        .join("\n          ")}`,
      `says:     ${JSON.stringify(payload)}`,
    );
    if ("hidden" in payload) lines.push("(values are hidden; --reveal shows them)");
  }
  return lines.join("\n");
}
