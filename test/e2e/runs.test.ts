/**
 * `reprise runs` as an operator uses it, on the data directory of a `reprise dev` that goes on meanwhile.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Ended } from "../support/childProcess.ts";
import { RawClient } from "../support/rawMcp.ts";
import { startRedis } from "../support/redisServer.ts";
import { runReprise, startReprise } from "../support/repriseCommand.ts";
import { temporaryFolder } from "../support/temporary.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const shop = `import { defineServer, tool } from "reprise";
export default defineServer({ name: "shop", version: "1", tools: [tool({
  name: "refund", description: "Refund", idempotency: { key: () => "order-1", scope: "tool" },
  async handler(_args, ctx) {
    return (await ctx.confirm("Refund 42 to ann@example.com?")) ? "Refunded." : "Kept.";
  },
})] });
`;

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  const modules = path.join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(path.join(root, "packages/reprise"), path.join(modules, "reprise"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}\n');
  writeFileSync(path.join(folder, "shop.ts"), shop);
});

const runs = (...args: readonly string[]): Promise<Ended> =>
  runReprise(["runs", ...args, "--data", path.join(folder, ".reprise")]);

describe("reprise runs", () => {
  test("finds, shows without values and ends a waiting run; its caller is told", async () => {
    const dev = startReprise(["dev", "shop.ts", "--port", "0"], folder);
    onTestFinished(async () => void (await dev.stop()));
    const [url = ""] = await dev.line(/http:\/\/\S+\/mcp/);
    const client = new RawClient();
    onTestFinished(() => client.close());
    const call = { params: { name: "refund", arguments: {} } };
    await client.ask(url, call);

    const found = await runs("find", "refund", "order-1", "--server", "shop");
    expect({ code: found.code, stderr: found.stderr }).toEqual({ code: 0, stderr: "" });
    const runId = found.stdout.trim();
    let waiting: Ended;
    do waiting = await runs("list", "--status", "waiting", "--tool", "refund", "--json");
    while (!waiting.stdout.includes(runId));
    expect(JSON.parse(waiting.stdout)).toMatchObject({
      runs: [{ runId, waiting: { asks: [{ key: "confirm" }] } }],
    });
    const shown = await runs("show", runId);
    expect(shown.stdout).toContain("waiting, round 1");
    expect(shown.stdout).not.toContain("ann@example.com");
    const revealed = await runs("show", runId, "--reveal");
    expect(revealed.stdout).toContain("ann@example.com");

    expect((await runs("retry", runId)).code).toBe(4);
    expect((await runs("show", "nowhere")).code).toBe(3);
    const finished = await runs(
      "finish",
      runId,
      "--as",
      "completed",
      "--text",
      "By hand.",
      "--json",
    );
    expect(JSON.parse(finished.stdout)).toEqual({ runId, kind: "done", status: "completed" });
    const again = await client.call(url, call);
    expect(again.result?.content?.[0]?.text).toBe("By hand.");
  });

  test("says what is wrong with where it should look, and how it is used", async () => {
    const nowhere = await runReprise(["runs", "list", "--data", path.join(folder, "none")]);
    expect(nowhere.code).toBe(2);
    expect(nowhere.stderr).toContain("CONFIG_INVALID: --data: there is no store in");
    const away = await runReprise(["runs", "list", "--redis", "redis://127.0.0.1:1"]);
    expect(away.code).toBe(1);
    expect(away.stderr).toContain("STORE_UNAVAILABLE");
    const help = await runReprise(["runs", "--help"]);
    expect(help.stdout).toContain("Examples:");
  });

  test("tells truly what an action did when the audit log can't be written", async () => {
    const server = await startRedis({ port: 0 });
    const redis = new Redis(server.url);
    onTestFinished(async () => {
      redis.disconnect();
      await server.stop();
    });
    const cancel = ["runs", "cancel", "nowhere", "--redis", server.url, "--json"];
    const before = await runReprise(cancel);
    expect({ code: before.code, stderr: before.stderr }).toEqual({ code: 3, stderr: "" });
    const [log = ""] = await redis.keys("*audit");
    expect(await redis.zcard(log)).toBe(1);
    await redis.multi().del(log).set(log, "no list any more").exec();
    const after = await runReprise(cancel);
    expect(after.code).toBe(3);
    expect(JSON.parse(after.stdout)).toEqual({ ...JSON.parse(before.stdout), unaudited: true });
    expect(after.stderr).toContain("not in the audit log");
  });
});
