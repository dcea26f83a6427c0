/**
 * What role programs share: serves a definition as a front or, with the first argument `worker`, as a worker until SIGTERM.
 * It is told by the same settings and prints the same lines as services/front and services/worker, which load a file.
 */
import process from "node:process";
import type { ServerDefinition } from "reprise";
import { readSettings, serveFront, serveWorker } from "reprise/roles";

/** Resolves when the role has drained. */
export async function serveRole(server: ServerDefinition): Promise<void> {
  const settings = readSettings();
  const ended = new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
  });
  if (process.argv[2] === "worker") {
    const worker = await serveWorker(server, settings);
    process.stdout.write(`  queues    ${worker.queues.join(", ")}\n`);
    await ended;
    await worker.close();
  } else {
    const front = await serveFront(server, settings);
    process.stdout.write(`  MCP       ${front.url}\n`);
    await ended;
    await front.close();
  }
}
