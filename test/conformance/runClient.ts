/**
 * The client leg of `npm run conformance`: the suite's client scenarios of multi-round calls, metadata and headers, against
 * `@reprise/client`.
 *
 * One scenario at a time: the suite would start all at once, and on two cores some then fail by timeout. Stricter than the suite: a
 * WARNING fails, a scenario without checks fails, and so does a skipped check that is not listed here.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REVISION = "2026-07-28";

const scenarios = [
  "tools_call",
  "request-metadata",
  "sep-2322-client-request-state",
  "http-standard-headers",
  "http-custom-headers",
  "http-invalid-tool-headers",
  "json-schema-ref-no-deref",
];

/** Names of checks that must be skipped: the revision has no handshake. */
const expectedSkips: ReadonlySet<string> = new Set([
  "ClientMcpMethodHeader_initialize",
  "ClientMcpMethodHeader_notifications_initialized",
]);

interface Check {
  readonly name: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const suite = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/conformance/dist/index.js",
);
// The suite hands the command to a shell.
const command = `"${process.execPath}" --conditions=@reprise/source --import tsx "${here("client.ts")}"`;

/** Runs the leg, prints its table and its count. */
export async function run(): Promise<{ readonly passed: number; readonly failed: number }> {
  console.log(`Client scenarios of ${REVISION}`);
  const directory = await mkdtemp(join(tmpdir(), "reprise-conformance-"));
  let passed = 0;
  try {
    for (const scenario of scenarios) {
      const output = await runScenario(scenario, directory);
      const checks = await readChecks(scenario, directory);
      const complaints = complaintsOf(checks, output);
      const successes = checks.filter(({ status }) => status === "SUCCESS").length;
      console.log(
        `  ${complaints.length === 0 ? "pass" : "FAIL"}  ${scenario} (${successes} checks)`,
      );
      for (const complaint of complaints) console.log(`        ${complaint}`);
      if (complaints.length === 0) passed += 1;
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  const failed = scenarios.length - passed;
  console.log(`${passed} passed, ${failed} failed`);
  return { passed, failed };
}

interface Output {
  readonly code: number | null;
  readonly text: string;
}

function runScenario(scenario: string, directory: string): Promise<Output> {
  const flags = ["--spec-version", REVISION, "--force", "--timeout", "60000", "-o", directory];
  const args = ["client", "--command", command, "--scenario", scenario, ...flags];
  const child = spawn(process.execPath, ["--import", here("fsGlobSync.mjs"), suite, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, text }));
  });
}

async function readChecks(scenario: string, directory: string): Promise<readonly Check[]> {
  const folder = (await readdir(directory)).find((name) => name.startsWith(`${scenario}-20`));
  if (folder === undefined) return [];
  const checks: unknown = JSON.parse(
    await readFile(join(directory, folder, "checks.json"), "utf8"),
  );
  return Array.isArray(checks) ? (checks as Check[]) : [];
}

function complaintsOf(checks: readonly Check[], { code, text }: Output): string[] {
  if (!checks.some(({ status }) => status === "SUCCESS")) return [`no check succeeded:\n${text}`];
  const complaints = checks
    .filter(({ name, status }) => !isFine(name, status))
    .map(({ name, status, errorMessage }) => `${status} ${name}: ${errorMessage ?? ""}`);
  // The suite's exit code also tells of a client that ended badly, which no check may have noticed.
  return complaints.length === 0 && code !== 0
    ? [`the suite ended with ${String(code)}:\n${text}`]
    : complaints;
}

function isFine(name: string, status: string): boolean {
  return (
    status === "SUCCESS" || status === "INFO" || (status === "SKIPPED" && expectedSkips.has(name))
  );
}
