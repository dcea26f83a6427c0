/**
 * What history keeps in Redis is short, comes back as it was told, and what an earlier build packed is read for ever.
 */
import assert from "node:assert/strict";
import type { RunEvent, RunFacts } from "@reprise/runtime";
import { connectRedis, type RedisConnection, unpacked } from "@reprise/store-redis";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../../../test/support/redisServer.ts";
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

const runId = "IFiEz9uRw400TlIoGPFHZf91";

function waitingRun(at: number): readonly RunEvent[] {
  const facts: RunFacts = {
    ...{ runId, method: "tools/call", handler: { kind: "tool", name: "refund_order" } },
    ...{ effects: "once", principal: "anonymous", client: "a client", round: 0, epoch: 1 },
    ...{ protocolVersion: "2026-07-28", version: "1.0.0", runStartedAt: at, instance: "front-1" },
  };
  const asks = [{ key: "confirm", kind: "confirm" }] as const;
  return [
    { ...facts, at, type: "attempt_started", cause: "call" },
    { ...facts, at, type: "asked", asks, until: at + 60_000 },
    {
      ...{ ...facts, at, type: "attempt_ended", outcome: "suspended" },
      ...{ durationMs: 3, status: "waiting" },
    },
  ];
}

async function textOf(client: Redis, key: string): Promise<string> {
  if ((await client.type(key)) === "string") return (await client.get(key)) ?? "";
  return (await client.lrange(key, 0, -1)).join("");
}

describe("the history of a waiting run", () => {
  test("comes back as it was told and takes a quarter of its text", async () => {
    const namespace = freshNamespace();
    const { history } = await openStore({ connection, namespace });
    const events = waitingRun(Date.now());
    await history.record(events);
    expect(await history.timeline(runId)).toEqual(events);
    const { client } = connection;
    assert.ok(client instanceof Redis);
    const keys = (await client.keys(`*${namespace}:history*:${runId}`)).sort();
    expect(keys.map((key) => key.split(":").at(-2))).toEqual(["kept", "timeline"]);
    const texts = await Promise.all(keys.map((key) => textOf(client, key)));
    const told =
      JSON.stringify(events).length + JSON.stringify(await history.summary(runId)).length;
    expect(texts.join("").length).toBeLessThan(told / 4);
    expect(texts.map((text) => unpacked(text.replace(/^\d+ /, ""))).join("")).not.toContain(runId);
  });
});

describe("a packed text", () => {
  // The dictionary is part of the format: with another one nothing of before could be read. The text leads to its first words.
  test("of the first release is read", () => {
    const text =
      '["prompts/get","resources/read","kind":"prompt","resource","effects":"repeatable"]';
    expect(unpacked("zi1aicoUXCwA")).toBe(text);
  });

  test("that is none is the text itself, and a damaged one is told of", () => {
    expect(unpacked('{"format":1}')).toBe('{"format":1}');
    expect(() => unpacked("zAAAA")).toThrow();
  });
});
