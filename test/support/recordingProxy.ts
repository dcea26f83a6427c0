/**
 * A proxy between a client and a server that keeps what went through it, message by message.
 *
 * It changes nothing: bodies go on byte for byte and as they come, headers but those of the connection too. A message is one
 * JSON-RPC object, in a request's body, in a JSON response, or in one `data:` line of an event stream, and is kept when it has
 * passed: the streams of the handshake era carry questions while they stay open.
 */
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A JSON-RPC message as it was on the wire. */
export interface WireMessage {
  readonly from: "client" | "server";
  readonly body: Readonly<Record<string, unknown>>;
  /** HTTP method and headers of a request, status of a response. */
  readonly http: {
    readonly method?: string;
    readonly status?: number;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  };
}

/** A running proxy. */
export interface RecordingProxy {
  readonly url: string;
  /** All messages so far, in the order they passed. */
  readonly messages: readonly WireMessage[];
  /** HTTP exchanges so far, whatever was in them: a GET or DELETE without a message counts here. */
  exchanges(): number;
  /** Destroys all connections, as a proxy that restarts does; new ones are taken. */
  cut(): void;
  close(): Promise<void>;
}

const ofTheConnection = new Set(["host", "connection", "keep-alive", "transfer-encoding"]);

/** Starts a proxy to `target`; the proxy's URL has the same path. */
export async function recordingProxy(target: string): Promise<RecordingProxy> {
  const { origin, pathname } = new URL(target);
  const messages: WireMessage[] = [];
  let exchanges = 0;

  const server = createServer((incoming, outgoing) => {
    exchanges += 1;
    void (async () => {
      const sent = await text(incoming);
      const { method = "", headers } = incoming;
      record("client", sent, { method, headers });
      const answer = await forward(origin, incoming, sent);
      // A client that leaves its stream leaves the server's too.
      outgoing.once("close", () => answer.destroy());
      outgoing.writeHead(answer.statusCode ?? 502, kept(answer.headers));
      const http = { status: answer.statusCode ?? 0, headers: answer.headers };
      if (String(answer.headers["content-type"]).startsWith("text/event-stream")) {
        outgoing.flushHeaders();
        for await (const line of linesOf(answer, (chunk) => outgoing.write(chunk))) {
          if (line.startsWith("data: ")) record("server", line.slice("data: ".length), http);
        }
        outgoing.end();
        return;
      }
      const received = await text(answer);
      record("server", received, http);
      outgoing.end(received);
    })().catch((error: unknown) => outgoing.destroy(error as Error));
  });

  function record(from: WireMessage["from"], body: string, http: WireMessage["http"]): void {
    if (body === "") return;
    messages.push({ from, body: JSON.parse(body) as WireMessage["body"], http });
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}${pathname}`,
    messages,
    exchanges: () => exchanges,
    cut: () => server.closeAllConnections(),
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The complete lines of a body, each chunk given to `pass` before its lines are read. */
async function* linesOf(body: IncomingMessage, pass: (chunk: Buffer) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body as AsyncIterable<Buffer>) {
    pass(chunk);
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

async function forward(
  origin: string,
  incoming: IncomingMessage,
  body: string,
): Promise<IncomingMessage> {
  const sent = httpRequest(new URL(incoming.url ?? "/", origin), {
    method: incoming.method ?? "GET",
    headers: kept(incoming.headers),
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer;
}

function kept(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !ofTheConnection.has(name.toLowerCase())),
  );
}
