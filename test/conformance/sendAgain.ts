/**
 * What the suite's client lacks and a client of MCP needs: it sends a request again when its connection was cut.
 *
 * Stands between the suite and nginx, on loopback. It passes headers, statuses and bytes on as they are.
 *
 * 1. A request is sent again only when nginx says 502: the front died before it had answered anything.
 * 2. An answer that had begun is passed on as far as it came, then the suite's connection is cut as well.
 * 3. When the suite hangs up, so does this.
 */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestOptions,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

/** A running one. */
export interface SendAgain {
  /** What the suite is given in place of nginx's. */
  readonly url: string;
  /** Requests that were sent again; grows. */
  readonly count: number;
  stop(): Promise<void>;
}

const badGateway = 502;
/** Members die one at a time: the second try meets a living front, unless the machine is very busy. */
const mostTries = 4;

/** Stands before the server at `target`. */
export async function startSendAgain(target: string): Promise<SendAgain> {
  const { hostname, port, pathname } = new URL(target);
  let count = 0;
  const relay = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await from.toArray());
    const { method, url: path, rawHeaders: headers } = from;
    const options = { hostname, port, method, path, headers } as RequestOptions;
    for (let left = mostTries; ; left -= 1) {
      const answer = await send(options, body, to);
      if (answer.statusCode === badGateway && left > 1) {
        count += 1;
        answer.resume();
        continue;
      }
      to.writeHead(answer.statusCode ?? badGateway, answer.rawHeaders);
      to.flushHeaders();
      answer.once("error", () => to.destroy());
      answer.pipe(to);
      return;
    }
  };
  const server = createServer((from, to) => {
    // nginx lives, so only the suite can have hung up.
    relay(from, to).catch(() => to.destroy());
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const own = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${own}${pathname}`,
    get count() {
      return count;
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** Resolves with the head of the answer. */
function send(options: RequestOptions, body: Buffer, to: ServerResponse): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request(options, resolve);
    sent.once("error", reject);
    to.once("close", () => {
      if (!to.writableFinished) sent.destroy();
    });
    sent.end(body);
  });
}
