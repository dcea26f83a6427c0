/**
 * The pages of people who have not signed in: plain HTML without a script, the same for everybody.
 *
 * The session's cookie is set by a page that then leads on, not by a redirect: a browser that comes from the provider
 * would not send a strict cookie with the redirect's request.
 */
import type { FastifyInstance, FastifyReply } from "fastify";
import type { OpsConfig } from "../options.ts";
import type { Cookies } from "./cookies.ts";
import type { Sessions } from "./sessions.ts";

/** What the routes work with. */
export interface SignInParts {
  readonly base: string;
  readonly config: OpsConfig;
  readonly sessions: Sessions;
  readonly cookies: Cookies;
}

/** Where people may be sent after signing in: below our own path, no other scheme or host. */
function placeBelow(base: string, to: string | undefined): string {
  const isOwn = to?.startsWith(`${base}/`) === true && /^[\w/.:?=&%~-]{1,500}$/.test(to);
  return isOwn && !to.includes("//") && !to.startsWith(`${base}/signin`) ? to : `${base}/`;
}

/** Serves `signin`, `begin` and `enter`. */
export function serveSignIn(app: FastifyInstance, parts: SignInParts): void {
  const { base, config, sessions, cookies } = parts;
  const { signIn, server, logger } = config;
  const open = { config: { opsAccess: "open" as const } };
  const page = (reply: FastifyReply, status: number, body: string, head = ""): FastifyReply =>
    sendPlainPage(reply, status, { base, server, body, head });
  const form = (to: string): string =>
    `<form method="get" action="${base}/begin"><input type="hidden" name="to" value="${escaped(to)}"><button>${escaped(signIn.button)}</button></form>`;

  app.get<Query>("/signin", open, (request, reply) => {
    const to = placeBelow(base, textOf(request.query.to));
    return page(reply, 200, `<p>${escaped(signIn.invitation)}</p>${form(to)}`);
  });

  app.get<Query>("/begin", open, async (request, reply) => {
    const to = placeBelow(base, textOf(request.query.to));
    try {
      const beginning = await signIn.begin(to);
      if (beginning.kind === "told")
        return page(reply, 200, `<p role="status">${escaped(beginning.text)}</p>`);
      cookies.write(request, reply, "entering", beginning.transaction);
      return reply.redirect(beginning.location, 303);
    } catch (error) {
      logger.warn({ err: error }, "a sign-in to the dashboard could not be begun");
      return page(
        reply,
        503,
        `<p role="alert">Signing in is not possible now. Try again in a moment.</p>${form(to)}`,
      );
    }
  });

  app.get<Query>("/enter", open, async (request, reply) => {
    const query = new URLSearchParams(request.url.split("?")[1] ?? "");
    const entrance = await signIn.enter({ query, transaction: cookies.read(request, "entering") });
    cookies.write(request, reply, "entering", undefined);
    if (!entrance.ok) {
      return page(reply, 403, `<p role="alert">${escaped(entrance.why)}</p>${form(`${base}/`)}`);
    }
    const former = cookies.read(request, "session");
    const session = await sessions.begin(entrance.person, former);
    cookies.write(request, reply, "session", session.id);
    logger.info({ actor: session.actor, role: session.role }, "signed in to the dashboard");
    const to = escaped(placeBelow(base, entrance.to));
    const lead = `<meta http-equiv="refresh" content="0;url=${to}">`;
    return page(reply, 200, `<p>You are signed in. <a href="${to}">Go on</a></p>`, lead);
  });
}

interface Query {
  Querystring: { readonly to?: unknown };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** What stands on a page without a script. */
interface PlainPage {
  readonly base: string;
  readonly server: string;
  /** HTML. */
  readonly body: string;
  readonly head?: string;
}

/** A page for people whom nobody knows, or can know now. */
export function sendPlainPage(
  reply: FastifyReply,
  status: number,
  { base, server, body, head = "" }: PlainPage,
): FastifyReply {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in - ${escaped(server)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/assets/pages.css">
${head}</head>
<body><main class="container signin"><article><h1>${escaped(server)}</h1>${body}</article></main></body>
</html>
`;
  return reply.code(status).type("text/html; charset=utf-8").send(text);
}

/** For text and quoted attributes. */
export function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
