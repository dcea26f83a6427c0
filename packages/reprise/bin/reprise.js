#!/usr/bin/env node
/**
 * Starts the command: built code where it is installed; in a checkout the sources, which need no build and are never stale.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("../src/cli.ts", import.meta.url));

if (existsSync(source)) {
  const loader = import.meta.resolve("tsx");
  const args = [
    "--conditions=@reprise/source",
    "--import",
    loader,
    source,
    ...process.argv.slice(2),
  ];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
    process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1);
  });
} else {
  await import("../dist/cli.js");
}
