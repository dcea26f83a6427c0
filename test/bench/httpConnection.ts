/**
 * One keep-alive connection on which requests are sent one after the other and awaited: for flows of several
 * connections. loadClient.ts does without the promises where one connection is all.
 */
import { connect, type Socket } from "node:net";
import { type HttpReply, HttpReplyReader } from "./httpReply.ts";

/** A connection with at most one request in flight. */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #reader = new HttpReplyReader();
  #waiting: { resolve(reply: HttpReply): void; reject(error: unknown): void } | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    const fail = (error: unknown): void => this.#waiting?.reject(error);
    socket.on("error", fail);
    socket.on("close", () => fail(new Error("the server closed the connection")));
    socket.on("data", (chunk: Buffer) => {
      try {
        const reply = this.#reader.push(chunk);
        if (reply !== undefined) this.#waiting?.resolve(reply);
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Sends the bytes of a request; resolves with its reply. */
  send(request: string): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** Connects without waiting to fill packets. */
export function openSocket(port: number, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
