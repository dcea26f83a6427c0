/**
 * The format of jobs, pinned: during a rolling deploy workers of this release take what fronts of an earlier one queued.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import type { Packed } from "@reprise/pool";
import { type Context, tool } from "@reprise/runtime";
import { Queue } from "bullmq";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { person, startPool, type TestPool, until } from "./support/pools.ts";

interface Golden {
  readonly open: Packed;
  readonly sealed: Packed;
}

const secret = "a golden secret, which opens golden jobs only";
const prefix = "{reprise:pool1:default}";
const folder = new URL("./golden/", import.meta.url);
const files = readdirSync(folder);
const read = (file: string): Golden =>
  JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Golden;

const seen: unknown[] = [];
const say = tool({
  name: "say",
  description: "d",
  input: { type: "object", properties: { word: { type: "string" } } },
  annotations: { readOnlyHint: true },
  handler: (args: unknown, { caller, client }: Context) => {
    seen.push({ args, principal: caller.principal, revision: client.protocolVersion });
    return "said";
  },
});

let pool: TestPool;
beforeEach(async () => {
  seen.length = 0;
  pool = await startPool({ tools: [say] });
});
afterEach(() => pool.end());

describe("a queued call", { timeout: 30_000 }, () => {
  test.each(
    files.flatMap((file) => [
      { file, kind: "open" as const, options: {} },
      { file, kind: "sealed" as const, options: { jobEncryptionKey: secret } },
    ]),
  )("of $file, $kind, is executed today", async ({ file, kind, options }) => {
    await pool.worker(options);
    const { client } = await pool.connection();
    const queue = new Queue("default", { connection: client, prefix });
    try {
      await queue.add("call", read(file)[kind], { jobId: "golden" });
      await until(() => seen.length > 0);
    } finally {
      await queue.close();
    }
    expect(seen).toEqual([{ args: { word: "hello" }, principal: "alice", revision: "2026-07-28" }]);
  });

  test("is written as the newest golden file has it", async () => {
    const front = await pool.front();
    const call = front.call("say", { args: { word: "hello" }, person: person("alice") });
    const written = await queuedJob();
    await pool.worker();
    await call;
    const { open } = read(files.toSorted().at(-1) ?? assert.fail("there is no golden file"));
    expect(shape(written)).toEqual(shape(open));
  });
});

/** What the one job in Redis holds. */
async function queuedJob(): Promise<unknown> {
  const jobs = (): Promise<string[]> => pool.client.keys(`${prefix}:default:*-*-*`);
  await until(async () => (await jobs()).length > 0);
  const [key = ""] = await jobs();
  return JSON.parse((await pool.client.hget(key, "data")) ?? "null");
}

/** Names of members and types of values. */
function shape(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return typeof value;
  if (Array.isArray(value)) return value.map(shape);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, unknown] => [name, shape(member)]),
  );
}
