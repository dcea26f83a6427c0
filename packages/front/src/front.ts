/**
 * The front as a fastify plugin.
 *
 * It keeps no state that another front would need, and it never closes the runtime: who made that closes it.
 * Everything it installs (hooks, parsers, error handler) stays inside the plugin's own scope.
 *
 * A request passes, in this order: what makes it ambiguous, Host, Origin (CORS), Accept, authentication, body, endpoint.
 */
import { RepriseError } from "@reprise/errors";
import { errorResponse } from "@reprise/protocol";
import type { Caller } from "@reprise/runtime";
import type {
  FastifyInstance,
  FastifyPluginCallback,
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
} from "fastify";
import { acceptsBoth, hostRule, isLoopbackName, originRule } from "./admission.ts";
import { authenticationHook } from "./auth/authenticationHook.ts";
import { serveProtectedResource } from "./auth/protectedResource.ts";
import { ScopeRule } from "./auth/scopes.ts";
import { ambiguityOf } from "./brokenRequests.ts";
import { allowOrigin, answerPreflight } from "./cors.ts";
import { McpEndpoint, parseMcpBody } from "./endpoint.ts";
import { LegacyLane } from "./legacy/lane.ts";
import { assembleLane } from "./legacy/laneParts.ts";
import type { LegacyConfig } from "./legacy/options.ts";
import { serveLegacyRoutes } from "./legacy/routes.ts";
import { servedMethods } from "./methods.ts";
import { FrontMetrics } from "./metrics.ts";
import { serveOperations } from "./operations.ts";
import { type FrontConfig, type FrontOptions, resolveOptions } from "./options.ts";

/**
 * Makes the plugin: `await app.register(createFront({ runtime }))`. It serves MCP at `path`, and `/healthz`, `/readyz`
 * and `/metrics`.
 *
 * Registered on an instance that then listens on another address than loopback, it refuses every request unless
 * `authenticate` or `auth: "none"` is given.
 * @throws TypeError or RangeError naming the option
 */
export function createFront(options: FrontOptions): FastifyPluginCallback {
  const config = resolveOptions(options);
  return (app, _pluginOptions, done) => {
    installFront(app, config);
    done();
  };
}

function installFront(app: FastifyInstance, config: FrontConfig): void {
  const metrics = new FrontMetrics();
  const callers = new WeakMap<FastifyRequest, Caller>();
  const stream = {
    commitAfterMs: config.commitAfterMs,
    heartbeatMs: config.heartbeatMs,
    metrics,
  };
  const { methods, subscriptions } = servedMethods(config, stream, (error) =>
    app.log.error({ err: error }, "a request failed inside the server"),
  );
  const lane =
    config.legacy === undefined ? undefined : legacyLane(app, config, config.legacy, metrics);
  const endpoint = new McpEndpoint(methods, metrics, callers, lane);
  const gate = new Gate(app, config, endpoint);

  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parseMcpBody);
  app.setErrorHandler((error: Error, request, reply) =>
    endpoint.refuse(error as RepriseError, request, reply),
  );

  const { authenticate, protectedResource } = config;
  const before =
    authenticate === undefined
      ? [gate.check]
      : [gate.check, authenticationHook(authenticate, protectedResource, callers, endpoint)];
  app.post(config.path, { bodyLimit: config.maxBodyBytes, onRequest: before }, (request, reply) =>
    endpoint.handle(request, reply),
  );
  const preflight = (request: FastifyRequest, reply: FastifyReply): void =>
    answerPreflight(
      reply,
      lane === undefined ? "POST" : "GET, POST, DELETE",
      request.headers["access-control-request-headers"],
      config.allowedHeaders,
    );
  // These are answered before a body is read: a DELETE of the handshake era may come with any.
  app.options(config.path, { onRequest: [gate.check, preflight] }, preflight);
  const refuse = lane === undefined ? onlyPost : onlySessionMethods;
  if (lane !== undefined) {
    serveLegacyRoutes(app, { path: config.path, lane, before, callers, refuse });
  }
  app.route({
    method: [...(lane === undefined ? ["GET", "DELETE"] : ["HEAD"]), "PUT", "PATCH"],
    url: config.path,
    onRequest: [gate.check, refuse],
    handler: refuse,
  });
  // Open streams would keep the instance from closing.
  app.addHook("preClose", (closed) => {
    subscriptions?.close();
    closed();
  });
  const { metricsToken, metricsText } = config;
  serveOperations(app, config.runtime, metrics, gate.check, metricsToken, metricsText);
  if (protectedResource !== undefined) {
    const { catalog } = config.runtime;
    serveProtectedResource(app, protectedResource, config.path, {
      scopes: catalog.scopes,
      info: catalog.server.info,
    });
  }
}

/** Refuses by Host, Origin and Accept, and closes altogether on an address that needs auth and has none. */
class Gate {
  readonly check: (
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
  ) => void;

  constructor(app: FastifyInstance, config: FrontConfig, endpoint: McpEndpoint) {
    const admitsHost = hostRule(config.allowedHosts);
    const admitsOrigin = originRule(config.allowedOrigins);
    let isExposed = false;
    app.addHook("onListen", (done) => {
      const exposed = listenAddresses(app).find((address) => !isLoopbackName(address));
      if (exposed !== undefined && !config.servesOthers) {
        isExposed = true;
        app.log.error(
          { address: exposed, settings: ["authenticate", "auth"] },
          'this address is reachable from other machines and there is no auth: every request is refused until authenticate is given, or auth: "none"',
        );
      }
      done();
    });

    const refuse = (
      request: FastifyRequest,
      reply: FastifyReply,
      cause: { readonly setting: string; readonly value: string },
    ): void => {
      request.log.warn(cause, `refused with 403: ${cause.setting} does not allow this request`);
      endpoint.refuse(
        new RepriseError("FORBIDDEN_ORIGIN", "The Host or Origin header is not allowed here."),
        request,
        reply,
      );
    };

    this.check = (request, reply, done) => {
      // request.host heeds X-Forwarded-Host where the instance trusts its proxy.
      const { host } = request;
      const { origin, accept } = request.raw.headers;
      const ambiguity = ambiguityOf(request.raw.url, request.raw.rawHeaders);
      if (ambiguity !== undefined) return endpoint.refuse(ambiguity, request, reply);
      if (isExposed) return refuse(request, reply, { setting: "auth", value: "none given" });
      if (!admitsHost(host))
        return refuse(request, reply, { setting: "allowedHosts", value: host });
      if (origin !== undefined) {
        if (!admitsOrigin(origin)) {
          return refuse(request, reply, { setting: "allowedOrigins", value: origin });
        }
        allowOrigin(reply, origin);
      }
      if (request.raw.method === "POST" && accept !== undefined && !acceptsBoth(accept)) {
        return endpoint.refuse(
          new RepriseError(
            "NOT_ACCEPTABLE",
            "Accept must allow application/json and text/event-stream.",
          ),
          request,
          reply,
        );
      }
      return done();
    };
  }
}

/** Addresses that the instance is bound to; a socket in the file system is as local as loopback. */
function listenAddresses(app: FastifyInstance): readonly string[] {
  return app.addresses().flatMap((each) => (typeof each === "string" ? [] : [each.address]));
}

const onlyPost = refusal("Only POST is served here.", "POST, OPTIONS");
const onlySessionMethods = refusal(
  "Only POST is served here; GET and DELETE with a session of a revision before 2026-07-28.",
  "GET, POST, DELETE, OPTIONS",
);

/** Answers with 405. */
function refusal(
  message: string,
  allow: string,
): (request: FastifyRequest, reply: FastifyReply) => void {
  const { body } = errorResponse(new RepriseError("INVALID_REQUEST", message), undefined);
  return (_request, reply) => {
    reply.code(405).header("allow", allow).type("application/json; charset=utf-8").send(body);
  };
}

function legacyLane(
  app: FastifyInstance,
  config: FrontConfig,
  legacy: LegacyConfig,
  metrics: FrontMetrics,
): LegacyLane {
  const { authenticate, protectedResource, runtime } = config;
  const scopes =
    authenticate === undefined ? undefined : new ScopeRule(protectedResource, runtime.catalog);
  const parts = assembleLane(config, legacy, scopes, (error) =>
    app.log.warn({ err: error }, "the legacy lane could not do a part of its work"),
  );
  return new LegacyLane(parts, metrics);
}
