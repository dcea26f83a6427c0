/** What closing a connection means, over real sockets. */
import type { IncomingMessage } from "node:http";
import net from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { listen, type RunningFront } from "@reprise/front";
import type { RunReply, RunRequest } from "@reprise/runtime";
import { describe, expect, onTestFinished, test } from "vitest";
import { type FakeParts, fakeRuntime, textReply } from "./support/fakeRuntime.ts";
import { wire } from "./support/requests.ts";

interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
}

function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function start(parts: FakeParts): Promise<RunningFront> {
  const front = await listen({ runtime: fakeRuntime(parts), port: 0 });
  onTestFinished(() => front.close());
  return front;
}

function rawCall(meta: Record<string, unknown> = {}): string {
  const { headers, body } = wire({ method: "tools/call", params: { name: "greet" }, meta });
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

function connect(port: number): net.Socket {
  const socket = net.connect(port, "127.0.0.1");
  socket.on("error", () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  return socket;
}

const gone = (request: RunRequest): Promise<void> =>
  new Promise((resolve) => {
    if (request.isGone) resolve();
    else request.onGone(resolve);
  });

/** Reads until `text` was received. */
function received(socket: net.Socket, text: string): Promise<string> {
  let all = "";
  return new Promise((resolve) => {
    socket.on("data", (chunk) => {
      all += chunk.toString("utf8");
      if (all.includes(text)) resolve(all);
    });
  });
}

describe("a connection that closes", () => {
  test("before the response is told to the request", async () => {
    const entered = deferred<RunRequest>();
    const reply = deferred<RunReply>();
    const front = await start({
      execute: (request) => {
        entered.resolve(request);
        return reply.promise;
      },
    });
    const socket = connect(front.port);
    socket.write(rawCall());
    const request = await entered.promise;
    expect(request.isGone).toBe(false);
    const left = gone(request);
    socket.destroy();
    await left;
    // The reply finds nobody, and that is no failure.
    reply.resolve(textReply("late"));
    const { body } = await front.app.inject({ url: "/metrics", headers: { host: "localhost" } });
    expect(body).toContain('{method="tools/call",outcome="disconnected"} 1\n');
  });

  test("in the middle of a stream is told as well", async () => {
    const entered = deferred<RunRequest>();
    const front = await start({
      execute: (request) => {
        entered.resolve(request);
        return new Promise(() => {});
      },
    });
    const socket = connect(front.port);
    socket.write(rawCall({ progressToken: 1 }));
    const request = await entered.promise;
    const left = gone(request);
    request.notifications?.asksChecked?.();
    const first = received(socket, "notifications/progress");
    request.notifications?.progress?.(1, undefined, undefined);
    expect(await first).toContain("text/event-stream");
    socket.destroy();
    await left;
    expect(() => request.notifications?.progress?.(2, undefined, undefined)).not.toThrow();
  });

  test("before the runtime looks is seen all the same", async () => {
    const entered = deferred<RunRequest>();
    const front = await start({
      execute: (request) => {
        entered.resolve(request);
        return new Promise(() => {});
      },
    });
    const closed = deferred<void>();
    front.app.server.once("connection", (socket: net.Socket) =>
      socket.once("close", () => closed.resolve()),
    );
    const socket = connect(front.port);
    socket.write(rawCall());
    const request = await entered.promise;
    socket.destroy();
    await closed.promise;
    await gone(request);
  });

  test("after the response is told to nobody", async () => {
    const told: string[] = [];
    const entered = deferred<RunRequest>();
    const front = await start({
      execute: (request) => {
        request.onGone(() => told.push("gone"));
        entered.resolve(request);
        return textReply("done");
      },
    });
    const closed = deferred<void>();
    front.app.server.once("connection", (socket: net.Socket) =>
      socket.once("close", () => closed.resolve()),
    );
    const socket = connect(front.port);
    const answered = received(socket, "done");
    socket.write(rawCall());
    await answered;
    socket.destroy();
    await closed.promise;
    expect((await entered.promise).isGone).toBe(false);
    expect(told).toEqual([]);
  });

  test("leaves the other request of its server alone", async () => {
    const requests: RunRequest[] = [];
    const both = deferred<void>();
    const reply = deferred<RunReply>();
    const front = await start({
      execute: (request) => {
        requests.push(request);
        if (requests.length === 2) both.resolve();
        return reply.promise;
      },
    });
    const [one, other] = [connect(front.port), connect(front.port)];
    const answered = received(other, "done");
    one.write(rawCall());
    other.write(rawCall());
    await both.promise;
    const left = Promise.race(requests.map(gone));
    one.destroy();
    await left;
    expect(requests.filter((request) => request.isGone)).toHaveLength(1);
    reply.resolve(textReply("done"));
    expect(await answered).toContain("200 OK");
  });
});

describe("the wire, for those who write it by hand", () => {
  test.each([
    ["two lengths", "content-length: 3\r\ncontent-length: 4\r\n"],
    ["length and chunks", "content-length: 3\r\ntransfer-encoding: chunked\r\n"],
    [
      "a header folded over two lines",
      "mcp-name: gre\r\n et\r\nx: y\r\ncontent-length: 2\r\ncontent-length: 3\r\n",
    ],
  ])("%s is refused before it reaches the endpoint", async (_title, lines) => {
    const front = await start({});
    const socket = connect(front.port);
    const answered = received(socket, "\r\n\r\n");
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${lines}\r\n{}`,
    );
    expect(await answered).toMatch(/^HTTP\/1\.1 400 /);
  });

  test.each([
    ["an empty Host", "HTTP/1.1\r\nhost:\r\n"],
    ["no Host, as HTTP/1.0 allows", "HTTP/1.0\r\n"],
  ])("%s is refused", async (_title, lines) => {
    const front = await start({});
    const socket = connect(front.port);
    const answered = received(socket, "-32600");
    socket.write(`POST /mcp ${lines}content-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
    expect(await answered).toMatch(/^HTTP\/1\.[01] 403 /);
  });

  test("a body that announces too much is refused without being read", async () => {
    const front = await start({});
    const socket = connect(front.port);
    const answered = received(socket, "-32600");
    socket.write(
      "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n",
    );
    expect(await answered).toMatch(/^HTTP\/1\.1 413 /);
  });
});

test("a sender that goes away in the middle of its body is not counted as a failure of the server", async () => {
  const front = await start({});
  const arrived = deferred<IncomingMessage>();
  front.app.server.once("request", arrived.resolve);
  const socket = connect(front.port);
  socket.write(
    "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{",
  );
  const closed = deferred<void>();
  (await arrived.promise).once("close", closed.resolve);
  socket.destroy();
  await closed.promise;
  const metrics = await front.app.inject({ url: "/metrics", headers: { host: "localhost" } });
  expect(metrics.body).toContain('outcome="PARSE_ERROR"');
  expect(metrics.body).not.toContain("INTERNAL");
});

describe("listen", () => {
  test("a taken port is told by code and number", async () => {
    const first = await start({});
    await expect(listen({ runtime: fakeRuntime(), port: first.port })).rejects.toMatchObject({
      code: "PORT_IN_USE",
      data: { host: "127.0.0.1", port: first.port },
    });
  });

  test("the official client lists and calls, with progress on the way", async () => {
    const front = await start({
      execute: (request) => {
        request.notifications?.progress?.(1, 2, "half");
        return textReply("hello");
      },
    });
    const client = new Client(
      { name: "official", version: "1.0.0" },
      { versionNegotiation: { mode: "auto" } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(front.url)));
    onTestFinished(() => client.close());
    expect((await client.listTools()).tools).toMatchObject([{ name: "greet" }]);
    const seen: number[] = [];
    const result = await client.callTool(
      { name: "greet", arguments: {} },
      { onprogress: ({ progress }) => seen.push(progress) },
    );
    expect(result.content).toEqual([{ type: "text", text: "hello" }]);
    expect(seen).toEqual([1]);
  });
});
