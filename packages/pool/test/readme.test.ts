/**
 * The README: its example runs, and its key table has every key.
 */
import { readFileSync } from "node:fs";
import { tool } from "@reprise/runtime";
import { expect, test } from "vitest";
import { startBoth } from "./support/example.ts";
import { callTool, startPool, text, until } from "./support/pools.ts";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("The README's example is the one that runs here", () => {
  expect(read("../README.md")).toContain(`\`\`\`ts\n${read("./support/example.ts")}\`\`\``);
});

test("The README's example answers through a worker", { timeout: 30_000 }, async () => {
  const pool = await startPool({});
  const both = await startBoth(await pool.connection(), () => pool.store.another());
  expect(text(await callTool(both.front, "sum"))).toBe("It is 4.");
  await both.close();
  await pool.end();
});

test("The README's table has every key, and every key expires", { timeout: 30_000 }, async () => {
  const patterns = [...read("../README.md").matchAll(/^\| `(.+?)` \|/gm)].map(
    ([, key = ""]) =>
      new RegExp(
        `^${key
          .replaceAll(/[{}]/g, "\\$&")
          .replaceAll("<structure>", "[a-z-]+")
          .replaceAll(/<[a-z]+>/g, "[A-Za-z0-9_-]+")}$`,
      ),
  );
  expect(patterns.length).toBe(6);
  const seen = new Set<string>();
  const unlisted: string[] = [];
  const pool = await startPool({
    tools: [
      tool({ name: "once", description: "d", idempotency: { key: () => "k" }, handler: look }),
      tool({ name: "call", description: "d", queue: "other", handler: look }),
    ],
  });
  async function look(): Promise<string> {
    for (const key of await pool.client.keys("*")) {
      const row = patterns.findIndex((pattern) => pattern.test(key));
      if (row === -1) unlisted.push(key);
      else seen.add(String(patterns[row]));
    }
    return "x";
  }
  const front = await pool.front();
  await pool.worker();
  for (const name of ["once", "call"]) expect(text(await front.call(name))).toBe("x");
  expect(unlisted).toEqual([]);
  expect(seen.size).toBe(patterns.length);
  // BullMQ makes its structures without an expiry; the next beat gives them one, and jobs are gone with their end.
  await until(async () => {
    const keys = await pool.client.keys("*");
    const times = await Promise.all(keys.map((key) => pool.client.pttl(key)));
    return keys.length > 0 && times.every((time) => time !== -1);
  });
  await pool.end();
});
