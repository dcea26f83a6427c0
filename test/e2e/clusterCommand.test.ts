/**
 * `npm run cluster` as a person has it: it says where everything is, says who died, and leaves nothing behind.
 */
import { describe, expect, onTestFinished, test } from "vitest";
import { type Child, startNode } from "../support/childProcess.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { operatorWith } from "./ops/support/operator.ts";
import { converse } from "./support/dialogue.ts";
import { refundAccepted } from "./support/scenarios.ts";
import { sendCall } from "./support/wire.ts";

function startClusterCommand(args: readonly string[], data: string): Child {
  const env = { PORT: "0", SHOP_PORT: "0", OPS_PORT: "0" };
  const child = startNode(["infra/scripts/cluster.mjs", "--data", data, ...args], env);
  // Also when the test fails before it stops it.
  onTestFinished(async () => {
    await child.stop();
  });
  return child;
}

/** Whether a process of that id runs. */
function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("npm run cluster", () => {
  test("serves the shop behind nginx, goes on without a front that died, and stops all on SIGTERM", async () => {
    const cluster = startClusterCommand([], await temporaryFolder());
    const [, url = ""] = await cluster.line(/^ {2}MCP +(\S+)/);
    const [, pid = ""] = await cluster.line(/^ {4}front 1 +\S+ +(\d+)/);
    const [, opsUrl = "", opsPid = ""] = await cluster.line(/^ {2}operators (\S+) +(\d+)$/);
    await cluster.line(/^ {2}data/);
    const pids = [...cluster.printed().stdout.matchAll(/^ {4}(?:front|worker) \d.* (\d+)$/gm)].map(
      ([, each]) => Number(each),
    );
    expect(pids).toHaveLength(4);
    const [, link = ""] = await cluster.line(/^ {2}(http:\S+\/ops\/enter\?link=\S+)$/);
    expect((await fetch(new URL("api/me", opsUrl))).status).toBe(401);
    await (await operatorWith(link)).until<{ instances: readonly object[] }>(
      "instances",
      ({ instances }) => instances.length === 4,
    );
    await fetch(new URL("begin", opsUrl));
    const [, another = ""] = await cluster.line(/^ {2}opens once +(\S+)$/);
    expect(await (await operatorWith(another)).get("me")).toMatchObject({ role: "operator" });

    process.kill(Number(pid), "SIGKILL");
    await cluster.line(/^front 1 ended \(SIGKILL\)/);
    const [seen] = await converse(refundAccepted, (params) => sendCall(url, params).reply);
    expect(seen?.result).toMatchObject({ resultType: "complete" });

    const { code, stderr } = await cluster.stop();
    expect(stderr).not.toMatch(/did not end/);
    expect(code).toBe(0);
    expect([...pids, Number(opsPid)].filter(lives)).toEqual([]);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    await expect(fetch(opsUrl)).rejects.toThrow("fetch failed");
  });

  test("refuses an option that can't be meant, and starts nothing", async () => {
    const { code, stderr } = await startClusterCommand(["--fronts", "many"], "unused").ended;
    expect(code).toBe(1);
    expect(stderr).toContain("--fronts must be 1 to 99, not many");
  });
});
