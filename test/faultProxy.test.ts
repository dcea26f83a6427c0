/**
 * The TCP fault proxy does what it says: a fault matrix over a proxy that lets everything through would find nothing.
 */
import { once } from "node:events";
import { type AddressInfo, createServer, connect as dial, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type FaultProxy, startFaultProxy } from "./support/faultProxy.ts";

/** An echo server behind a proxy, and connections through it. */
async function echo(): Promise<{ proxy: FaultProxy; open(): Promise<Socket> }> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.pipe(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const proxy = await startFaultProxy((server.address() as AddressInfo).port);
  onTestFinished(async () => {
    await proxy.close();
    server.close();
  });
  return {
    proxy,
    async open() {
      const socket = dial(proxy.port, "127.0.0.1");
      socket.on("error", () => undefined);
      onTestFinished(() => void socket.destroy());
      await once(socket, "connect");
      return socket;
    },
  };
}

/** Says a word and waits for its echo. */
async function said(socket: Socket, word: string): Promise<string> {
  socket.write(word);
  const [heard] = (await once(socket, "data")) as [Buffer];
  return heard.toString();
}

/** `once` would take the reset, which is the point here, for a failure. */
function closeOf(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

test("bytes pass both ways while nothing is wrong", async () => {
  const { open } = await echo();
  expect(await said(await open(), "hello")).toBe("hello");
});

test("a cut resets the connections that are there, and takes new ones", async () => {
  const { proxy, open } = await echo();
  const socket = await open();
  await said(socket, "hello");
  const closed = closeOf(socket);
  proxy.cut();
  await closed;
  expect(await said(await open(), "again")).toBe("again");
});

test("a silenced connection hears nothing and is told nothing, while new ones pass; mending resets it", async () => {
  const { proxy, open } = await echo();
  const silent = await open();
  await said(silent, "hello");
  proxy.silence();
  const heard: string[] = [];
  silent.on("data", (chunk) => heard.push(chunk.toString()));
  silent.on("close", () => heard.push("closed"));
  silent.write("anybody?");
  // A whole conversation on another connection: the silent one had all the time that it needed.
  expect(await said(await open(), "hello")).toBe("hello");
  expect(heard).toEqual([]);
  const closed = closeOf(silent);
  proxy.mend();
  await closed;
  expect(heard).toEqual(["closed"]);
});

test("nobody gets in while it refuses", async () => {
  const { proxy, open } = await echo();
  proxy.refuse();
  const socket = await open().catch(() => undefined);
  if (socket !== undefined && !socket.destroyed) await closeOf(socket);
  proxy.mend();
  expect(await said(await open(), "hello")).toBe("hello");
});

test("a delay holds each way, and keeps the order", async () => {
  const { proxy, open } = await echo();
  const socket = await open();
  proxy.blow({ delayMs: 60 });
  const since = performance.now();
  expect(await said(socket, "one")).toBe("one");
  expect(performance.now() - since).toBeGreaterThanOrEqual(110);
});

test("a narrow way takes its time for many bytes", async () => {
  const { proxy, open } = await echo();
  const socket = await open();
  proxy.blow({ bytesPerSecond: 10_000 });
  const since = performance.now();
  let bytes = 0;
  const all = new Promise<void>((resolve) => {
    socket.on("data", (chunk) => {
      bytes += chunk.length;
      if (bytes === 2_000) resolve();
    });
  });
  socket.write(Buffer.alloc(2_000));
  await all;
  // Two directions, 200 ms each.
  expect(performance.now() - since).toBeGreaterThanOrEqual(300);
});
