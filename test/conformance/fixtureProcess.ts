/**
 * Starts the fixture server as a process of its own, on a free port and a fresh data directory, and ends it.
 *
 * A process of its own, so that the suite talks to what a user would run and a crash shows as one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A running fixture. */
export interface FixtureProcess {
  /** The MCP endpoint. */
  readonly url: string;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

const entry = fileURLToPath(new URL("./fixture.ts", import.meta.url));
const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;

/** Starts the fixture with `flags`; rejects with its output when it does not come up. */
export async function startFixture(flags: readonly string[]): Promise<FixtureProcess> {
  const data = await mkdtemp(join(tmpdir(), "reprise-conformance-data-"));
  const child = spawn(
    process.execPath,
    ["--conditions=@reprise/source", "--import", "tsx", entry, "--data", data, ...flags],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(data, { recursive: true, force: true });
  };
  try {
    return { url: await announcedUrl(child), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The fixture's first line on stdout that is a URL. */
function announcedUrl(child: ChildProcess): Promise<string> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error("the fixture has no output pipes");
  let output = "";
  stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`the fixture ${why}:\n${output}`));
    const timer = setTimeout(() => fail("did not come up in time"), startTimeoutMs);
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      fail(`ended with ${signal ?? code}`);
    });
    createInterface({ input: stdout }).on("line", (line) => {
      output += `${line}\n`;
      if (!line.startsWith("http://")) return;
      clearTimeout(timer);
      resolve(line.trim());
    });
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await closed;
  clearTimeout(timer);
}
