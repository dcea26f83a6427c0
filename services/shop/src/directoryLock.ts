/**
 * One outside world per data directory: two would each remember their own keys and cut each other's lines.
 *
 * The lock is a name in Linux's abstract socket space, so the kernel lets go of it with the process, also after
 * SIGKILL; a lock file would have to be judged. Other systems go unlocked.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdir, realpath } from "node:fs/promises";
import { createServer } from "node:net";
import process from "node:process";

/** Takes the directory, made if it is missing, and gives what releases it. @throws Error when another process has it */
export async function lockDirectory(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true });
  if (process.platform !== "linux") return async () => undefined;
  const name = createHash("sha256")
    .update(await realpath(directory))
    .digest("hex");
  const holder = createServer((socket) => socket.destroy());
  try {
    await once(holder.listen(`\0reprise-shop-${name}`), "listening");
  } catch (cause) {
    throw new Error(`${directory} is in use by another payment service`, { cause });
  }
  return () => new Promise((resolve) => holder.close(() => resolve()));
}
