/**
 * The dashboard's two cookies, read and written: the session, and the sign-in that is under way.
 *
 * K1 Neither can be read by a script, and both are sent to the dashboard's own path only.
 * K2 The session is never sent with a request that another site began (`SameSite=Strict`). The sign-in has to be: the
 *    provider's redirect is one (`Lax`), and it is good for nothing else.
 * K3 Names carry the port that the browser asked for: cookies know none, and two dashboards on one machine must not sign each other
 *    out, while two behind one balancer are one to the browser.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import { SESSION_LIFE_S } from "./sessions.ts";

type Kind = "session" | "entering";

/** Reads and writes the cookies below one path. */
export class Cookies {
  readonly #path: string;
  readonly #secure: boolean;

  constructor(path: string, secure: boolean) {
    this.#path = path;
    this.#secure = secure;
  }

  read(request: FastifyRequest, kind: Kind): string | undefined {
    const name = this.#name(request, kind);
    for (const pair of (request.headers.cookie ?? "").split(";")) {
      const at = pair.indexOf("=");
      if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
    }
    return undefined;
  }

  /** Undefined takes it away. */
  write(request: FastifyRequest, reply: FastifyReply, kind: Kind, value: string | undefined): void {
    const life = value === undefined ? 0 : kind === "session" ? SESSION_LIFE_S : 600;
    const parts = [
      `${this.#name(request, kind)}=${value ?? ""}`,
      `Path=${this.#path}`,
      `Max-Age=${life}`,
      "HttpOnly",
      kind === "session" ? "SameSite=Strict" : "SameSite=Lax",
      ...(this.#secure ? ["Secure"] : []),
    ];
    const before = reply.getHeader("set-cookie");
    const others = before === undefined ? [] : [before].flat().map(String);
    reply.header("set-cookie", [...others, parts.join("; ")]);
  }

  #name(request: FastifyRequest, kind: Kind): string {
    const [, port = "80"] = /:(\d+)$/.exec(request.host) ?? [];
    return this.#secure ? `__Secure-reprise_ops_${kind}` : `reprise_ops_${kind}_${port}`;
  }
}
