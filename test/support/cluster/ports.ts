/**
 * Loopback ports that stay free between a member's death and its next start.
 *
 * What the system hands out for port 0 is also what it gives to outgoing connections, so a busy cluster could take a dead
 * member's port. These lie below that range (Linux: from 32768).
 */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

const first = 15_000;
const last = 32_000;
/** A range this wide is never full; who needs more tries is looking at another fault. */
const attempts = 200;

/** Distinct ports that nobody listens on now. */
export async function unusedPorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  for (let left = attempts; found.size < count; left -= 1) {
    if (left === 0) throw new Error("no unused ports were found");
    const port = randomInt(first, last);
    if (!found.has(port) && (await isUnused(port))) found.add(port);
  }
  return [...found];
}

function isUnused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
