/**
 * Commands that are written about the same time leave in one packet: ioredis writes each by itself, and at concurrency the system
 * calls of both sides cost more than the commands.
 *
 * Called with every new stream of a client.
 *
 * W1 While few commands wait for their replies, what a turn of the event loop wrote leaves at its end: nobody waits for a packet to fill.
 * W2 While many do, it leaves after the loop's next round. Runs go on in turns of their own, so a turn alone would hold one command
 *    of a crowd.
 */
import type { Writable } from "node:stream";

/** So many may wait before W2 holds. */
const FEW = 2;

/** Holds what is written to `stream`. @param waiting how many commands wait for their replies */
export function corkWrites(stream: Writable, waiting: () => number): void {
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
      if (waiting() > FEW) setImmediate(uncork);
      else process.nextTick(uncork);
    }
    return write(...args);
  };
  stream.write = corkedWrite as Writable["write"];
}
