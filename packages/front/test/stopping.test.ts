/** What a front answers while it stops. */
import { once } from "node:events";
import net from "node:net";
import { RepriseError } from "@reprise/errors";
import { listen } from "@reprise/front";
import type { RunReply } from "@reprise/runtime";
import { expect, onTestFinished, test } from "vitest";
import { fakeRuntime, textReply } from "./support/fakeRuntime.ts";
import { wire } from "./support/requests.ts";

function rawCall(name: string): string {
  const { headers, body } = wire({ method: "tools/call", params: { name } });
  const lines = Object.entries(headers).map(([key, value]) => `${key}: ${value}\r\n`);
  return `POST /mcp HTTP/1.1\r\n${lines.join("")}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A connection, and all that came over it once it is closed. */
async function connect(port: number): Promise<{ socket: net.Socket; all: Promise<string> }> {
  const socket = net.connect(port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk.toString();
  });
  const all = new Promise<string>((resolve) => socket.once("close", () => resolve(received)));
  await once(socket, "connect");
  return { socket, all };
}

test("a request whose head comes while the front stops is answered by the runtime: BUSY, with a time, as JSON-RPC", async () => {
  let finishLong: (reply: RunReply) => void = () => undefined;
  const long = new Promise<RunReply>((resolve) => {
    finishLong = resolve;
  });
  let isStopping = false;
  const runtime = fakeRuntime({
    tools: [{ name: "quick" }, { name: "long" }],
    execute({ target }) {
      if (isStopping) {
        const data = { retryAfterMs: 1000 };
        throw new RepriseError("BUSY", "the server is stopping; repeat the request", { data });
      }
      return target === "long" ? long : textReply("done");
    },
  });
  const front = await listen({ runtime, port: 0 });
  const held = await connect(front.port);
  held.socket.write(rawCall("long"));
  const late = await connect(front.port);
  const request = rawCall("quick");
  late.socket.write(request.slice(0, 20));
  const other = await connect(front.port);
  // Answered behind the first bytes of the late request: the front has those, so the connection is not idle.
  other.socket.write(rawCall("quick"));
  await once(other.socket, "data");

  isStopping = true;
  const closed = front.close();
  await other.all;
  late.socket.write(request.slice(20));
  const answer = await late.all;
  finishLong(textReply("done"));
  await closed;
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  expect(answer).toMatch(/^connection: close/im);
  expect(answer).toMatch(/"retryAfterMs":1000.*"code":"BUSY"/);
});
