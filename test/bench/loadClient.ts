/**
 * The closed-loop load client: `concurrency` keep-alive connections, each with one operation in flight.
 *
 * Called by loadProcess.ts in a process of its own. Latencies are those of whole operations, from the first
 * byte written to the last one read. The first wrong reply or broken connection ends the run with its cause.
 */
import { connect, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { HttpReplyReader } from "./httpReply.ts";
import { type OperationSpec, operationFor } from "./operations.ts";
import { percentile } from "./stats.ts";

/** What to send, and for how long. */
export interface Load {
  readonly url: string;
  readonly operation: OperationSpec;
  readonly concurrency: number;
  /** Time before anything is counted. */
  readonly warmUpMs: number;
  readonly durationMs: number;
}

/** What was seen at the client. */
export interface LoadResult {
  readonly operations: number;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Called at the begin and the end of the counted time, to take readings of the system under test. */
export type OnEdge = (edge: "begin" | "end") => void;

const firstId = 1_000_000_000;

/** Runs a load to its end. */
export async function runLoad(load: Load, onEdge: OnEdge = () => {}): Promise<LoadResult> {
  const url = new URL(load.url);
  const operation = operationFor(url, load.operation);
  const sockets = await Promise.all(
    Array.from({ length: load.concurrency }, () => open(Number(url.port), url.hostname)),
  );
  const latenciesMs: number[] = [];
  let nextId = firstId;
  let counting = false;
  let stopped = false;

  const loops = sockets.map(
    (socket) =>
      new Promise<void>((resolve, reject) => {
        const reader = new HttpReplyReader();
        let startedMs = 0;
        let round = 0;
        const begin = (): void => {
          startedMs = performance.now();
          round = 0;
          socket.write(operation.first(nextId++));
        };
        socket.on("error", reject);
        socket.on("close", () => reject(new Error("the server closed the connection")));
        socket.on("data", (chunk: Buffer) => {
          try {
            const reply = reader.push(chunk);
            if (reply === undefined) return;
            round += 1;
            const following = operation.next(reply, round, nextId);
            if (following !== undefined) {
              nextId += 1;
              socket.write(following);
              return;
            }
          } catch (error) {
            reject(error instanceof Error ? error : new Error(String(error)));
            return;
          }
          if (counting) latenciesMs.push(performance.now() - startedMs);
          if (stopped) resolve();
          else begin();
        });
        begin();
      }),
  );

  try {
    await Promise.race([pause(load.warmUpMs), failure(loops)]);
    onEdge("begin");
    counting = true;
    const beginMs = performance.now();
    await Promise.race([pause(load.durationMs), failure(loops)]);
    const elapsedMs = performance.now() - beginMs;
    counting = false;
    onEdge("end");
    stopped = true;
    await Promise.all(loops);
    const ascending = Float64Array.from(latenciesMs).sort();
    return {
      operations: ascending.length,
      elapsedMs,
      p50Ms: percentile(ascending, 0.5),
      p99Ms: percentile(ascending, 0.99),
    };
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

/** Rejects with the first failing loop, and never resolves. */
function failure(loops: readonly Promise<void>[]): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const loop of loops) loop.catch(reject);
  });
}

function open(port: number, host: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, noDelay: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
