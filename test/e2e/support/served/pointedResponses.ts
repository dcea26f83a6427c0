/**
 * Points at every HTTP response: before its first byte, when half of its body is out, after its last byte.
 *
 * It works on node's own response objects, below the front: what the front believes to have sent stays its belief.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { type Points, tell } from "./points.ts";

/** Puts points on all responses of a server. Call it before the first request. */
export function pointResponses(server: Server, points: Points): void {
  server.prependListener("request", (_request: IncomingMessage, response: ServerResponse) => {
    const end = response.end.bind(response);
    response.end = ((body?: string | Uint8Array) => {
      void deliver(response, Buffer.from(body ?? ""), end, points);
      return response;
    }) as typeof response.end;
    response.once("close", () => {
      if (response.writableFinished) return;
      // One turn later: the front's own listeners come after this one, and what they start is announced first.
      setImmediate(() => tell({ tells: "gone" }));
    });
  });
}

async function deliver(
  response: ServerResponse,
  body: Buffer,
  end: (rest: Buffer) => void,
  points: Points,
): Promise<void> {
  const half = Math.floor(body.length / 2);
  await points.at("before response");
  if (!response.destroyed) {
    await new Promise<void>((resolve) => {
      // Called with an error when the connection is gone: then there is nothing to wait for either.
      response.write(body.subarray(0, half), () => resolve());
    });
  }
  await points.at("middle of response");
  if (!response.destroyed) {
    await new Promise<void>((resolve) => {
      response.once("finish", resolve);
      response.once("close", resolve);
      end(body.subarray(half));
    });
  }
  await points.at("after response");
}
