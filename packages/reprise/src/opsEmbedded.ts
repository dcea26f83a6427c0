/**
 * The dashboard inside a process that serves on its own: on the same address as MCP, opened by one-time links.
 *
 * `serve` calls it. There are no queues, no ring of keys and no workers to show.
 */

import { RepriseError } from "@reprise/errors";
import type { ListenOptions } from "@reprise/front";
import { createLinkSignIn, opsPlugin } from "@reprise/ops";
import type { Logger, RunStore, Runtime, ServerDefinition } from "@reprise/runtime";

/** What it is made of. */
export interface EmbeddedOpsParts {
  readonly server: ServerDefinition;
  readonly runtime: Runtime;
  /** Tells how full it is. */
  readonly store: Pick<RunStore, "health">;
  /** Where the process listens; undefined is loopback. */
  readonly host: string | undefined;
  /** Gets each link that somebody asked for on the page. */
  readonly print: (link: string) => void;
  readonly logger: Logger | undefined;
}

/** The plugin, and what makes links once the address is known. */
export interface EmbeddedOps {
  readonly plugin: NonNullable<ListenOptions["plugins"]>[number];
  /** Of the MCP endpoint's URL. Each call of what it gives ends the link before. */
  linksAt(mcpUrl: string): () => string;
}

/** Makes it. @throws RepriseError CONFIG_INVALID for a host that others reach */
export function embeddedOps(parts: EmbeddedOpsParts): EmbeddedOps | undefined {
  const { server, runtime, store, host = "127.0.0.1", print, logger } = parts;
  const { operator, history } = runtime;
  if (operator === undefined || history === undefined) return undefined;
  if (!isLoopback(host)) {
    throw new RepriseError(
      "CONFIG_INVALID",
      `ops opens with one-time links, which is for loopback alone, and host is ${host}: serve the dashboard with reprise ops and OIDC`,
    );
  }
  let origin = "";
  const signIn = createLinkSignIn({ print: (link) => print(`${origin}/ops/${link}`) });
  const plugin = opsPlugin({
    history,
    operator,
    signIn,
    server: server.name,
    health: () => store.health(),
    ...(logger === undefined ? {} : { logger }),
  });
  return {
    plugin,
    linksAt(mcpUrl) {
      ({ origin } = new URL(mcpUrl));
      return () => `${origin}/ops/${signIn.newLink()}`;
    },
  };
}

/** Whether an address to bind is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return ["127.0.0.1", "localhost", "::1", "[::1]"].includes(host);
}
