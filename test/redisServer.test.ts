/**
 * The private Redis servers of the tests do what the tests take for granted.
 */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";
import { onTestFinished, test } from "vitest";
import { type RedisServerOptions, startRedis } from "./support/redisServer.ts";

async function started(options: RedisServerOptions): ReturnType<typeof startRedis> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

/** One command in Redis' inline form; all that came back until the server closed. */
function ask(address: NetConnectOpts, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(address, () => socket.end(`${command}\r\nQUIT\r\n`));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(text));
  });
}

test("a private Redis that was killed knows what it kept in its append-only file", async () => {
  const server = await started({ port: 0, appendonly: true });
  const address = { port: server.port, host: "127.0.0.1" };
  assert.match(await ask(address, "SET kept yes"), /^\+OK/);
  await server.restart();
  assert.match(await ask(address, "GET kept"), /yes/);
});

test("a private Redis without a port listens on its socket only, and leaves nothing behind", async () => {
  const server = await started({});
  assert.equal(server.port, 0);
  assert.match(await ask({ path: server.socket }, "CONFIG GET port"), /\$1\r\n0\r\n/);
  await server.stop();
  assert.equal(existsSync(server.directory), false);
});
