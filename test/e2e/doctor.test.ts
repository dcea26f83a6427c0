/**
 * `reprise doctor`, `state inspect` and `completion` as an operator uses them: on a data directory and on a Redis.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { Ended } from "../support/childProcess.ts";
import { RawClient } from "../support/rawMcp.ts";
import { startRedis } from "../support/redisServer.ts";
import { runReprise, startReprise } from "../support/repriseCommand.ts";
import { temporaryFolder } from "../support/temporary.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

const shop = `import { defineServer, tool } from "reprise";
export default defineServer({ name: "shop", version: "1", tools: [tool({
  name: "refund", description: "Refund", effects: "repeatable",
  async handler(_args, ctx) {
    const secret = await ctx.read("load", async () => "a secret value");
    return (await ctx.confirm("Refund?")) ? secret : "Kept.";
  },
}), tool({
  name: "mail", description: "Mail",
  async handler(_args, ctx) { return ctx.step("send", () => "sent"); },
})] });
`;

let folder: string;
let file: string;
let data: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  const modules = path.join(folder, "node_modules");
  mkdirSync(modules);
  symlinkSync(path.join(root, "packages/reprise"), path.join(modules, "reprise"));
  writeFileSync(path.join(folder, "package.json"), '{"type":"module"}\n');
  file = path.join(folder, "shop.ts");
  data = path.join(folder, ".reprise");
  writeFileSync(file, shop);
});

interface Finding {
  readonly subject: string;
  readonly severity: string;
  readonly text: string;
}

async function doctor(...args: readonly string[]): Promise<Ended & { findings: Finding[] }> {
  const ended = await runReprise(["doctor", ...args, "--json"]);
  return { ...ended, ...(JSON.parse(ended.stdout) as { findings: Finding[] }) };
}

/** A served file, its endpoint, and a state that it has sealed. */
async function served(): Promise<{ readonly url: string; readonly state: string }> {
  const dev = startReprise(["dev", "shop.ts", "--port", "0"], folder);
  onTestFinished(async () => void (await dev.stop()));
  const [url = ""] = await dev.line(/http:\/\/\S+\/mcp/);
  const client = new RawClient();
  onTestFinished(() => client.close());
  const state = await client.ask(url, { params: { name: "refund", arguments: {} } });
  return { url, state };
}

describe("reprise doctor", () => {
  test("finds the embedded server well, but for the tool without a key", async () => {
    const { url } = await served();
    const { code, findings } = await doctor(file, "--data", data, "--front", url);
    expect(findings.filter(({ severity }) => severity !== "ok")).toEqual([
      { subject: "tools", severity: "warning", text: expect.stringContaining("mail") as string },
    ]);
    expect(findings.find(({ subject }) => subject === `front ${url}`)?.text).toBe("It is ready.");
    expect(code).toBe(0);
  });

  test("says what to do about a Redis without instances, keys or an append-only file", async () => {
    const redis = await startRedis({ appendonly: false });
    onTestFinished(() => redis.stop());
    const { code, findings } = await doctor("--redis", redis.url, "--front", "http://127.0.0.1:1");
    const bySubject = (subject: string): string =>
      findings
        .filter((one) => one.subject === subject && one.severity !== "ok")
        .map(({ text }) => text)
        .join(" ");
    expect(bySubject("redis")).toContain("CONFIG SET appendonly yes");
    expect(bySubject("instances")).toContain("start fronts and workers");
    expect(bySubject("keys")).toContain("no keys");
    expect(bySubject("front http://127.0.0.1:1")).toContain("can't be reached");
    expect(code).toBe(1);
  });

  test("says that a Redis is away, and where no store is", async () => {
    const away = await doctor("--redis", "redis://127.0.0.1:1");
    expect(away.findings.at(-1)).toMatchObject({ subject: "redis", severity: "serious" });
    const nowhere = await doctor("--data", path.join(folder, "none"));
    expect(nowhere.findings.at(-1)?.text).toContain("There is no store in");
    expect([away.code, nowhere.code]).toEqual([1, 1]);
  });
});

describe("reprise state inspect", () => {
  const inspect = (token: string, ...args: readonly string[]): Promise<Ended> =>
    runReprise(["state", "inspect", token, "--data", data, ...args]);

  test("shows what our key has sealed, its values only when they are asked for", async () => {
    const { state } = await served();
    const ended = await inspect(state);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("encrypted (JWE A256GCM)");
    expect(ended.stdout).toContain("intact");
    expect(ended.stdout).not.toContain("a secret value");
    expect((await inspect(state, "--reveal")).stdout).toContain("a secret value");
  });

  test("tells an altered token and one of another deployment from ours", async () => {
    const { state } = await served();
    const at = state.length - 4;
    const altered = state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1);
    const broken = await inspect(altered);
    expect(broken.code).toBe(1);
    expect(broken.stdout).toContain("broken");
    const secret = "a-secret-of-another-deployment-of-32-bytes";
    const foreign = await runReprise(["state", "inspect", state], [], {
      REPRISE_REQUEST_STATE_KEY: secret,
    });
    expect(foreign.code).toBe(1);
    expect(foreign.stdout).toContain("no key of that id is here");
    const none = await inspect("no.token");
    expect([none.code, none.stdout]).toEqual([1, "No token of ours: malformed.\n"]);
  });
});

test("reprise completion gives each shell a script that knows the commands", async () => {
  for (const shell of ["bash", "zsh", "fish"]) {
    const { code, stdout } = await runReprise(["completion", shell]);
    expect(code).toBe(0);
    for (const name of ["doctor", "inspect", "finish", "--reveal"])
      expect(stdout).toContain(shell === "fish" ? name.replace(/^--/, "-l ") : name);
  }
});
