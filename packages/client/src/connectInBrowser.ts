/**
 * The way in for pages: the same loop and gates as on Node, bundled for a browser.
 *
 * A page that calls another origin needs that server's leave (`allowedOrigins`), as for any request of a page.
 */
import { connectWith } from "./client.ts";
import type { ConnectOptions, HostClient } from "./hostClient.ts";
import { unknownStreamScope } from "./streamScope.ts";

/**
 * Opens a connection to a server; options, errors and calls as of the `connect` for Node. On the handshake era make one call at a
 * time: with several open, a question names the targets of all of them, since nothing in a browser can tell whose it is.
 */
export async function connect(options: ConnectOptions): Promise<HostClient> {
  // As a property of somebody else `fetch` refuses to run in browsers.
  const { fetch = async (input, init) => await globalThis.fetch(input, init) } = options;
  return await connectWith({ ...options, fetch }, unknownStreamScope);
}
