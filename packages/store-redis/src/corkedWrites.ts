/**
 * Commands of one turn of the event loop leave in one packet: ioredis writes each by itself, and at concurrency the system
 * calls of both sides cost more than the commands.
 *
 * Called with every new stream of a client. A single command is not held back: what a turn wrote leaves at its end.
 */
import type { Writable } from "node:stream";

/** Holds what is written to `stream` until the turn ends. */
export function corkWrites(stream: Writable): void {
  const write = stream.write.bind(stream);
  let corked = false;
  const uncork = (): void => {
    corked = false;
    stream.uncork();
  };
  const corkedWrite = (...args: Parameters<Writable["write"]>): boolean => {
    if (!corked) {
      corked = true;
      stream.cork();
      process.nextTick(uncork);
    }
    return write(...args);
  };
  stream.write = corkedWrite as Writable["write"];
}
