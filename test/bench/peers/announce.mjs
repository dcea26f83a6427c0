/**
 * What the peers' processes do as the bench's own servers do: tell the parent their address, end when asked.
 */
import process from "node:process";

/** Announces a started server over IPC and closes it when the parent disconnects or sends SIGTERM. */
export function announce(url, close) {
  const end = () => {
    setTimeout(() => process.exit(1), 8_000);
    void Promise.resolve(close()).finally(() => process.exit(0));
  };
  process.once("SIGTERM", end);
  process.once("disconnect", end);
  process.send?.({ url });
}

/** Listens on a free loopback port. */
export function listen(server) {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server.address().port));
  });
}
