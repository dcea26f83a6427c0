/**
 * Names at which processes of this machine find each other: sockets that the kernel takes back from a process that dies.
 *
 * Called by the gate. Abstract sockets on Linux, named pipes on Windows: none of them is ever stale. macOS has neither: there
 * they are socket files, and one at which nobody answers is removed by whoever looks.
 *
 * Processes of different network namespaces don't see each other; they must not share a store (README).
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const pipes = "\\\\.\\pipe\\";

function addressOf(name: string): string {
  if (process.platform === "linux") return `\0${name}`;
  return process.platform === "win32" ? `${pipes}${name}` : join(tmpdir(), name);
}

/** Takes a name; undefined when another process has it. Rejects when names can't be had at all. */
export async function take(
  name: string,
  onVisit: (socket: Socket) => void,
): Promise<Server | undefined> {
  const server = createServer(onVisit);
  const failure = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
    server.once("error", resolve);
    server.listen(addressOf(name), () => resolve(undefined));
  });
  if (failure === undefined) return server;
  if (failure.code !== "EADDRINUSE") throw failure;
  const socket = await visit(name);
  socket?.destroy();
  return undefined;
}

/** Connects to whoever has a name; undefined when nobody does any more. */
export function visit(name: string): Promise<Socket | undefined> {
  const address = addressOf(name);
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once("connect", () => resolve(socket));
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" && process.platform === "darwin") {
        rmSync(address, { force: true });
      }
      resolve(undefined);
    });
  });
}

/** All names in use that begin with `prefix`. */
export function namesLike(prefix: string): readonly string[] {
  return allNames().filter((name) => name.startsWith(prefix));
}

function allNames(): readonly string[] {
  if (process.platform !== "linux") {
    return readdirSync(process.platform === "win32" ? pipes : tmpdir());
  }
  // The last column; `@` stands for the zero bytes that begin an abstract name and pad it.
  const lines = readFileSync("/proc/net/unix", "utf8").split("\n");
  const names = lines.map((line) => /@([^@ ]+)@*$/.exec(line)?.[1] ?? "");
  return [...new Set(names)];
}
