/**
 * The client leg of `npm run conformance`: all scored client scenarios of both revisions, against `@reprise/client`.
 *
 * One scenario at a time: the suite would start all at once, and on two cores some then fail by timeout. Stricter than the suite: a
 * WARNING fails, a scenario without checks fails, and so does a skipped check that is not listed in clientScenarios.ts.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expectedSkips, notRun, requiredClientScenarios } from "./clientScenarios.ts";
import type { JudgedRevision } from "./suite.ts";

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

/** Runs the leg, prints its tables and its count. */
export async function run(): Promise<{ readonly passed: number; readonly failed: number }> {
  const total = { passed: 0, failed: 0 };
  for (const revision of ["2026-07-28", "2025-11-25"] as const) {
    console.log(`Client scenarios of ${revision}`);
    for (const scenario of await requiredClientScenarios(revision)) {
      const complaints = await judgeScenario(scenario, revision);
      total[complaints.length === 0 ? "passed" : "failed"] += 1;
    }
  }
  console.log("  Not run:");
  for (const { name, reason } of notRun) console.log(`    ${name}: ${reason}`);
  console.log(`${total.passed} passed, ${total.failed} failed`);
  return total;
}

async function judgeScenario(
  scenario: string,
  revision: JudgedRevision,
): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "reprise-conformance-"));
  try {
    const output = await runScenario(scenario, revision, directory);
    const checks = await readChecks(directory);
    const complaints = complaintsOf(checks, output);
    const successes = checks.filter(({ status }) => status === "SUCCESS").length;
    console.log(
      `  ${complaints.length === 0 ? "pass" : "FAIL"}  ${scenario} (${successes} checks)`,
    );
    for (const complaint of complaints) console.log(`        ${complaint}`);
    return complaints;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Output {
  readonly code: number | null;
  readonly text: string;
}

function runScenario(
  scenario: string,
  revision: JudgedRevision,
  directory: string,
): Promise<Output> {
  const flags = ["--spec-version", revision, "--force", "--timeout", "60000", "-o", directory];
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

/** The checks of the only scenario that wrote into `directory`; a scenario's folder may lie in another (`auth/...`). */
async function readChecks(directory: string): Promise<readonly Check[]> {
  const files = await readdir(directory, { recursive: true });
  const file = files.find((name) => basename(name) === "checks.json");
  if (file === undefined) return [];
  const checks: unknown = JSON.parse(await readFile(join(directory, file), "utf8"));
  return Array.isArray(checks) ? (checks as Check[]) : [];
}

function complaintsOf(checks: readonly Check[], { code, text }: Output): readonly string[] {
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
