/**
 * Starts the outside world as a process of its own and waits until it listens. Used by main.ts and by tests that
 * kill it.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import * as z from "zod";
import type { OutsideAddress, OutsideOptions } from "./outsideWorld.ts";

/** The outside world in a child process. */
export interface OutsideProcess extends OutsideAddress {
  readonly child: ChildProcess;
  /** Resolves when the process is gone, however it ended. */
  readonly ended: Promise<void>;
  /** Ends it in an orderly way. Safe to call twice. */
  stop(): Promise<void>;
}

/** The outside world did not start. `code` is that of the system, for example `EADDRINUSE`. */
export class OutsideFailed extends Error {
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

const report = z.union([
  z.object({ url: z.string(), smtpPort: z.number() }),
  z.object({ failed: z.string(), code: z.string().optional() }),
]);

// The program is TypeScript exactly when this file is.
const program = import.meta.url.endsWith(".ts")
  ? new URL("./outside.ts", import.meta.url)
  : new URL("./outside.js", import.meta.url);

/**
 * Starts it. `execArgv` is what node needs to run this source; default: what this process was started with.
 * @throws OutsideFailed
 */
export async function startOutsideProcess(
  options: OutsideOptions,
  execArgv: readonly string[] = process.execArgv,
): Promise<OutsideProcess> {
  const { port, smtpPort, dataDir, merchantUrl } = options;
  const args = ["--port", String(port), "--smtp-port", String(smtpPort), "--data", dataDir];
  if (merchantUrl !== undefined) args.push("--merchant-url", merchantUrl);
  const child = fork(program, args, {
    execArgv: [...execArgv],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(() => undefined);
  const first = await Promise.race([
    once(child, "message").then(([message]) => report.parse(message)),
    ended.then(() => ({ failed: "the process ended before it listened", code: undefined })),
  ]);
  if ("failed" in first) {
    await ended;
    throw new OutsideFailed(first.failed, first.code);
  }
  const stop = () => {
    if (child.connected) child.disconnect();
    return ended;
  };
  return { ...first, child, ended, stop };
}
