/**
 * The way in for programs on Node. Browsers have theirs in connectInBrowser.ts; everything behind both is one.
 */
import { connectWith } from "./client.ts";
import type { ConnectOptions, HostClient } from "./hostClient.ts";
import { nodeStreamScope } from "./nodeStreamScope.ts";
import { patientFetch } from "./patientFetch.ts";

/**
 * Opens a connection to a server. Throws RangeError or TypeError for an unusable option, UNSUPPORTED_VERSION where no
 * server of a known revision is, SERVER_UNREACHABLE, UNAUTHORIZED. Calls reject with those, TOO_MANY_ROUNDS, CLIENT_CANNOT_ANSWER,
 * ANSWER_UNUSABLE, CALL_CANNOT_WAIT, or the official `ProtocolError` for what the server itself refused.
 */
export async function connect(options: ConnectOptions): Promise<HostClient> {
  const { fetch = patientFetch } = options;
  return await connectWith({ ...options, fetch }, nodeStreamScope);
}
