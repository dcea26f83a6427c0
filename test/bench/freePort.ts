/** Loopback ports for servers that can't be told to take a free one. */
import { createServer } from "node:net";

/** Ports that nobody listens on at this moment, all different. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once("error", reject);
          server.listen(0, "127.0.0.1", () => {
            const address = server.address();
            resolve(typeof address === "object" && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  // Only now, so that none is given twice.
  for (const server of servers) server.close();
  return ports;
}
