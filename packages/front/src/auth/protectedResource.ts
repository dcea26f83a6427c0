/**
 * What a front says about itself to those who look for its authorization server: RFC 9728, as MCP has it.
 *
 * `createBearerAuth` makes the options, and whoever checks tokens in a hook of his own may write them down. Everything is
 * checked and built at the start; a request gets a text that is ready.
 *
 * The document is the same for everybody and holds nothing that is not in the configuration: it is served to any page and
 * under any Host, and its addresses never come from a request's headers.
 */
import type { JsonObject } from "@reprise/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { isLoopbackName } from "../admission.ts";
import { answerPreflight } from "../cors.ts";
import { isScope } from "./challenge.ts";

/** A server that tokens are made for, and by whom. */
export interface ProtectedResource {
  /**
   * The MCP endpoint as its clients reach it, such as `https://mcp.example.com/mcp`: what clients ask tokens for
   * (RFC 8707). https, loopback excepted; no query, no fragment.
   */
  readonly resource: string;
  /** Issuer identifiers of the authorization servers whose tokens are accepted. At least one. */
  readonly authorizationServers: readonly string[];
  /** Scopes that every request needs. Default none. */
  readonly requiredScopes?: readonly string[];
  /** Scopes that clients may ask for. Default: the required ones and those of all handlers, without which lists hide them. */
  readonly scopesSupported?: readonly string[];
  /** A name for people. Default: that of the server. */
  readonly resourceName?: string;
  /** A page for developers. Default none. */
  readonly documentation?: string;
}

/** A protected resource, checked, and what follows from it. */
export interface PublishedResource extends ProtectedResource {
  readonly requiredScopes: readonly string[];
  /** Where clients find the document: RFC 9728 section 3.1. */
  readonly metadataUrl: string;
  /** Path of `resource`, as its clients see it. */
  readonly path: string;
  /** Host of `resource`, with its port if it has one. */
  readonly host: string;
}

const wellKnown = "/.well-known/oauth-protected-resource";

/** Clients may keep the document this long: what it says changes with a deploy. */
const maxAgeSeconds = 3600;

/** Checks a protected resource. @throws TypeError naming the member */
export function publishedResource(given: ProtectedResource): PublishedResource {
  const url = publicUrl("resource", given.resource);
  if (url.search !== "") throw new TypeError("resource must have no query");
  if (given.authorizationServers.length === 0) {
    throw new TypeError("authorizationServers must name at least one issuer");
  }
  for (const issuer of given.authorizationServers) publicUrl("authorizationServers", issuer);
  const requiredScopes = scopes("requiredScopes", given.requiredScopes ?? []);
  const path = url.pathname === "/" ? "" : url.pathname;
  return {
    ...given,
    authorizationServers: [...given.authorizationServers],
    requiredScopes,
    ...(given.scopesSupported === undefined
      ? {}
      : { scopesSupported: scopes("scopesSupported", given.scopesSupported) }),
    metadataUrl: `${url.origin}${wellKnown}${path}`,
    path,
    host: url.host,
  };
}

/**
 * A URL that strangers are given: https unless it stays on this machine, and nothing in it that a client could leak or
 * that would need an escape in a header.
 * @throws TypeError naming the option
 */
export function publicUrl(option: string, text: string): URL {
  const refuse = (rule: string): never => {
    throw new TypeError(`${option} must be ${rule}`);
  };
  if (typeof text !== "string" || !URL.canParse(text) || /[\s"\\#]/.test(text)) {
    return refuse("an absolute URL without a fragment");
  }
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") refuse("a URL without user and password");
  const isLocal = url.protocol === "http:" && isLoopbackName(url.hostname);
  if (url.protocol !== "https:" && !isLocal) refuse("https, or http on a loopback address");
  return url;
}

function scopes(option: string, given: readonly string[]): readonly string[] {
  const wrong = given.find((scope) => !isScope(scope));
  if (wrong === undefined) return [...new Set(given)];
  throw new TypeError(`${option}: "${wrong}" is no scope (RFC 6749 section 3.3)`);
}

/** Members of RFC 9728 section 2. */
function documentOf(
  resource: PublishedResource,
  served: { readonly scopes: readonly string[]; readonly info: JsonObject },
): string {
  const supported = resource.scopesSupported ?? [
    ...new Set([...resource.requiredScopes, ...served.scopes]),
  ];
  return JSON.stringify({
    resource: resource.resource,
    authorization_servers: resource.authorizationServers,
    ...(supported.length === 0 ? {} : { scopes_supported: supported }),
    bearer_methods_supported: ["header"],
    resource_name: resource.resourceName ?? served.info["title"] ?? served.info["name"],
    ...(resource.documentation === undefined
      ? {}
      : { resource_documentation: resource.documentation }),
  });
}

/**
 * Serves the document at the well-known address of the endpoint and at the one of the host, which clients try next.
 * `endpointPath` is where the front has the endpoint: a proxy may serve it under another path.
 */
export function serveProtectedResource(
  app: FastifyInstance,
  resource: PublishedResource,
  endpointPath: string,
  served: { readonly scopes: readonly string[]; readonly info: JsonObject },
): void {
  const text = documentOf(resource, served);
  const answer = (_request: FastifyRequest, reply: FastifyReply): void => {
    reply
      .header("access-control-allow-origin", "*")
      .header("cache-control", `public, max-age=${maxAgeSeconds}`)
      .type("application/json; charset=utf-8")
      .send(text);
  };
  const preflight = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.header("access-control-allow-origin", "*");
    answerPreflight(reply, "GET", request.headers["access-control-request-headers"]);
  };
  const ownPath = endpointPath === "/" ? "" : endpointPath;
  for (const path of new Set(["", ownPath, resource.path])) {
    const url = `${wellKnown}${path}`;
    // Of two fronts on one instance, the first one speaks for the host.
    if (app.hasRoute({ method: "GET", url })) continue;
    app.get(url, answer);
    app.options(url, preflight);
  }
}
