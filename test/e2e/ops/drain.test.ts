/**
 * A worker that an operator drains from the dashboard ends by itself, as on SIGTERM.
 */
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseSettings, serveOps } from "reprise/roles";
import { expect, onTestFinished, test } from "vitest";
import { startRedis } from "../../support/redisServer.ts";
import { startReprise } from "../../support/repriseCommand.ts";
import { notary } from "./support/notary.ts";
import { operatorWith } from "./support/operator.ts";

/** A served file that imports from this workspace. */
const folder = fileURLToPath(new URL("../../../node_modules/.cache/reprise-e2e/", import.meta.url));

test("a worker that is drained takes no more jobs and ends with code 0", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, "drained.ts");
  await writeFile(
    file,
    `import { defineServer, tool } from "reprise";
export default defineServer({ name: "notary", tools: [tool({ name: "note", description: "Notes", input: { type: "object" }, handler: async () => "Noted." })] });`,
  );
  const env = { REPRISE_REDIS_URL: redis.url, REPRISE_PROBE_PORT: "0", REPRISE_OPS_PORT: "0" };
  const worker = startReprise(["worker", file], undefined, env);
  await worker.line(/queues +default/);
  const ops = await serveOps(notary, parseSettings({ env, readSecretFile: () => "" }));
  onTestFinished(() => ops.close());
  const operator = await operatorWith(ops.newLink?.() ?? "");
  interface Page {
    readonly instances: readonly { readonly instance: string; readonly role: string }[];
  }
  const { instances } = await operator.until<Page>(
    "instances",
    (page) => page.instances.length > 0,
  );
  const [found] = instances;
  expect(found?.role).toBe("worker");
  expect(await operator.post(`instances/${found?.instance}/drain`)).toEqual({ outcome: "done" });
  const { code } = await worker.ended;
  expect(code).toBe(0);
});
