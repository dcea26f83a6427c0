/**
 * Runs a TypeScript program of the checkout in the foreground, for scripts that only set up what it needs.
 *
 * Signals reach it once: a Ctrl-C at a terminal is delivered by the terminal to the whole process group already, and
 * a second one could cut the program's orderly end short, so SIGINT is passed on only where no terminal is. This
 * process ends as the program ended, by the same code or signal.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { root } from "./setUp.mjs";

/** Runs `program` (a path below the checkout) from source, with this process's arguments. */
export function runInForeground(program, env = process.env) {
  const fromSource = ["--conditions=@reprise/source", "--import", "tsx"];
  const child = spawn(process.execPath, [...fromSource, program, ...process.argv.slice(2)], {
    cwd: root,
    env,
    stdio: "inherit",
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("exit", (code, signal) => {
    if (signal === null) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
