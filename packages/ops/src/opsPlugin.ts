/**
 * The dashboard as a fastify plugin: pages, JSON under `api`, one stream of changes, and the board of raw queues.
 *
 * Everything that it installs stays in its own scope. It opens nothing and closes nothing that it was given.
 *
 * A request passes, in this order: the gate (address, Host, session, origin, token, role), the body, its route.
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import type { FastifyInstance, FastifyPluginCallback, FastifyReply, FastifyRequest } from "fastify";
import { Actions } from "./api/actions.ts";
import { serveActs } from "./api/actRoutes.ts";
import { serveReads } from "./api/readRoutes.ts";
import { assetNames, loadAssets } from "./assets.ts";
import { createCarriedText } from "./auth/carriedText.ts";
import { Cookies } from "./auth/cookies.ts";
import { asksForPage, Gate } from "./auth/gate.ts";
import { Roster } from "./auth/roster.ts";
import { Sessions } from "./auth/sessions.ts";
import { escaped, sendPlainPage, serveSignIn } from "./auth/signInRoutes.ts";
import { mountBoard } from "./board.ts";
import { LivePulse } from "./live.ts";
import { type OpsConfig, type OpsOptions, resolveOptions } from "./options.ts";
import { SharedReads } from "./sharedReads.ts";
import type { Refusal } from "./wire.ts";

const BASE = "/ops";
const BODY_LIMIT = 16 * 1024;
/** What pages that hear of one change share. */
const READS_SHARED_MS = 500;

/**
 * Makes the plugin: `await app.register(opsPlugin({ history, operator, signIn, health }))`. It serves `/ops` and what is
 * below, and refuses whatever has not signed in.
 * @throws RangeError naming the option
 */
export function opsPlugin(options: OpsOptions): FastifyPluginCallback {
  const config = resolveOptions(options);
  return (app, _pluginOptions, done) => {
    app.register(async (scope) => await install(scope, config), { prefix: BASE });
    done();
  };
}

async function install(app: FastifyInstance, config: OpsConfig): Promise<void> {
  const { clock, logger, signIn, queues } = config;
  const roster = new Roster(config.records, clock);
  const sessions = new Sessions(roster, clock);
  const cookies = new Cookies(BASE, signIn.secure);
  const gate = new Gate(config, sessions, cookies, BASE);
  const reads = new SharedReads(clock, READS_SHARED_MS);
  const actions = new Actions(config, () => reads.forget());
  const live = new LivePulse(config, sessions);
  signIn.start({ clock, logger, wrapping: createCarriedText(roster) });

  gate.install(app);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, parseJson);
  app.addHook("onRoute", (route) => {
    route.bodyLimit = BODY_LIMIT;
  });
  app.setErrorHandler((error, request, reply) => refuse(error, request, reply, config));
  // R1: made while there is room. Nobody waits for it: a store that is slow must not keep the process from its start.
  app.addHook("onReady", (ready) => {
    roster
      .change(() => undefined)
      .catch((error: unknown) => {
        logger.warn({ err: error }, "the dashboard's sessions can't be kept now");
      });
    ready();
  });
  app.addHook("preClose", (closed) => {
    live.close();
    closed();
  });

  serveSignIn(app, { base: BASE, config, sessions, cookies });
  servePages(app, config);
  app.register(
    (api, _options, done) => {
      serveReads(api, { config, gate, reads });
      serveActs(api, { config, gate, actions });
      api.post("/signout", { config: { opsAccess: "viewer" } }, async (request, reply) => {
        await sessions.end(gate.sessionOf(request).id);
        cookies.write(request, reply, "session", undefined);
        return {};
      });
      api.get("/live", (request, reply) => {
        const { id } = gate.sessionOf(request);
        const headers = reply.getHeaders() as Readonly<Record<string, string>>;
        if (!live.add(reply.raw, headers, id)) {
          throw new RepriseError("BUSY", "As many pages are open as this dashboard serves.");
        }
        reply.hijack();
      });
      api.all("/*", async () => {
        throw new RepriseError("OPS_UNKNOWN", "There is nothing here.");
      });
      done();
    },
    { prefix: "/api" },
  );
  if (queues !== undefined) await mountBoard(app, BASE, queues);
}

/** The shell of all pages, and the files that pages load. The bundle reads the address and shows the page. */
function servePages(app: FastifyInstance, { server }: OpsConfig): void {
  const shell = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(server)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${BASE}/assets/pages.css">
<script type="module" src="${BASE}/assets/pages.js"></script>
</head>
<body><div id="page"></div><noscript>The dashboard needs JavaScript.</noscript></body>
</html>
`;
  const open = { config: { opsAccess: "open" as const } };
  for (const name of assetNames) {
    const type = name.endsWith(".css") ? "text/css" : "text/javascript";
    app.get(`/assets/${name}`, open, async (_request, reply) =>
      reply.type(`${type}; charset=utf-8`).send((await loadAssets())[name]),
    );
  }
  for (const url of ["/", "/*"]) {
    app.get(url, async (_request, reply) => reply.type("text/html; charset=utf-8").send(shell));
  }
}

function parseJson(
  _request: FastifyRequest,
  text: string,
  done: (error: Error | null, body?: unknown) => void,
): void {
  try {
    done(null, text === "" ? {} : JSON.parse(text));
  } catch {
    done(new RepriseError("OPS_REQUEST_INVALID", "The body is no JSON."));
  }
}

function refuse(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { logger, server }: OpsConfig,
): FastifyReply {
  const { status, body } = refusalOf(error);
  if (isRepriseError(error, "STORE_UNAVAILABLE") && asksForPage(request, BASE)) {
    const text = "The store can't be reached, so nobody knows who has signed in. Try again soon.";
    return sendPlainPage(reply, status, {
      base: BASE,
      server,
      body: `<p role="alert">${text}</p>`,
    });
  }
  if (status === 500)
    logger.error({ err: error, url: request.routeOptions.url }, "the dashboard failed");
  return reply.code(status).type("application/json; charset=utf-8").send(body);
}

/** What an error looks like. Only the words of coded errors go out. */
function refusalOf(error: unknown): { readonly status: number; readonly body: Refusal } {
  if (isRepriseError(error)) {
    const { code, message, spec } = error;
    // The registry's 200 is that of a JSON-RPC error; here, it is a server that can't do it now.
    const status = spec.httpStatus === 200 ? 503 : spec.httpStatus;
    return { status, body: { error: { code, message } } };
  }
  const status = statusOf(error);
  if (status !== undefined && status < 500) {
    const message =
      status === 413 ? "The body is too large." : "The request is not usable; bodies are JSON.";
    return { status, body: { error: { code: "OPS_REQUEST_INVALID", message } } };
  }
  // A history says so of cursors and limits, a key ring of key ids.
  if (error instanceof RangeError) {
    return {
      status: 400,
      body: { error: { code: "OPS_REQUEST_INVALID", message: error.message } },
    };
  }
  return {
    status: 500,
    body: { error: { code: "INTERNAL", message: "The dashboard failed; see its log." } },
  };
}

/** Of errors that fastify raised. */
function statusOf(error: unknown): number | undefined {
  const status =
    typeof error === "object" && error !== null && "statusCode" in error
      ? error.statusCode
      : undefined;
  return typeof status === "number" ? status : undefined;
}
