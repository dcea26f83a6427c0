/**
 * Which call's stream a message came on: the port that the incoming asks need, and what there is where nothing can tell.
 *
 * The official client hands a server's request to its handler without the request on whose stream it came. In Node the async
 * context knows (nodeStreamScope.ts). Browsers have no such thing; there the questions belong to the calls that are open, which
 * is the same for a host that makes one call at a time on a connection.
 */
import type { CallInFlight } from "./callInFlight.ts";

/** See the top of this file. One for each connection. */
export interface StreamScope {
  /** Runs `work`, which opens the stream of `call`. */
  run<T>(call: CallInFlight, work: () => Promise<T>): Promise<T>;
  /** The call on whose stream the message came that is handled now; undefined where nothing says so. */
  current(): CallInFlight | undefined;
}

/** A scope that can't tell. */
export function unknownStreamScope(): StreamScope {
  return { run: async (_call, work) => await work(), current: () => undefined };
}
