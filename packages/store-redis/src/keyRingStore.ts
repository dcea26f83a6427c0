/**
 * The key ring's database in Redis: four commands, each one script, and notices over one channel.
 *
 * keyRing.ts makes one a process and a connection. It moves texts; the rules are `@reprise/request-state`'s.
 *
 * 1. Commands go over the shared connection and settle within its time limit.
 * 2. Notices come over a client of their own, which lives from the first listener to the end of the last one. A lost one
 *    costs time only: members look regularly.
 * 3. A new connection is reported, because it may lead to a replica that became master without the last keys.
 */
import { randomUUID } from "node:crypto";
import type { KeyRingStore, RingEntry } from "@reprise/request-state";
import type { RedisClient, RedisConnection } from "./connection.ts";
import {
  entriesArgument,
  type KeyRingKeys,
  keyRingNames,
  publishRingKeys,
  readKeyRing,
  requestKeyRotation,
  revokeRingKeys,
} from "./keyRingScripts.ts";
import { asStoreError } from "./redisErrors.ts";
import { runScript } from "./script.ts";

type Listener = (event: "changed" | "reconnected") => void;

/**
 * The ring of a namespace, over a connection that stays the caller's. Lower than `openKeyRing`: it has no rules.
 * @throws TypeError for a namespace that can't be one
 */
export function createRedisKeyRingStore(
  connection: Pick<RedisConnection, "client" | "duplicate">,
  namespace: string,
): KeyRingStore {
  return new RedisKeyRingStore(connection, namespace);
}

class RedisKeyRingStore implements KeyRingStore {
  readonly #connection: Pick<RedisConnection, "client" | "duplicate">;
  readonly #keys: KeyRingKeys;
  readonly #notice: { readonly channel: string; readonly sender: string };
  readonly #listeners = new Set<Listener>();
  #subscriber: RedisClient | undefined;
  readonly #onReady = (): void => this.#tell("reconnected");

  constructor(connection: Pick<RedisConnection, "client" | "duplicate">, namespace: string) {
    this.#connection = connection;
    const { keys, channel } = keyRingNames(namespace);
    this.#keys = keys;
    this.#notice = { channel, sender: randomUUID() };
  }

  read(knownVersion: string | undefined): ReturnType<KeyRingStore["read"]> {
    const args = { knownVersion: knownVersion ?? "" };
    return reached(runScript(this.#connection.client, readKeyRing, this.#keys, args));
  }

  publish(keys: readonly RingEntry[]): Promise<readonly string[]> {
    const args = { entries: entriesArgument(keys), ...this.#notice };
    return reached(runScript(this.#connection.client, publishRingKeys, this.#keys, args));
  }

  async revoke(tombstones: readonly RingEntry[]): Promise<void> {
    const args = { entries: entriesArgument(tombstones), ...this.#notice };
    await reached(runScript(this.#connection.client, revokeRingKeys, this.#keys, args));
  }

  requestRotation(): Promise<number> {
    const { client } = this.#connection;
    return reached(runScript(client, requestKeyRotation, this.#keys, this.#notice));
  }

  listen(listener: Listener): () => void {
    // Each call its own registration, also of one function that listens twice.
    const registered: Listener = (event) => listener(event);
    if (this.#listeners.size === 0) this.#subscribe();
    this.#listeners.add(registered);
    return () => {
      if (this.#listeners.delete(registered) && this.#listeners.size === 0) this.#unsubscribe();
    };
  }

  #subscribe(): void {
    this.#connection.client.on("ready", this.#onReady);
    const subscriber = this.#connection.duplicate();
    this.#subscriber = subscriber;
    subscriber.on("message", (_channel: string, sender: string) => {
      if (sender !== this.#notice.sender) this.#tell("changed");
    });
    // ioredis subscribes again by itself; what was announced in between is seen by a look.
    subscriber.on("ready", () => this.#tell("changed"));
    // Rejected when the client is disconnected before it ever connected: the listeners are gone then.
    subscriber.subscribe(this.#notice.channel).catch(() => undefined);
  }

  #unsubscribe(): void {
    this.#connection.client.off("ready", this.#onReady);
    this.#subscriber?.disconnect();
    this.#subscriber = undefined;
  }

  #tell(event: "changed" | "reconnected"): void {
    for (const listener of this.#listeners) listener(event);
  }
}

async function reached<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (failure) {
    throw asStoreError(failure);
  }
}
