/**
 * Which methods a server serves, and who answers each.
 *
 * Built once, from the catalog: a method is served exactly where its capability is declared, so a server without
 * prompts answers prompts/list with METHOD_NOT_FOUND. Resources are fixed at start and declare no `listChanged`; tools and
 * prompts can be switched off and on, all of them too.
 */
import { isRepriseError } from "@reprise/errors";
import {
  completeResult,
  type Headers,
  type JsonObject,
  type ModernRequest,
  resultEnding,
  supportedVersions,
} from "@reprise/protocol";
import type { Caller, Catalog, RunMethod } from "@reprise/runtime";
import { ScopeRule } from "./auth/scopes.ts";
import { complete } from "./completion.ts";
import type { Exchange } from "./exchange.ts";
import { Subscriptions, servesListen, servesResources } from "./listen/subscriptions.ts";
import { currentList, type EntriesNow, PrebuiltList } from "./lists.ts";
import type { StreamSettings } from "./notificationStream.ts";
import type { FrontConfig } from "./options.ts";
import { type RunSettings, run } from "./runs.ts";

/** An admitted request on its way to an answer. */
interface Call {
  readonly request: ModernRequest;
  readonly headers: Headers;
  readonly caller: Caller;
  readonly exchange: Exchange;
}

/** Answers a call: ends its exchange, or throws a RepriseError to be answered. */
export type AnswerMethod = (call: Call) => void;

/** What is served. */
export interface ServedMethods {
  readonly methods: ReadonlyMap<string, AnswerMethod>;
  /** Undefined where there is nothing to subscribe to. */
  readonly subscriptions: Subscriptions | undefined;
}

/** The methods by name. `failed` is told of what threw and should not have. */
export function servedMethods(
  config: FrontConfig,
  stream: StreamSettings,
  failed: (error: unknown) => void,
): ServedMethods {
  const { runtime } = config;
  const { catalog } = runtime;
  const serverInfo = catalog.server.info;
  const byScope = config.authenticate !== undefined;
  const scopes = byScope ? new ScopeRule(config.protectedResource, catalog) : undefined;
  const plainEnding = resultEnding(serverInfo);
  const publicEnding = resultEnding(serverInfo, { ttlMs: config.listTtlMs, cacheScope: "public" });
  const settings: RunSettings = {
    runtime,
    stream,
    scopes,
    serverInfo,
    plainEnding,
    // What a read gives may depend on the caller and on the moment; nothing in a definition says otherwise.
    readEnding: resultEnding(serverInfo, { ttlMs: 0, cacheScope: "private" }),
    failed,
  };

  const methods = new Map<string, AnswerMethod>();
  const serveList = (method: string, member: string, entriesNow: EntriesNow): void => {
    const listNow = currentList(entriesNow, (entries) => {
      const hidesSome = byScope && entries.some((entry) => entry.handler.scopes.length > 0);
      const ending = hidesSome
        ? resultEnding(serverInfo, { ttlMs: config.listTtlMs, cacheScope: "private" })
        : publicEnding;
      return new PrebuiltList(member, entries, {
        pageSize: config.pageSize,
        byScope: hidesSome,
        render: (result) => completeResult(result, ending),
      });
    });
    methods.set(method, ({ request, caller, exchange }) =>
      exchange.result(listNow().page(request.params["cursor"], caller)),
    );
  };
  const serveRuns = (method: RunMethod): void => {
    methods.set(method, ({ request, headers, caller, exchange }) =>
      run(method, request, headers, caller, exchange, settings),
    );
  };

  const discovery = completeResult(discoverResult(catalog), publicEnding);
  methods.set("server/discover", ({ exchange }) => exchange.result(discovery));
  if (catalog.hasTools) {
    serveList("tools/list", "tools", () => catalog.tools);
    serveRuns("tools/call");
  }
  if (catalog.hasPrompts) {
    serveList("prompts/list", "prompts", () => catalog.prompts);
    serveRuns("prompts/get");
  }
  if (servesResources(catalog)) {
    serveList("resources/list", "resources", () => catalog.resources);
    serveList("resources/templates/list", "resourceTemplates", () => catalog.resourceTemplates);
    serveRuns("resources/read");
  }
  if (catalog.hasCompletions) {
    methods.set("completion/complete", ({ request, caller, exchange }) => {
      complete(request.params, catalog, caller, exchange, scopes).then(
        (result) => exchange.result(completeResult(result, plainEnding)),
        (error: unknown) => {
          // What a client got wrong is its own business, and nobody may fill a log from outside.
          if (!isRepriseError(error)) failed(error);
          exchange.error(error);
        },
      );
    });
  }
  if (!servesListen(catalog)) return { methods, subscriptions: undefined };
  const subscriptions = new Subscriptions(config, stream.metrics, plainEnding);
  methods.set("subscriptions/listen", ({ request, caller, exchange }) =>
    subscriptions.open(request, caller, exchange),
  );
  return { methods, subscriptions };
}

function discoverResult(catalog: Catalog): JsonObject {
  const { instructions } = catalog.server;
  return {
    supportedVersions: [...supportedVersions],
    capabilities: {
      ...(catalog.hasTools ? { tools: { listChanged: true } } : {}),
      ...(catalog.hasPrompts ? { prompts: { listChanged: true } } : {}),
      ...(servesResources(catalog) ? { resources: { subscribe: true } } : {}),
      ...(catalog.hasCompletions ? { completions: {} } : {}),
      logging: {},
    },
    ...(instructions === undefined ? {} : { instructions }),
  };
}
