/**
 * A way to a Redis that loses replies: what was done is done, and who asked for it does not hear.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, connect as dial, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A way to a Redis on which the next reply to a matching command is lost together with the connection. */
export async function lossyWay(
  socketPath: string,
): Promise<{ url: string; loseReplyTo(part: string): void; lost(): number }> {
  let wanted: string | undefined;
  let lost = 0;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const redis = dial(socketPath);
    let loses = false;
    sockets.add(client).add(redis);
    client.on("data", (chunk) => {
      if (wanted !== undefined && chunk.includes(wanted)) {
        wanted = undefined;
        loses = true;
      }
      redis.write(chunk);
    });
    redis.on("data", (chunk) => {
      if (loses) {
        lost += 1;
        client.destroy();
      } else client.write(chunk);
    });
    for (const [one, other] of [[client, redis] as const, [redis, client] as const]) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  const address = proxy.address();
  assert.ok(typeof address === "object" && address !== null);
  return {
    url: `redis://127.0.0.1:${address.port}`,
    loseReplyTo: (part) => {
      wanted = part;
    },
    lost: () => lost,
  };
}
