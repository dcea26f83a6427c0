/**
 * The closed-loop load client: `concurrency` keep-alive connections, each with one operation in flight.
 *
 * Called by loadProcess.ts in a process of its own. Latencies are those of whole operations, from the first
 * byte written to the last one read. The first wrong reply or broken connection ends the run with its cause.
 */
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { openAwakeableLoops } from "./awakeableLoops.ts";
import { openSocket } from "./httpConnection.ts";
import { HttpReplyReader } from "./httpReply.ts";
import { type HttpSpec, type Operation, type OperationSpec, operationFor } from "./operations.ts";
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

/** What loops tell when an operation is complete; true: begin the next one. */
export type Completed = (startedMs: number) => boolean;

/** Loops that are ready to run. */
export interface OpenLoops {
  /** Begins them all; each promise resolves when its loop has ended. */
  run(completed: Completed): readonly Promise<void>[];
  /** Breaks all connections. */
  close(): void;
}

const firstId = 1_000_000_000;

/** Runs a load to its end. */
export async function runLoad(load: Load, onEdge: OnEdge = () => {}): Promise<LoadResult> {
  const { operation } = load;
  const opened = await (operation.kind === "awakeable"
    ? openAwakeableLoops(new URL(load.url), operation, load.concurrency)
    : openHttpLoops(new URL(load.url), operation, load.concurrency));
  const latenciesMs: number[] = [];
  let counting = false;
  let stopped = false;
  try {
    const loops = opened.run((startedMs) => {
      if (counting) latenciesMs.push(performance.now() - startedMs);
      return !stopped;
    });
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
    opened.close();
  }
}

/** One keep-alive connection a loop. */
async function openHttpLoops(url: URL, spec: HttpSpec, concurrency: number): Promise<OpenLoops> {
  const unique = randomBytes(16).toString("hex");
  let nextId = firstId;
  const sockets = await Promise.all(
    Array.from({ length: concurrency }, () => openSocket(Number(url.port), url.hostname)),
  );
  return {
    run: (completed) =>
      sockets.map((socket) =>
        runHttpLoop(socket, operationFor(url, spec, unique), () => nextId++, completed),
      ),
    close() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

function runHttpLoop(
  socket: Socket,
  operation: Operation,
  newId: () => number,
  completed: Completed,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const reader = new HttpReplyReader();
    let startedMs = 0;
    let round = 0;
    const begin = (): void => {
      startedMs = performance.now();
      round = 0;
      socket.write(operation.first(newId()));
    };
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("the server closed the connection")));
    socket.on("data", (chunk: Buffer) => {
      try {
        const reply = reader.push(chunk);
        if (reply === undefined) return;
        round += 1;
        const following = operation.next(reply, round, newId());
        if (following !== undefined) {
          socket.write(following);
          return;
        }
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      if (completed(startedMs)) begin();
      else resolve();
    });
    begin();
  });
}

/** Rejects with the first failing loop, and never resolves. */
function failure(loops: readonly Promise<void>[]): Promise<never> {
  return new Promise((_resolve, reject) => {
    for (const loop of loops) loop.catch(reject);
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
