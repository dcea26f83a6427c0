/**
 * What the store leaves in Redis: only keys that the README lists, all with an expiry, and little of it while runs wait.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connectRedis, type RedisConnection, type RedisStore } from "@reprise/store-redis";
import { afterAll, beforeAll, describe, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
import { claimFirst, createRun, origin, progress, stepDone } from "./support/inputs.ts";
import { freshNamespace, openStore } from "./support/stores.ts";

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

/** Patterns of the first column of the README's key table. */
function listedKeys(): readonly RegExp[] {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  return [...readme.matchAll(/^\| `(reprise1:[^`]+)` \|/gm)].map(([, name]) => {
    const escaped = (name ?? "").replace(/[{}.]/g, "\\$&").replace(/<[^>]+>/g, "[^{}:]+");
    return new RegExp(`^${escaped}$`);
  });
}

const asks = {
  to: "waiting",
  pending: [
    {
      key: "confirm",
      question: "0123456789012345678901",
      asked: "0123456789012345678901",
      wire: { method: "elicitation/create", params: { message: "Refund?" } },
      text: "Refund?",
      changes: 0,
      unfinished: 0,
    },
  ],
  state: {},
  stateExpiresAt: Date.now() + 86_400_000,
} as const;

/** Every way through the port once. */
async function fullScenario(store: RedisStore, other: RedisStore): Promise<void> {
  const call = {
    version: "1",
    stateExpiresAt: Date.now() + 60_000,
    scope: "0123456789abcdef012345",
    perCaller: true,
    argsDigest: "a",
    principal: "alice",
    idSuffix: "x",
  };
  const first = await store.claimFirst(claimFirst({ ...call, token: "t1", waiterId: "w1" }));
  assert.ok(first.tag === "CLAIMED");
  const { ref } = first;
  const joined = await other.claimFirst(claimFirst({ ...call, token: "t2", waiterId: "w2" }));
  assert.equal(joined.tag, "RUNNING");
  const watching = other.watch(ref.runId, 1, 60_000, new AbortController().signal);
  const one = progress(1, { entries: [stepDone("one")], stepStarts: true });
  assert.equal((await store.append(ref, one)).tag, "OK");
  assert.equal((await store.renew(ref)).tag, "OK");
  assert.deepEqual(await store.leave(ref.runId, 1, "w1"), { stopping: false });
  await checkKeys("while an attempt goes on");
  assert.equal((await store.endRound(ref, progress(2), asks)).tag, "OK");
  await watching;
  await store.createRun(createRun("stopped"));
  assert.deepEqual(await other.leave("stopped", 1, "creator"), { stopping: true });
  await store.createRun(createRun("waits", { end: asks }));
  const retry = {
    ...call,
    token: "t3",
    waiterId: "w3",
    runId: "waits",
    round: 1,
    asked: ["0123456789012345678901"],
    answers: { confirm: { value: true, digest: "d" } },
    stateExpired: false,
    queue: true,
  };
  const queued = await store.claimRound(retry);
  assert.ok(queued.tag === "QUEUED");
  await checkKeys("while an attempt waits for a worker");
  const { epoch } = queued;
  const work = { version: "1", token: "t4", stateExpiresAt: 1, runId: "waits", epoch };
  assert.equal((await other.claimQueued(work)).tag, "CLAIMED");
  await store.createRun(createRun("asks", { end: asks }));
  await useShared(store);
  await useHistory(store);
  await checkKeys("in the end");
}

/** A record that stands, one that was removed, and a log. */
async function useShared({ shared }: RedisStore): Promise<void> {
  const until = Date.now() + 60_000;
  const revision = await shared.put({ kind: "session", id: "stands" }, 1, undefined, until);
  assert.ok(await shared.put({ kind: "session", id: "stands" }, 2, revision, until));
  const gone = { kind: "session", id: "removed" };
  const made = await shared.put(gone, 1, undefined, until);
  assert.equal(await shared.remove(gone, made ?? ""), true);
  await shared.append({ kind: "stream", id: "a" }, ["a"], { expiresAt: until, keep: 1 });
}

/** A run that waits, an instance and an action. */
async function useHistory({ history }: RedisStore): Promise<void> {
  const at = Date.now();
  const facts = {
    runId: "asks",
    method: "tools/call",
    handler: { kind: "tool", name: "refund" },
    effects: "once",
    principal: "alice",
    client: undefined,
    protocolVersion: "2026-07-28",
    round: 0,
    epoch: 1,
    version: "1",
    instance: "front",
    at,
  } as const;
  await history.record([{ ...facts, type: "asked", asks: [], until: at + 60_000 }]);
  await history.beat({
    ...{ instance: "front", role: "front", version: "1", host: "h", pid: 1 },
    ...{ startedAt: at, seenAt: at, running: 0, draining: false },
  });
  await history.audit({ at, actor: "ann", action: "cancel", target: "asks", outcome: "done" });
}

async function checkKeys(when: string): Promise<void> {
  const { client } = connection;
  const listed = listedKeys();
  const keys = await client.keys("*");
  assert.ok(keys.length > 0);
  for (const key of keys) {
    assert.ok(
      listed.some((pattern) => pattern.test(key)),
      `${key} is not in the README's table (${when})`,
    );
    assert.ok((await client.pttl(key)) > 0, `${key} has no expiry (${when})`);
  }
}

describe("in Redis", () => {
  test("after a full scenario every key is listed in the README and expires", async () => {
    const namespace = freshNamespace();
    const store = await openStore({ connection, namespace });
    const other = await openStore({ connection, namespace });
    await fullScenario(store, other);
    const kinds = new Set(
      (await connection.client.keys("*")).map((key) => /\}:([^:]+)/.exec(key)?.[1]),
    );
    const ofRuns = ["run", "journal", "waiters", "idempotency", "due"];
    const ofHistory = ["kept", "timeline", "list", "instances", "seen", "audit"];
    const expected = [...ofRuns, "record", "log", "items", ...ofHistory];
    for (const kind of expected) assert.ok(kinds.has(kind), `the scenario left no ${kind}`);
  });

  test("a waiting run takes at most 1 KB beyond what author and caller put into it", async () => {
    const { client } = connection;
    await client.flushdb();
    const store = await openStore({
      connection,
      namespace: freshNamespace(),
      maxWaitingRuns: 9_999,
    });
    const count = 2_000;
    const ids = Array.from({ length: count }, (_, index) => `${index}`.padStart(24, "r"));
    await Promise.all(
      ids.map((runId) =>
        store.createRun({ ...createRun(runId, { end: asks }), origin: origin(runId) }),
      ),
    );
    const keys = await client.keys("*");
    const sizes = await Promise.all(keys.map((key) => client.memory("USAGE", key, "SAMPLES", "0")));
    const bytes = sizes.reduce<number>((sum, size) => sum + Number(size), 0) / count;
    const { params } = origin("x");
    const authors = JSON.stringify([params, asks.pending[0]?.wire, asks.pending[0]?.text]).length;
    assert.ok(bytes - authors <= 1_024, `${Math.round(bytes - authors)} bytes`);
    assert.ok(bytes > authors);
  });
});
