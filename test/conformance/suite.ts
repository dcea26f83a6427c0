/**
 * Runs the pinned MCP conformance suite against a server and reads what it recorded.
 *
 * Called by the legs that judge a server. Judges nothing: it gives back every check of every scenario, because the suite's own
 * exit code lets warnings pass and counts a scenario that was skipped as fine.
 */
import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

/** A revision with a frozen requirement list. */
export type JudgedRevision = "2026-07-28" | "2025-11-25";

export type CheckStatus = "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";

/** One check of a scenario, as the suite recorded it. */
export interface Check {
  readonly id: string;
  readonly status: CheckStatus;
  /** Why it is no success; the suite leaves it out for successes. */
  readonly message: string;
}

/** All checks of one scenario. */
export interface ScenarioOutcome {
  readonly scenario: string;
  readonly checks: readonly Check[];
}

/** A scenario and when it ran, in ms since the epoch. The suite runs one after another. */
export interface TimedOutcome extends ScenarioOutcome {
  readonly fromMs: number;
  readonly untilMs: number;
}

const require = createRequire(import.meta.url);
const suiteEntry = require.resolve("@modelcontextprotocol/conformance/dist/index.js");
const shimUrl = pathToFileURL(fileURLToPath(new URL("./fsGlobSync.mjs", import.meta.url))).href;
const suiteTimeoutMs = 180_000;
const statuses = new Set<string>(["SUCCESS", "FAILURE", "WARNING", "SKIPPED", "INFO"]);

/** Scenarios that a server must pass for the revision, in the suite's order. */
export async function requiredServerScenarios(
  revision: JudgedRevision,
): Promise<readonly string[]> {
  const file = join(dirname(suiteEntry), "..", "requirements", `${revision}.yaml`);
  const lines = (await readFile(file, "utf8")).split("\n");
  const start = lines.indexOf("server:");
  const names: string[] = [];
  for (const line of lines.slice(start + 1)) {
    const item = /^ {2}- (\S+)$/.exec(line);
    if (item?.[1] === undefined) break;
    names.push(item[1]);
  }
  if (start < 0 || names.length === 0) throw new Error(`no server list in ${file}`);
  return names;
}

/** Runs the revision's server requirements against `url`; rejects when the suite itself breaks, or is aborted. */
export async function runServerSuite(
  url: string,
  revision: JudgedRevision,
  signal?: AbortSignal,
): Promise<readonly TimedOutcome[]> {
  const directory = await mkdtemp(join(tmpdir(), "reprise-conformance-"));
  try {
    const args = ["server", "--url", url, "--requirements", revision, "-o", directory];
    const output = await runSuite(args, signal);
    const outcomes = await readOutcomes(directory);
    if (outcomes.length === 0) throw new Error(`the suite recorded nothing:\n${output}`);
    return outcomes;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Exit code 1 means "scored failures", which the caller sees in the checks; anything else is a broken run. */
function runSuite(args: readonly string[], signal: AbortSignal | undefined): Promise<string> {
  const child = spawn(process.execPath, ["--import", shimUrl, suiteEntry, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    timeout: suiteTimeoutMs,
    ...(signal === undefined ? {} : { signal }),
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      if (code === 0 || code === 1) resolve(output);
      else reject(new Error(`the conformance suite ended with ${signal ?? code}:\n${output}`));
    });
  });
}

async function readOutcomes(directory: string): Promise<TimedOutcome[]> {
  const endedMs = Date.now();
  const names = await readdir(directory);
  const folders = names.map(parseFolder).filter((folder) => folder !== undefined);
  folders.sort((one, other) => one.fromMs - other.fromMs);
  return await Promise.all(
    folders.map(async ({ name, scenario, fromMs }, place) => {
      const text = await readFile(join(directory, name, "checks.json"), "utf8");
      const checks = parseChecks(scenario, JSON.parse(text));
      return { scenario, checks, fromMs, untilMs: folders[place + 1]?.fromMs ?? endedMs };
    }),
  );
}

/** A scenario's folder is named by it and by the moment of its start. */
function parseFolder(
  name: string,
): { readonly name: string; readonly scenario: string; readonly fromMs: number } | undefined {
  const [, scenario, day, hour, minute, second] =
    /^server-(.+)-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d-\d{3})Z$/.exec(name) ?? [];
  if (scenario === undefined || second === undefined) return undefined;
  const fromMs = Date.parse(`${day}T${hour}:${minute}:${second.replace("-", ".")}Z`);
  return { name, scenario, fromMs };
}

function parseChecks(scenario: string, recorded: unknown): Check[] {
  if (!Array.isArray(recorded)) throw new Error(`checks of ${scenario} are no array`);
  return recorded.map((check: unknown) => {
    const { id, status, errorMessage, details } = asRecord(check);
    if (typeof id !== "string" || !isStatus(status)) {
      throw new Error(`a check of ${scenario} has no id or an unknown status`);
    }
    const note = asRecord(details)["note"];
    const message = typeof errorMessage === "string" ? errorMessage : note;
    return { id, status, message: typeof message === "string" ? message : "" };
  });
}

function isStatus(value: unknown): value is CheckStatus {
  return typeof value === "string" && statuses.has(value);
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}
