/**
 * The formats of the Redis store, pinned: what a release has written, this one and later ones read, be it open or encrypted.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import {
  connectRedis,
  type RedisConnection,
  type RedisStore,
  type RedisStoreOptions,
} from "@reprise/store-redis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  claimGoldenRun,
  goldenEntries,
  makeGoldenRun,
  scope,
} from "../../../test/support/goldenRun.ts";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { dump, type Held, restore, shape } from "./support/dump.ts";
import { openStore } from "./support/stores.ts";

let server: RedisServer;
let connection: RedisConnection;

beforeAll(async () => {
  server = await startRedis();
  connection = await connectRedis({ url: server.url });
});
afterAll(async () => {
  await connection?.close();
  await server?.stop();
});
beforeEach(() => connection.client.flushdb());

const now = Date.UTC(2026, 0, 2, 3, 5);
const clock = {
  playedNow: () => now,
  monotonicNow: () => 1000,
  setTimer: () => () => undefined,
};
const secret = "a golden secret, which opens golden records only";
const session = { kind: "session", id: "golden" };
const stream = { kind: "stream", id: "golden" };

const openGolden = (options: Partial<RedisStoreOptions> = {}): Promise<RedisStore> =>
  openStore({ connection, namespace: "golden", clock, ...options });

/** Everything that a store writes, once. */
async function writeGolden(store: RedisStore): Promise<void> {
  await makeGoldenRun(store);
  const until = now + 3_600_000;
  await store.shared.put(session, { ended: true }, undefined, until);
  await store.shared.append(stream, ["a", "b", "c"], { expiresAt: until, keep: 2 });
}

async function readGolden(store: RedisStore): Promise<void> {
  const record = await claimGoldenRun(store, `${scope}-1-golden`);
  expect(record.entries).toEqual(goldenEntries);
  expect(record.head).toMatchObject({
    status: "running",
    round: 1,
    state: { tone: "kind" },
    marks: { mail: {} },
    brought: { elicit: { digest: "d2" } },
  });
  expect(record.origin.params).toEqual({ name: "refund_order", arguments: { orderId: "1001" } });
  const known = await store.shared.get(session);
  assert.deepEqual(known?.value, { ended: true });
  assert.ok(await store.shared.put(session, 1, known?.revision, now + 1));
  const { items } = (await store.shared.read(stream, 0, 9)) ?? assert.fail();
  assert.deepEqual(
    items.map(({ text }) => text),
    ["b", "c"],
  );
  assert.equal(await store.shared.append(stream, ["d"], { expiresAt: now + 1, keep: 9 }), 4);
}

const folder = new URL("./golden/", import.meta.url);
const read = (file: string): Record<string, Held> =>
  JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Record<string, Held>;

describe.each([
  { kind: "open", options: {} },
  { kind: "encrypted", options: { recordEncryptionKey: secret } },
])("records, $kind", ({ kind, options }) => {
  const files = readdirSync(folder).filter((file) => file.startsWith(`${kind}.`));

  // promise P3.9.7
  test.each(files)("of %s go on today, with every entry, and keep their key", async (file) => {
    await restore(connection.client, read(file));
    const store = await openGolden(options);
    await expect(makeGoldenRun(store)).rejects.toThrow("RECORDED");
    await readGolden(store);
  });

  test("are written as the newest golden file has them: the same keys, the same members", async () => {
    await writeGolden(await openGolden(options));
    const golden = read(files.toSorted().at(-1) ?? assert.fail(`no golden file is ${kind}`));
    expect(shape(await dump(connection.client))).toEqual(shape(golden));
  });
});

test("Records that were written open are read after an encryption key has come", async () => {
  await writeGolden(await openGolden());
  await readGolden(await openGolden({ recordEncryptionKey: secret }));
});
