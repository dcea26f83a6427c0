/**
 * Lua scripts as typed functions: keys and arguments by name, replies parsed.
 *
 * Called by everything here that changes data in Redis. Each script is a file of `lua/`, named as the script is; its
 * header tells keys, arguments and replies in the same order as the descriptor here, and a test compares the two.
 *
 * L1 A server that lost its scripts (restart, SCRIPT FLUSH, failover) is sent the text again; nothing had run then.
 * L2 A reply that the parser does not know is a STORE_UNAVAILABLE: nobody acts on a guess.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { RepriseError } from "@reprise/errors";

/** What runs scripts: an ioredis client, standalone or Cluster. */
export interface ScriptClient {
  evalsha(sha: string, keys: number, ...values: string[]): Promise<unknown>;
  eval(text: string, keys: number, ...values: string[]): Promise<unknown>;
}

/** One script file and how it is called. */
export interface Script<Key extends string, Argument extends string, Reply> {
  /** Of the file in `lua/`, without its ending. */
  readonly name: string;
  readonly keys: readonly Key[];
  readonly args: readonly Argument[];
  /** Name of what may follow the arguments, any number of times. */
  readonly rest: string | undefined;
  readonly text: string;
  readonly sha: string;
  readonly parse: (reply: readonly unknown[]) => Reply | undefined;
}

/** What a descriptor says of its script. */
export interface ScriptShape<Key extends string, Argument extends string, Reply> {
  readonly keys: readonly Key[];
  readonly args: readonly Argument[];
  readonly rest?: string;
  /** Makes a reply (its tag first) a value; undefined for one that the script can't give. */
  readonly parse: (reply: readonly unknown[]) => Reply | undefined;
}

/** Describes the script of `lua/<name>.lua`; the file is read at once. */
export function defineScript<Key extends string, Argument extends string, Reply>(
  name: string,
  shape: ScriptShape<Key, Argument, Reply>,
): Script<Key, Argument, Reply> {
  const text = readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), "utf8");
  const sha = createHash("sha1").update(text).digest("hex");
  const { keys, args, rest, parse } = shape;
  return { name, keys, args, rest, text, sha, parse };
}

/**
 * Runs a script; all keys must share one hash tag.
 *
 * @throws what the client throws (see `redisErrors.ts`); STORE_UNAVAILABLE for an unknown reply
 */
export async function runScript<Key extends string, Argument extends string, Reply>(
  client: ScriptClient,
  script: Script<Key, Argument, Reply>,
  keys: Readonly<Record<Key, string>>,
  args: Readonly<Record<Argument, string | number>>,
  rest: readonly string[] = [],
): Promise<Reply> {
  const values: string[] = [];
  for (const name of script.keys) values.push(keys[name]);
  for (const name of script.args) values.push(String(args[name]));
  for (const value of rest) values.push(value);
  const reply = await evaluate(client, script, values);
  const parsed = Array.isArray(reply) ? script.parse(reply) : undefined;
  if (parsed === undefined) {
    const message = `script ${script.name} gave a reply that this release does not know`;
    throw new RepriseError("STORE_UNAVAILABLE", message, { cause: reply });
  }
  return parsed;
}

async function evaluate(
  client: ScriptClient,
  script: { readonly sha: string; readonly text: string; readonly keys: readonly string[] },
  values: readonly string[],
): Promise<unknown> {
  try {
    return await client.evalsha(script.sha, script.keys.length, ...values);
  } catch (failure) {
    if (!(failure instanceof Error) || !failure.message.startsWith("NOSCRIPT")) throw failure;
    return client.eval(script.text, script.keys.length, ...values);
  }
}
