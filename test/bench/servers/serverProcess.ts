/**
 * What every server process of the bench does: announce its endpoint to the parent, tell its memory, end when asked.
 */

/** A server that can be closed. */
export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

/** The message that a server sends once it accepts connections. */
export interface Ready {
  readonly url: string;
}

/** What the parent sends to get a `MemoryReply`. */
export const memoryQuestion = "memory";

/** Bytes of the process after a full collection. */
export interface MemoryReply {
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
}

/** How long a server may take to close; one that waits for a database that is gone would never end. */
const closeTimeoutMs = 8_000;

/** Announces a started server over IPC and closes it when the parent disconnects or sends SIGTERM. */
export function announce(served: Served): void {
  const ready: Ready = { url: served.url };
  const end = (): void => {
    // Exits by name: a profile is written at exit, and an open keep-alive connection must not delay it.
    setTimeout(() => process.exit(1), closeTimeoutMs);
    void served.close().finally(() => process.exit(0));
  };
  process.once("SIGTERM", end);
  process.once("disconnect", end);
  process.on("message", (message) => {
    if (message === memoryQuestion) process.send?.(memoryNow());
  });
  process.send?.(ready);
}

function memoryNow(): MemoryReply {
  if (globalThis.gc === undefined) throw new Error("memory is told under --expose-gc only");
  // Twice: the first may leave what finalizers let go of.
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heapUsed, external };
}
