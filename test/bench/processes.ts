/**
 * Starts and ends the processes of a bench run: servers and the load generator, each pinned to its core.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CodeOrigin } from "./build.ts";
import type { Answer, Job, Sample } from "./loadProcess.ts";
import { type Part, pinned } from "./pinning.ts";
import { type MemoryReply, memoryQuestion, type Ready } from "./servers/serverProcess.ts";
import type { System } from "./systems.ts";

/** A started server of one process. */
export interface ServerProcess extends System {
  /** Its memory after a full collection. Needs `--expose-gc`. */
  memory(): Promise<MemoryReply>;
}

/** How a server is started. */
export interface StartOptions {
  /** Of node, for profiles. */
  readonly nodeFlags?: readonly string[];
  /** Of the server, behind its data directory. */
  readonly args?: readonly string[];
}

/** The started load generator. */
export interface LoadGenerator {
  /** Runs one job; rejects when the server answered wrongly. */
  run(job: Job): Promise<Sample>;
  stop(): Promise<void>;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 10_000;

/** Starts `servers/<name>` on a fresh data directory. */
export function startServer(
  code: CodeOrigin,
  name: string,
  options: StartOptions = {},
): Promise<ServerProcess> {
  return startNode(name, code.nodeArgs(`servers/${name}`), options);
}

/** Starts a server, given as node's arguments, on a fresh data directory. */
export async function startNode(
  name: string,
  entry: readonly string[],
  { nodeFlags = [], args = [] }: StartOptions = {},
): Promise<ServerProcess> {
  const data = await mkdtemp(join(tmpdir(), "reprise-bench-"));
  const child = start("server", [...nodeFlags, ...entry, data, ...args]);
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(data, { recursive: true, force: true });
  };
  try {
    const { url } = await message<Ready>(child, startTimeoutMs);
    if (child.pid === undefined) throw new Error(`server "${name}" has no process`);
    const memory = (): Promise<MemoryReply> => {
      const reply = message<MemoryReply>(child, startTimeoutMs);
      child.send(memoryQuestion);
      return reply;
    };
    return { url, pids: [child.pid], memory, stop };
  } catch (error) {
    await stop();
    throw new Error(`server "${name}" did not start`, { cause: error });
  }
}

/** Starts the load generator. */
export function startLoadGenerator(code: CodeOrigin): LoadGenerator {
  const child = start("load", code.nodeArgs("loadProcess"));
  return {
    async run(job) {
      const reply = message<Answer>(child, job.warmUpMs + job.durationMs + startTimeoutMs);
      child.send(job);
      const answer = await reply;
      if ("error" in answer) throw new Error(answer.error);
      return answer.sample;
    },
    stop: () => end(child),
  };
}

function start(part: Part, nodeArgs: readonly string[]): ChildProcess {
  const [command = process.execPath, ...args] = pinned(part, [process.execPath, ...nodeArgs]);
  return spawn(command, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
}

/** The next message of a child, which is trusted: both ends are this bench. */
function message<T>(child: ChildProcess, timeoutMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      child.off("exit", onExit);
      child.off("message", onMessage);
    };
    const onExit = (code: number | null): void => {
      settle();
      reject(new Error(`the process ended with ${code}`));
    };
    const onMessage = (value: unknown): void => {
      settle();
      resolve(value as T);
    };
    const timer = setTimeout(() => {
      settle();
      reject(new Error(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
    child.once("exit", onExit);
    child.once("message", onMessage);
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), stopTimeoutMs);
  await exited;
  clearTimeout(timer);
}
