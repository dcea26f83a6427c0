/**
 * OAuth, for servers that want it: the official client's flow, and what is missing to it, the wait for the person.
 *
 * Called when a connection is opened and with every request; calls the official transport. The flow itself (metadata, registration,
 * PKCE, tokens, step-up) is the official client's. It ends with the person being sent to the authorization server; here the
 * way back is awaited, the code exchanged, and the refused request made again. A request that was refused for its token was
 * not executed.
 */
import {
  type OAuthClientProvider,
  type StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";

/** How a program authorizes. */
export interface Authorization {
  /** The official client's provider: keeps tokens and registration, and sends the person to the authorization server. */
  readonly provider: OAuthClientProvider;
  /** The query of the redirect URI that the person came back to; called once for each time that the provider sent the person away. */
  readonly redirected: () => Promise<URLSearchParams>;
}

/** How often one request may send the person away: once to sign in, once for more scopes. */
const MAX_REDIRECTS = 2;

/** Does `work`, again after each authorization that it turns out to need. `transport`: the one that was refused. */
export async function authorized<T>(
  transport: () => StreamableHTTPClientTransport,
  authorization: Authorization | undefined,
  work: () => Promise<T>,
): Promise<T> {
  for (let redirects = 0; ; redirects += 1) {
    try {
      return await work();
    } catch (error) {
      const isRefused = error instanceof UnauthorizedError && redirects < MAX_REDIRECTS;
      if (authorization === undefined || !isRefused) throw error;
      await transport().finishAuth(await authorization.redirected());
    }
  }
}
