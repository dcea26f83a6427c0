/**
 * infra/redis/redis.conf, read by a Redis: it starts, and what the file says is what holds.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Member } from "./support/cluster/member.ts";
import { root, textOf } from "./support/sourceTree.ts";

const folder = mkdtempSync(path.join(tmpdir(), "reprise-conf-"));
const socket = path.join(folder, "redis.sock");
const file = path.join(root, "infra/redis/redis.conf");
/** What a test may not do: listen for others. */
const places = ["--port", "0", "--unixsocket", socket, "--dir", folder];
const redis = new Member({
  name: "redis",
  command: "redis-server",
  args: [file, ...places],
  ready: /ready to accept connections/i,
});

beforeAll(() => redis.start());
afterAll(async () => {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** The value of a setting, in the plain protocol: an array of its name and the value. */
async function effective(name: string): Promise<string> {
  const client = createConnection(socket);
  client.write(`CONFIG GET ${name}\r\n`);
  let reply = "";
  while (!/^\*2\r\n\$\d+\r\n.*\r\n\$(\d+)\r\n[^\r]*\r\n$/s.test(reply)) {
    const [chunk] = (await once(client, "data")) as [Buffer];
    reply += chunk.toString();
    if (reply.startsWith("*0")) throw new Error(`${name} is no setting of this Redis`);
  }
  client.destroy();
  return reply.split("\r\n")[4] ?? "";
}

const bytes = (text: string): string => {
  const [, number, unit] = /^(\d+)(mb|gb)$/.exec(text) ?? [];
  return unit === undefined ? text : String(Number(number) * (unit === "gb" ? 2 ** 30 : 2 ** 20));
};

const lines = textOf("infra/redis/redis.conf")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [name = "", ...values] = line.split(" ");
    return [name, values.map((value) => bytes(value.replace('""', ""))).join(" ")] as const;
  });

describe("infra/redis/redis.conf", () => {
  test.each(lines.filter(([name]) => name !== "port"))("sets %s to %s", async (name, value) => {
    // One setting has a value per kind of client.
    expect(await effective(name)).toContain(value);
  });

  test("keeps what was acknowledged and evicts nothing", async () => {
    expect(await effective("appendonly")).toBe("yes");
    expect(await effective("maxmemory-policy")).toBe("noeviction");
  });

  test("gives a reason for every setting", () => {
    const text = textOf("infra/redis/redis.conf");
    const paragraphs = text
      .split("\n\n")
      .filter((paragraph) => !/^# Redis for Reprise/.test(paragraph));
    for (const paragraph of paragraphs) expect(paragraph, paragraph).toMatch(/^#/);
  });
});
