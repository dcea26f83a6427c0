/**
 * The `reprise` command as a person starts it: the real program, its streams, its exit code.
 */
import { fileURLToPath } from "node:url";
import { type Child, type Ended, startCommand, startNode } from "./childProcess.ts";

const program = fileURLToPath(new URL("../../packages/reprise/bin/reprise.js", import.meta.url));

/** Runs the command to its end; `typed` is what comes over standard input, which then ends; `env` is laid over. */
export async function runReprise(
  args: readonly string[],
  typed: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const child = startNode([program, ...args], env);
  child.input.end(typed.map((line) => `${line}\n`).join(""));
  return await child.ended;
}

/** Starts the command and leaves it running; relative paths are those of `cwd`, `env` is laid over. */
export function startReprise(
  args: readonly string[],
  cwd?: string,
  env: Readonly<Record<string, string>> = {},
): Child {
  return startNode([program, ...args], env, cwd);
}

/** Starts the command at a terminal of its own, with the `script` of util-linux; its stdout is the screen. */
export function startAtTerminal(args: readonly string[]): Child {
  const command = [process.execPath, program, ...args].map(quoted).join(" ");
  return startCommand("script", ["-qec", command, "/dev/null"], { TERM: "xterm" });
}

/** A word for a POSIX shell. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
