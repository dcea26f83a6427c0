/**
 * What a ledger must survive: parallel repetitions, SIGKILL in the middle of writes, half a line at its end.
 */
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Refund, startOutsideProcess } from "@reprise/shop";
import { expect, onTestFinished, test } from "vitest";
import { json, list, outsideWorld, post, refundOf1001, temporaryDirectory } from "./world.ts";

const fromSource = ["--import", "tsx"];

async function outsideProcess(dataDir: string) {
  const outside = await startOutsideProcess({ port: 0, smtpPort: 0, dataDir }, fromSource);
  onTestFinished(() => outside.stop());
  return outside;
}

test("50 parallel requests with one key move money once and get the same refund", async () => {
  const { url } = await outsideWorld();
  const responses = await Promise.all(
    Array.from({ length: 50 }, () => post(url, "/refunds", refundOf1001, "key")),
  );
  const bodies = new Set(await Promise.all(responses.map((response) => response.text())));
  expect(bodies.size).toBe(1);
  expect(await list(url, "/refunds")).toHaveLength(1);
});

test("SIGKILL in the middle of writes loses no refund that was acknowledged and doubles none", async () => {
  const dataDir = await temporaryDirectory();
  const keys = Array.from({ length: 60 }, (_, index) => `key-${index}`);
  const acknowledged: Refund[] = [];

  const killed = await outsideProcess(dataDir);
  // The first ones are never answered, so that some are sure to be under way when the kill comes.
  await post(killed.url, "/faults", { kind: "delay", when: "after", ms: 60_000, count: 20 });
  const outcomes = await Promise.allSettled(
    keys.map(async (key) => {
      const response = await post(killed.url, "/refunds", refundOf1001, key);
      acknowledged.push(await json<Refund>(response));
      if (acknowledged.length === 10) killed.child.kill("SIGKILL");
    }),
  );
  await killed.ended;
  const unanswered = outcomes.filter(({ status }) => status === "rejected");
  expect(unanswered.length).toBeGreaterThanOrEqual(20);

  const { url } = await outsideWorld(dataDir);
  const kept = await list<Refund>(url, "/refunds");
  expect(kept).toEqual(expect.arrayContaining(acknowledged));
  await Promise.all(keys.map((key) => post(url, "/refunds", refundOf1001, key)));
  const afterwards = await list<Refund>(url, "/refunds");
  expect(afterwards).toHaveLength(keys.length);
  expect(new Set(afterwards.map(({ idempotencyKey }) => idempotencyKey))).toEqual(new Set(keys));
  expect(afterwards.slice(0, kept.length)).toEqual(kept);
});

test("half a line at the end of the ledger is cut off, and the next refund stands on its own line", async () => {
  const dataDir = await temporaryDirectory();
  const ledger = join(dataDir, "payments.jsonl");
  const before = await outsideWorld(dataDir);
  await post(before.url, "/refunds", refundOf1001, "kept");
  await before.close();
  const whole = await readFile(ledger, "utf8");
  await appendFile(ledger, whole.slice(0, whole.length / 2).replace("kept", "torn"));

  const world = await outsideWorld(dataDir);
  await post(world.url, "/refunds", refundOf1001, "torn");
  await world.close();
  const lines = (await readFile(ledger, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line).idempotencyKey)).toEqual(["kept", "torn"]);
});

test("a broken line before the last is no torn write: the ledger is refused, naming the line", async () => {
  const dataDir = await temporaryDirectory();
  await appendFile(join(dataDir, "payments.jsonl"), '{"id":\n{"id":"refund-2"}\n');
  await expect(outsideWorld(dataDir)).rejects.toThrow("payments.jsonl:1");
});

test("a second outside world on the same directory is refused, and may start when the first is gone", async () => {
  const dataDir = await temporaryDirectory();
  const first = await outsideWorld(dataDir);
  await expect(outsideWorld(dataDir)).rejects.toThrow("in use by another payment service");
  await first.close();
  await expect(outsideWorld(dataDir)).resolves.toMatchObject({ url: expect.any(String) });
});

test("a busy port is told with its code, and nothing stays behind", async () => {
  const { url } = await outsideWorld();
  const port = Number(new URL(url).port);
  const dataDir = await temporaryDirectory();
  const start = startOutsideProcess({ port, smtpPort: 0, dataDir }, fromSource);
  await expect(start).rejects.toMatchObject({ code: "EADDRINUSE" });
});
