/**
 * What is written about the same time leaves in one packet, and nothing waits for more to come.
 */
import assert from "node:assert/strict";
import { connectRedis, type RedisConnection } from "@reprise/store-redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";

let server: RedisServer;
let connection: RedisConnection;
let client: Redis;
/** Packets that left since the test began. */
let packets = 0;

beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis({ url: server.url });
  assert.ok(connection.client instanceof Redis);
  client = connection.client;
  const { stream } = client;
  for (const name of ["_write", "_writev"] as const) {
    const write: unknown = Reflect.get(stream, name, stream);
    assert.ok(typeof write === "function");
    Object.assign(stream, {
      [name]: (...args: readonly unknown[]): unknown => {
        packets += 1;
        return Reflect.apply(write, stream, args);
      },
    });
  }
});

afterAll(async () => {
  await connection?.close();
  await server?.stop();
});

beforeEach(async () => {
  await client.ping();
  packets = 0;
});

const immediate = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const tick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

describe("commands", () => {
  test("of one turn leave together", async () => {
    await Promise.all([client.ping(), client.ping(), client.ping()]);
    expect(packets).toBe(1);
  });

  test("leave at the end of their turn while few wait for a reply", async () => {
    const reply = client.ping();
    await tick();
    expect(packets).toBe(1);
    await reply;
  });

  test("of several turns of one round leave together while many wait, each with its own reply", async () => {
    // The connection answers nothing for so long: everything behind it waits.
    const held = [client.blpop("nothing", 0.3), client.ping(), client.ping(), client.ping()];
    await immediate();
    await immediate();
    packets = 0;
    const replies = await Promise.all(
      ["a", "b", "c"].map(async (word) => {
        await immediate();
        return client.echo(word);
      }),
    );
    expect(packets).toBe(1);
    expect(replies).toEqual(["a", "b", "c"]);
    await Promise.all(held);
  });
});
