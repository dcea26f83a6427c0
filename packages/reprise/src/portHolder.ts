/**
 * Who holds a port, for the message of a busy one. Linux only (/proc); elsewhere, and for processes of others, undefined.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { RepriseError } from "@reprise/errors";

/** The error that names who holds the port, and the setting that chooses another. */
export function portTaken(port: number, setting: string, cause: unknown): RepriseError {
  const holder = portHolder(port);
  const who =
    holder === undefined
      ? "another process holds it"
      : `process ${holder.pid} holds it (${holder.command})`;
  return new RepriseError(
    "PORT_IN_USE",
    `port ${port} is taken: ${who}. Stop that process, or choose another port with ${setting}.`,
    { cause, data: { port, ...(holder === undefined ? {} : { pid: holder.pid }) } },
  );
}

/** A process that listens on the port. */
interface PortHolder {
  readonly pid: number;
  readonly command: string;
}

const LISTEN = "0A";

/** Looks the holder up. Never throws. */
function portHolder(port: number): PortHolder | undefined {
  try {
    const inodes = listeningInodes(port);
    if (inodes.size === 0) return undefined;
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => holderOf(Number(name), inodes))
      .find((holder) => holder !== undefined);
  } catch {
    return undefined;
  }
}

function listeningInodes(port: number): Set<string> {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  const inodes = new Set<string>();
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    for (const line of readTable(table)) {
      const [, local, , state, , , , , , inode] = line.trim().split(/\s+/);
      if (state === LISTEN && local?.endsWith(`:${hex}`) === true && inode !== undefined)
        inodes.add(`socket:[${inode}]`);
    }
  }
  return inodes;
}

function readTable(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(1);
  } catch {
    return [];
  }
}

function holderOf(pid: number, inodes: Set<string>): PortHolder | undefined {
  try {
    const holds = readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return inodes.has(readlinkSync(`/proc/${pid}/fd/${fd}`));
      } catch {
        return false;
      }
    });
    if (!holds) return undefined;
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return { pid, command: shortened(command) };
  } catch {
    return undefined;
  }
}

/** The program is named at the beginning of a command, what it was told at the end; flags for node stand between. */
function shortened(command: string): string {
  return command.length <= 120 ? command : `${command.slice(0, 40)} … ${command.slice(-77)}`;
}
