/**
 * What every request to the dashboard passes before anything of it is looked at.
 *
 * Called as the first hook of the plugin's scope. In this order: address and Host, headers of the response, session, and
 * for whatever changes something: origin, token, role.
 *
 * G1 A stranger gets the same answer for what there is and what there is not: the sign-in page's address, or 401.
 * G2 Nothing that changes something is done for a request that does not carry the session's own token in a header, or that
 *    a browser says came from another page. The cookie alone is never enough.
 * G3 What no route declares open needs a session; what is no GET needs an operator, unless the route says otherwise.
 */
import { timingSafeEqual } from "node:crypto";
import { RepriseError } from "@reprise/errors";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { OpsConfig } from "../options.ts";
import type { Cookies } from "./cookies.ts";
import type { Session, Sessions } from "./sessions.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Who may ask: everybody who reaches the address, or whoever has signed in. Default: signed in, and operators for POST. */
    readonly opsAccess?: "open" | "viewer";
  }
}

/** Nothing from elsewhere, no inline code, no frames; pictures may lie in the style sheet. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Headers of every response. The board replaces the policy by its own. */
const headers: Readonly<Record<string, string>> = {
  "content-security-policy": policy,
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

const loopbackNames = new Set(["localhost", "127.0.0.1", "[::1]"]);
const loopbackAddresses = new Set(["127.0.0.1", "::1", "::ffff:127.0.0.1"]);

/** Guards one dashboard. */
export class Gate {
  readonly #config: OpsConfig;
  readonly #sessions: Sessions;
  readonly #cookies: Cookies;
  readonly #base: string;
  readonly #held = new WeakMap<FastifyRequest, Session>();
  #isExposed = false;

  constructor(config: OpsConfig, sessions: Sessions, cookies: Cookies, base: string) {
    this.#config = config;
    this.#sessions = sessions;
    this.#cookies = cookies;
    this.#base = base;
  }

  install(app: FastifyInstance): void {
    app.addHook("onListen", (done) => {
      // A socket in the file system is as local as loopback.
      const found = app
        .addresses()
        .flatMap((each) => (typeof each === "string" ? [] : [each.address]))
        .find((address) => !loopbackAddresses.has(address));
      if (found !== undefined && this.#config.signIn.loopbackOnly) {
        this.#isExposed = true;
        this.#config.logger.error(
          { address: found },
          "the dashboard's one-time links are for loopback; on this address it refuses everything: set up OIDC",
        );
      }
      done();
    });
    app.addHook("onRequest", async (request, reply) => await this.#check(request, reply));
  }

  /** Of a request that passed. @throws RepriseError OPS_SIGN_IN where a route is open and nobody has signed in */
  sessionOf(request: FastifyRequest): Session {
    const session = this.#held.get(request);
    if (session === undefined) throw new RepriseError("OPS_SIGN_IN", "Sign in first.");
    return session;
  }

  async #check(request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
    for (const [name, value] of Object.entries(headers)) reply.header(name, value);
    if (this.#isExposed || !this.#admitsHost(request.host)) {
      this.#config.logger.warn({ host: request.host }, "the dashboard refused a Host");
      throw new RepriseError("OPS_FORBIDDEN", "This Host is not served here.");
    }
    const access = request.routeOptions.config.opsAccess;
    if (access === "open") return undefined;
    const session = await this.#sessions.find(this.#cookies.read(request, "session"));
    if (session === undefined) return this.#turnAway(request, reply);
    this.#held.set(request, session);
    if (request.method === "GET" || request.method === "HEAD") return undefined;
    this.#checkChange(request, session);
    if (access !== "viewer" && session.role !== "operator") {
      throw new RepriseError("OPS_FORBIDDEN", "This takes the role of an operator.");
    }
    return undefined;
  }

  /** G1 */
  #turnAway(request: FastifyRequest, reply: FastifyReply): unknown {
    if (!asksForPage(request, this.#base)) throw new RepriseError("OPS_SIGN_IN", "Sign in first.");
    const to = encodeURIComponent(request.url);
    return reply.redirect(`${this.#base}/signin?to=${to}`, 303);
  }

  /** G2 */
  #checkChange(request: FastifyRequest, session: Session): void {
    const { origin, "sec-fetch-site": site, "x-reprise-csrf": token } = request.headers;
    const isOwn = origin === undefined || isOriginOf(origin, request.host);
    const isSame = site === undefined || site === "same-origin";
    if (isOwn && isSame && typeof token === "string" && isEqual(token, session.csrf)) return;
    throw new RepriseError(
      "OPS_FORBIDDEN",
      "This request did not come from a page of the dashboard.",
    );
  }

  /** Names only: a page of another name that points here would otherwise be read as ours (DNS rebinding). */
  #admitsHost(host: string): boolean {
    const name = host.replace(/:\d+$/, "").toLowerCase();
    if (loopbackNames.has(name)) return true;
    return this.#config.allowedHosts.some((allowed) =>
      [host.toLowerCase(), name].includes(allowed.toLowerCase()),
    );
  }
}

/** Whether a browser shows the answer to a person. */
export function asksForPage({ method, url, headers }: FastifyRequest, base: string): boolean {
  const { accept = "" } = headers;
  return method === "GET" && !url.startsWith(`${base}/api/`) && accept.includes("text/html");
}

/** Whether an origin is of this Host; a default port may be written or not. */
function isOriginOf(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host: name } = new URL(origin);
  const own = `${protocol}//${host}`;
  return URL.canParse(own) && new URL(own).host === name;
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
