/**
 * `npm start`: the shop from source, in a fresh clone too.
 *
 * Arguments go on to the shop. Signals reach it once: a Ctrl-C at a terminal is delivered by the terminal to
 * the whole process group already, and a second one could cut the shop's orderly end short, so SIGINT is
 * passed on only where no terminal is. This process ends as the shop ended, by the same code or signal.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { root, setUp } from "./setUp.mjs";

setUp();
const child = spawn(
  process.execPath,
  [
    "--conditions=@reprise/source",
    "--import",
    "tsx",
    "services/shop/src/main.ts",
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: "inherit" },
);

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
