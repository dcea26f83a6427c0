/**
 * Serves the host in the browser (services/shop/host) at `host/` of the shop's page.
 *
 * 1. The page runs only the script that is served here, and talks to nobody but this server and the MCP endpoint (its CSP): what a
 *    server under test says can't make it run or load anything.
 * 2. Addresses are relative, so that the page works under whatever path a proxy has it at.
 * 3. Without an MCP endpoint there is no host, and its addresses are like any other unknown one.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { bundleHost, type HostBundle } from "./hostBundle.ts";

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A host in the browser</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
<script type="module" src="host.js"></script>
</head>
<body>
<div id="host"><noscript>This page is a program: it needs JavaScript.</noscript></div>
</body>
</html>
`;

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#2458c5"/><path d="M8 9h16v10H15l-5 5v-5H8z" fill="#fff"/></svg>`;

/** What the page is told at its start (host/settings.ts reads it). */
interface HostSettings {
  readonly mcpUrl: string;
}

/** Adds the routes. `mcpUrlNow`: undefined until the shop is open, and for ever where there is no endpoint to tell. */
export function serveHost(app: FastifyInstance, mcpUrlNow: () => string | undefined): void {
  let bundle: Promise<HostBundle> | undefined;
  const bundled = async (): Promise<HostBundle> => {
    bundle ??= bundleHost();
    try {
      return await bundle;
    } catch (error) {
      // The next visit tries again: whoever mends the file need not start the shop anew.
      bundle = undefined;
      throw error;
    }
  };
  const served = (
    path: string,
    type: string,
    body: (mcpUrl: string) => string | Promise<string>,
  ): void => {
    app.get(path, async (_request: FastifyRequest, reply: FastifyReply) => {
      const mcpUrl = mcpUrlNow();
      if (mcpUrl === undefined) return reply.callNotFound();
      const text = await body(mcpUrl);
      return reply.headers(headers(type, mcpUrl)).send(text);
    });
  };
  served("/host/", "text/html", () => page);
  served("/host/host.js", "text/javascript", async () => (await bundled()).script);
  served("/host/style.css", "text/css", async () => (await bundled()).style);
  served("/host/icon.svg", "image/svg+xml", () => icon);
  served("/host/settings.json", "application/json", (mcpUrl) => {
    const settings: HostSettings = { mcpUrl };
    return JSON.stringify(settings);
  });
  // Relative, for the same reason as the page's own addresses.
  app.get("/host", async (_request, reply) => reply.code(308).header("location", "host/").send());
}

function headers(type: string, mcpUrl: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    `connect-src 'self' ${new URL(mcpUrl).origin}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    // Nothing may become HTML that was text: the page has no need of it.
    "require-trusted-types-for 'script'",
  ];
  return {
    "content-type": `${type}; charset=utf-8`,
    "content-security-policy": policy.join("; "),
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "x-content-type-options": "nosniff",
  };
}
