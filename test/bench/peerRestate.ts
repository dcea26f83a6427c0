/**
 * Restate as the suite `peers` runs it: its server with its defaults, and a service process with the handlers.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startCommand } from "../support/childProcess.ts";
import { freePorts } from "./freePort.ts";
import { peersFolder, restateBinary } from "./peerPackages.ts";
import { pinned } from "./pinning.ts";
import { startNode } from "./processes.ts";
import { joined, type System } from "./systems.ts";

/** A Restate that takes calls; the URL is that of its ingress. */
export interface Restate extends System {
  /** Where the service tells its questions. */
  readonly questionsPort: number;
}

const startTimeoutMs = 120_000;

/** Starts both. Without `fsync` its logs are acknowledged before they are flushed. */
export async function startRestate(fsync: boolean): Promise<Restate> {
  const service = await startNode("restateService", [join(peersFolder, "restateService.mjs")]);
  const directory = await mkdtemp(join(tmpdir(), "reprise-restate-"));
  let server: Child | undefined;
  const stopServer = async (): Promise<void> => {
    await server?.stop("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const [ingress = 0, admin = 0, node = 0] = await freePorts(3);
    const file = join(directory, "restate.toml");
    await writeFile(file, configuration(directory, { ingress, admin, node }, fsync));
    const args = ["--config-file", file, "--no-logo", "--listen-mode", "tcp"];
    const [command = "", ...rest] = pinned("server", [restateBinary(), ...args]);
    const running = startCommand(command, rest, {}, directory);
    server = running;
    await answering(`http://127.0.0.1:${admin}/health`, running);
    const endpoint = new URL(service.url);
    await register(admin, endpoint.origin);
    await answering(`http://127.0.0.1:${ingress}/restate/health`, running);
    const ingressPart = {
      url: `http://127.0.0.1:${ingress}`,
      pids: [running.pid],
      stop: stopServer,
    };
    const questionsPort = Number(endpoint.searchParams.get("questions"));
    return { ...joined(ingressPart, service), questionsPort };
  } catch (failure) {
    await stopServer();
    await service.stop();
    throw failure;
  }
}

function configuration(
  directory: string,
  ports: { readonly ingress: number; readonly admin: number; readonly node: number },
  fsync: boolean,
): string {
  return `
base-dir = "${directory}"
node-name = "bench"
cluster-name = "bench"
disable-telemetry = true
log-filter = "error"
bind-ip = "127.0.0.1"
bind-port = ${ports.node}

[ingress]
bind-ip = "127.0.0.1"
bind-port = ${ports.ingress}

[admin]
bind-ip = "127.0.0.1"
bind-port = ${ports.admin}
disable-web-ui = true

[bifrost.local]
rocksdb-disable-wal-fsync = ${!fsync}

[log-server]
rocksdb-disable-wal-fsync = ${!fsync}
`;
}

async function register(admin: number, uri: string): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${admin}/deployments`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ uri }),
  });
  if (!response.ok) throw new Error(`Restate refused the service: ${await response.text()}`);
}

async function answering(url: string, server: Child): Promise<void> {
  const deadlineMs = Date.now() + startTimeoutMs;
  let hasEnded = false;
  void server.ended.then(() => {
    hasEnded = true;
  });
  for (;;) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    if (hasEnded || Date.now() > deadlineMs) {
      const { stdout, stderr } = server.printed();
      throw new Error(`Restate did not start: ${stdout}${stderr}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
