/**
 * Connecting: what is checked at start, in plain words, and what an outage does.
 */
import assert from "node:assert/strict";
import { connectRedis, type RedisClient, type RedisConnection } from "@reprise/store-redis";
import { describe, onTestFinished, test, vi } from "vitest";
import { startFaultProxy } from "../../../test/support/faultProxy.ts";
import {
  type RedisServer,
  type RedisServerOptions,
  startRedis,
} from "../../../test/support/redisServer.ts";

async function server(options: RedisServerOptions = {}): Promise<RedisServer> {
  const started = await startRedis(options);
  onTestFinished(() => started.stop());
  return started;
}

async function connected(url: string): Promise<RedisConnection> {
  const connection = await connectRedis({ url });
  onTestFinished(() => connection.close());
  return connection;
}

describe("connectRedis", () => {
  test("refuses a Redis that may evict runs, with the command that mends it", async () => {
    const { url } = await server({ maxmemoryPolicy: "allkeys-lru" });
    await assert.rejects(connectRedis({ url }), (failure: Error) => {
      assert.match(failure.message, /CONFIG SET maxmemory-policy noeviction/);
      return "code" in failure && failure.code === "STORE_UNUSABLE";
    });
  });

  test("says which writes survive, and warns with a command where none do", async () => {
    const nothing = await connected((await server()).url);
    assert.equal(nothing.durability, "none");
    assert.match(nothing.warnings.join("\n"), /CONFIG SET appendonly yes/);
    const always = await connected((await server({ port: 0, appendonly: true })).url);
    assert.equal(always.durability, "always");
    assert.deepEqual(always.warnings, []);
    const second = { appendonly: true, appendfsync: "everysec" } as const;
    assert.equal((await connected((await server(second)).url)).durability, "everysec");
  });

  test("gives up on an address where nothing answers, as something that may be tried again", async () => {
    const { url, kill } = await server({ port: 0 });
    await kill();
    await assert.rejects(connectRedis({ url, connectTimeoutMs: 200 }), {
      code: "STORE_UNAVAILABLE",
    });
  });

  test("refuses options that can't be meant, by name", async () => {
    await assert.rejects(connectRedis({}), /exactly one of url, sentinel and cluster/);
    await assert.rejects(connectRedis({ url: "localhost" }), /url must be/);
    await assert.rejects(
      connectRedis({ url: "redis://localhost", commandTimeoutMs: 0 }),
      /commandTimeoutMs/,
    );
    await assert.rejects(connectRedis({ cluster: { nodes: [] } }), /cluster needs/);
    await assert.rejects(connectRedis({ sentinel: { name: "", nodes: [] } }), /sentinel needs/);
  });

  test("goes on by itself after Redis was restarted", async () => {
    const redis = await server({ port: 0, appendonly: true });
    const { client } = await connected(redis.url);
    await client.set("kept", "yes");
    await redis.restart();
    assert.equal(await client.get("kept"), "yes");
  });

  test("ends no process when a subscription is refused after an outage", async () => {
    const { client, duplicate } = await connected((await server()).url);
    const subscriber = duplicate();
    await subscriber.subscribe("news");
    const again = new Promise((resolve) => subscriber.once("ready", resolve));
    await client.call("ACL", "SETUSER", "default", "-subscribe");
    await client.call("CLIENT", "KILL", "TYPE", "pubsub");
    await again;
    // Answered after the subscription that ioredis made by itself; a rejection that nobody holds would fail this run.
    await subscriber.ping();
    subscriber.disconnect();
  });
});

describe("a connection that fell silent without a word", () => {
  /** A connection through a proxy, whose present connections nothing comes over any more. */
  async function silenced(use: (connection: RedisConnection) => Promise<void>) {
    const { port } = await server({ port: 0 });
    const proxy = await startFaultProxy(port);
    onTestFinished(() => proxy.close());
    const url = `redis://127.0.0.1:${proxy.port}`;
    const connection = await connectRedis({ url, commandTimeoutMs: 200, silenceMs: 200 });
    onTestFinished(() => connection.close());
    await use(connection);
    proxy.silence();
    return connection;
  }

  test("is given up: the shared client serves again by itself", async () => {
    const { client } = await silenced(async () => undefined);
    await assert.rejects(client.ping());
    await vi.waitFor(async () => assert.equal(await client.ping(), "PONG"), 10_000);
  });

  test("is given up: a client that blocks or moves jobs goes on with what it asked", async () => {
    let copy: RedisClient | undefined;
    await silenced(async (connection) => {
      copy = connection.duplicate();
      onTestFinished(() => copy?.disconnect());
      await copy.ping();
    });
    assert.equal(await copy?.ping(), "PONG");
  });

  test("is given up: a client that only listens hears again what is published", async () => {
    const heard: string[] = [];
    const { client } = await silenced(async (connection) => {
      const copy = connection.duplicate();
      onTestFinished(() => copy.disconnect());
      copy.on("message", (_channel, message: string) => heard.push(message));
      await copy.subscribe("news");
    });
    await vi.waitFor(async () => {
      await client.publish("news", "something");
      assert.ok(heard.length > 0);
    }, 10_000);
  });
});
