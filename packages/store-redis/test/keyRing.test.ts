/**
 * The key ring on a real Redis: the port's suite, members on connections of their own, and what Redis does to them.
 *
 * Members go by a clock that the test moves; Redis goes by its own. Nothing here waits for real time to pass.
 */
import { createStateSealer, type KeyRing } from "@reprise/request-state";
import { systemClock } from "@reprise/runtime";
import {
  connectRedis,
  createRedisKeyRingStore,
  type KeyRingOpenOptions,
  openKeyRing,
  openKeyRingAdmin,
  type RedisConnection,
} from "@reprise/store-redis";
import { createManualClock } from "@reprise/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { testKeyRingStore } from "../../../test/support/keyRingStoreSuite.ts";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";

let server: RedisServer;
let admin: RedisConnection;
beforeAll(async () => {
  server = await startRedis();
  admin = await connectRedis({ url: server.url });
});
afterAll(async () => {
  await admin.close();
  await server.stop();
});
beforeEach(async () => {
  await admin.client.flushall();
});

testKeyRingStore("Redis", async () => {
  const connections = [
    await connectRedis({ url: server.url }),
    await connectRedis({ url: server.url }),
  ] as const;
  const [one, other] = connections;
  return {
    stores: [createRedisKeyRingStore(one, "suite"), createRedisKeyRingStore(other, "suite")],
    close: async () => {
      for (const connection of connections) await connection.close();
    },
  };
});

const SECOND = 1000;
const DAY = 86_400_000;
const binding = { audience: "a", operation: "o", principal: "p", params: "x" };
const clock = createManualClock(Date.now());
const time = { now: clock.now, monotonic: clock.now, after: clock.setTimer };

interface Member {
  readonly ring: KeyRing;
  seal(): string;
  judge(token: string): Promise<string>;
}

let members = 0;

async function join(options: Partial<KeyRingOpenOptions> & { url?: string } = {}): Promise<Member> {
  const { url = server.url, ...rest } = options;
  const connection = await connectRedis({ url, commandTimeoutMs: 300 });
  members += 1;
  const ring = await openKeyRing({ connection, clock: time, owner: `member ${members}`, ...rest });
  onTestFinished(async () => {
    await ring.close();
    await connection.close();
  });
  const sealer = createStateSealer({ keys: ring });
  return {
    ring,
    seal: () => {
      const issuedAtMs = clock.now();
      const times = { issuedAtMs, expiresAtMs: issuedAtMs + DAY };
      const token = sealer.seal({ payload: {}, binding, ...times, confidential: false });
      if (typeof token !== "string") throw new TypeError("a member of the ring seals at once");
      return token;
    },
    judge: async (token) => {
      const reply = await sealer.open({ token, binding, nowMs: clock.now() });
      return reply.ok ? "opened" : reply.cause;
    },
  };
}

/** What a promise gives while the members' time passes, as fast as they take it. */
async function passing<T>(promise: Promise<T>): Promise<T> {
  let settled = false;
  const mark = (): void => {
    settled = true;
  };
  promise.then(mark, mark);
  for (; !settled; clock.advance(100)) await turn();
  return await promise;
}

/** Lets `ms` of the members' time pass; every look that falls due gets its reply before time goes on. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 500) {
    clock.advance(500);
    for (let turns = 0; turns < 3; turns += 1) await turn();
  }
}

/** A round trip: what the members sent before has been executed. */
async function turn(): Promise<void> {
  await admin.client.ping();
  await new Promise((resolve) => setImmediate(resolve));
}

const kidIn = (token: string): string => {
  const header: unknown = JSON.parse(
    Buffer.from(token.split(".")[0] ?? "", "base64url").toString(),
  );
  return (header as { kid: string }).kid;
};

describe("Two instances without any configuration", () => {
  test("open each other's states, on connections of their own", async () => {
    const [one, other] = [await join(), await join()];
    expect(await passing(other.judge(one.seal()))).toBe("opened");
    expect(await passing(one.judge(other.seal()))).toBe("opened");
  });

  test("of unlike namespaces open none of each other's", async () => {
    const [one, other] = [await join({ namespace: "blue" }), await join({ namespace: "green" })];
    await pass(6 * SECOND);
    expect(await passing(other.judge(one.seal()))).toBe("kid_unknown");
  });

  test("rotate when an operator asks, and refuse a key within 10 s of its revocation", async () => {
    const [one, other] = [await join(), await join()];
    const token = one.seal();
    const keys = openKeyRingAdmin({ connection: admin });
    await keys.rotate();
    await pass(4 * SECOND);
    expect(kidIn(one.seal())).not.toBe(kidIn(token));
    expect(await passing(other.judge(token))).toBe("opened");
    expect(await keys.revoke(kidIn(token))).toEqual({ known: true });
    await pass(10 * SECOND);
    expect(await passing(other.judge(token))).toBe("revoked_key");
    expect(await passing(one.judge(token))).toBe("revoked_key");
    const statuses = (await keys.list()).map(({ kid, status }) => [kid, status]);
    expect(statuses).toContainEqual([kidIn(token), "revoked"]);
    expect(statuses).toContainEqual([kidIn(one.seal()), "sealing"]);
  });
});

describe("In Redis the ring", () => {
  test("has exactly its four keys, in one slot, each with an expiry", async () => {
    const one = await join({ namespace: "shop" });
    const keys = openKeyRingAdmin({ connection: admin, namespace: "shop" });
    await keys.rotate();
    await keys.revoke(one.ring.sealing().kid);
    await pass(3 * SECOND);
    const names = (await admin.client.keys("*")).toSorted();
    expect(names).toEqual(
      ["ends", "facts", "keys", "tombstones"].map((noun) => `reprise1:{shop:keyring}:${noun}`),
    );
    for (const name of names) expect(await admin.client.pttl(name)).toBeGreaterThan(DAY);
  });

  test("that an operator only asked for a rotation expires too", async () => {
    await openKeyRingAdmin({ connection: admin }).rotate();
    for (const name of await admin.client.keys("*")) {
      expect(await admin.client.pttl(name)).toBeGreaterThan(0);
    }
  });

  test("shows no secret under keyEncryptionKey", async () => {
    const keyEncryptionKey = "a wrapping secret for tests, long enough";
    const [one, other] = [await join({ keyEncryptionKey }), await join({ keyEncryptionKey })];
    expect(await passing(other.judge(one.seal()))).toBe("opened");
    const texts = await admin.client.hvals("reprise1:{reprise:keyring}:keys");
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      expect(JSON.parse(text)).toMatchObject({ wrapped: expect.any(String) });
      expect(JSON.parse(text)).not.toHaveProperty("secret");
    }
  });

  test("names its owner as host and process", async () => {
    const one = await join({ owner: undefined });
    expect(one.ring.list()[0]?.owner).toMatch(new RegExp(`.:${process.pid}$`));
  });
});

describe("When Redis loses everything", () => {
  // promise P5.18
  test("the members publish again what they hold, and no dialogue ends but those of a revoked key", async () => {
    const [one, other] = [await join(), await join()];
    const gone = one.seal();
    const kept = other.seal();
    await pass(3 * SECOND);
    await openKeyRingAdmin({ connection: admin }).revoke(kidIn(gone));
    await pass(3 * SECOND);
    await admin.client.flushall();
    await admin.client.script("FLUSH");
    expect(await passing(one.judge(kept))).toBe("opened");
    await pass(3 * SECOND);
    const later = await join();
    expect(await passing(later.judge(kept))).toBe("opened");
    expect(await passing(later.judge(gone))).toBe("kid_unknown");
    const { client } = admin;
    expect(await client.hexists("reprise1:{reprise:keyring}:tombstones", kidIn(gone))).toBe(1);
    expect(await client.hexists("reprise1:{reprise:keyring}:keys", kidIn(gone))).toBe(0);
  });

  test("by a restart, they do the same over the connections that they make anew", async () => {
    const own = await startRedis();
    onTestFinished(() => own.stop());
    const one = await join({ url: own.url });
    const token = one.seal();
    await own.restart();
    const connection = await connectRedis({ url: own.url });
    onTestFinished(() => connection.close());
    const published = async (): Promise<number> => {
      clock.advance(SECOND);
      return await connection.client.hexists("reprise1:{reprise:keyring}:keys", kidIn(token));
    };
    while ((await published()) === 0) await turn();
    const other = await join({ url: own.url });
    expect(await passing(other.judge(token))).toBe("opened");
  });
});

describe("While Redis is down", () => {
  test("held keys open, the own key seals, and an unknown key can't be judged", async () => {
    const own = await startRedis();
    onTestFinished(() => own.stop());
    // The clock of the machine: Redis' silence takes as long as it takes.
    const real = { url: own.url, clock: systemClock };
    const [one, other, stranger] = [await join(real), await join(real), await join()];
    const token = other.seal();
    expect(await passing(one.judge(token))).toBe("opened");
    await own.kill();
    expect(await passing(one.judge(stranger.seal()))).toBe("ring_unavailable");
    expect(await passing(one.judge(token))).toBe("opened");
    expect(await passing(one.judge(one.seal()))).toBe("opened");
    await expect(passing(one.ring.revoke(kidIn(token)))).rejects.toMatchObject({
      code: "REQUEST_STATE_UNAVAILABLE",
    });
  });

  test("nobody joins, and nothing is left running", async () => {
    const own = await startRedis();
    onTestFinished(() => own.stop());
    const connection = await connectRedis({ url: own.url, commandTimeoutMs: 100 });
    await own.kill();
    await expect(openKeyRing({ connection })).rejects.toMatchObject({
      code: "REQUEST_STATE_UNAVAILABLE",
    });
    expect(connection.client.listenerCount("ready")).toBe(0);
    await connection.close();
  });
});

describe("Options", () => {
  test.each([
    ["namespace", { namespace: "a}b" }],
    ["namespace", { namespace: "" }],
    ["keyRotationInterval", { keyRotationInterval: "often" }],
    ["keyRotationInterval", { keyRotationInterval: 1000 }],
    ["requestStateLifetime", { requestStateLifetime: -1 }],
    ["keyEncryptionKey", { keyEncryptionKey: [] }],
  ])("that can't be used are refused by name: %s", async (name, options) => {
    await expect(openKeyRing({ connection: admin, ...options })).rejects.toThrow(name);
  });
});
