/**
 * The methods of the lane that need no run: lists, completion, ping, and what changes a session.
 *
 * Built once for each revision: what is published depends on it. A method is served exactly where its capability is
 * declared.
 */
import { RepriseError } from "@reprise/errors";
import {
  type EntryKind,
  initializeResult,
  type JsonObject,
  type LegacyRevision,
  lowerEntries,
  lowerResult,
  readSetLevel,
  readSubscription,
} from "@reprise/protocol";
import type { Caller, Catalog, RunMethod } from "@reprise/runtime";
import type { ScopeRule } from "../auth/scopes.ts";
import { complete } from "../completion.ts";
import { currentList, type EntriesNow, type ListEntry, PrebuiltList } from "../lists.ts";
import { logging, type SessionRecords, subscribed, unsubscribed } from "./sessionRecord.ts";
import type { LegacySession } from "./sessionToken.ts";

/** One request, as a method gets it. */
interface MethodCall {
  readonly params: JsonObject;
  readonly session: LegacySession;
  readonly caller: Caller;
  readonly response: { challenge(header: string): void };
}

/** Gives the text of the result. @throws RepriseError */
type LegacyMethod = (call: MethodCall) => string | Promise<string>;

/** What methods need of the front. */
export interface MethodPorts {
  readonly catalog: Catalog;
  readonly records: SessionRecords;
  readonly pageSize: number;
  /** Undefined where there are no tokens. */
  readonly scopes: ScopeRule | undefined;
}

/** What a revision serves. */
export interface ServedRevision {
  /** The text of the result of `initialize`. */
  readonly initialize: string;
  readonly methods: ReadonlyMap<string, LegacyMethod>;
  readonly runs: ReadonlySet<string>;
}

const empty = "{}";

/** Builds what a revision serves. */
export function serveRevision(revision: LegacyRevision, ports: MethodPorts): ServedRevision {
  const { catalog, records, scopes } = ports;
  const methods = new Map<string, LegacyMethod>();
  const runs = new Set<RunMethod>();
  const serveList = (
    method: string,
    member: string,
    kind: EntryKind,
    entriesNow: EntriesNow,
  ): void => {
    const build = (entries: readonly ListEntry[]): PrebuiltList => {
      const wires = lowerEntries(
        kind,
        entries.map(({ wire }) => wire),
        revision,
      );
      const lowered = entries.map(({ handler }, place) => ({ handler, wire: wires[place] ?? {} }));
      const byScope = scopes !== undefined && entries.some(needsScope);
      const { pageSize } = ports;
      return new PrebuiltList(member, lowered, { pageSize, byScope, render: JSON.stringify });
    };
    const listNow = currentList(entriesNow, build);
    methods.set(method, ({ params, caller }) => listNow().page(params["cursor"], caller));
  };

  methods.set("ping", () => empty);
  methods.set("logging/setLevel", async ({ params, session }) => {
    await records.change(session, logging(readSetLevel(params)));
    return empty;
  });
  if (catalog.hasTools) {
    serveList("tools/list", "tools", "tool", () => catalog.tools);
    runs.add("tools/call");
  }
  if (catalog.hasPrompts) {
    serveList("prompts/list", "prompts", "prompt", () => catalog.prompts);
    runs.add("prompts/get");
  }
  if (servesResources(catalog)) {
    serveList("resources/list", "resources", "resource", () => catalog.resources);
    serveList(
      "resources/templates/list",
      "resourceTemplates",
      "resourceTemplate",
      () => catalog.resourceTemplates,
    );
    runs.add("resources/read");
    serveSubscriptions(methods, ports);
  }
  if (catalog.hasCompletions) {
    methods.set("completion/complete", async ({ params, caller, response }) => {
      const result = await complete(params, catalog, caller, response, scopes);
      return JSON.stringify(lowerResult("completion/complete", result, revision));
    });
  }
  const { info, instructions } = catalog.server;
  const server = { info, instructions, capabilities: capabilitiesOf(catalog) };
  return { initialize: JSON.stringify(initializeResult(server, revision)), methods, runs };
}

function serveSubscriptions(
  methods: Map<string, LegacyMethod>,
  { catalog, records, scopes }: MethodPorts,
): void {
  methods.set("resources/subscribe", async ({ params, session, caller, response }) => {
    const uri = readSubscription(params);
    const found = catalog.findResource(uri);
    if (found === undefined) {
      throw new RepriseError("UNKNOWN_TARGET", "There is no such resource.", { data: { uri } });
    }
    // When a resource changes is a part of what it says.
    scopes?.check(caller, found.handler.scopes, response);
    await records.change(session, subscribed(uri));
    return empty;
  });
  methods.set("resources/unsubscribe", async ({ params, session }) => {
    await records.change(session, unsubscribed(readSubscription(params)));
    return empty;
  });
}

/** Only what is delivered is declared: resources are fixed at start, tools and prompts can be turned on and off. */
function capabilitiesOf(catalog: Catalog): JsonObject {
  return {
    ...(catalog.hasTools ? { tools: { listChanged: true } } : {}),
    ...(catalog.hasPrompts ? { prompts: { listChanged: true } } : {}),
    ...(servesResources(catalog) ? { resources: { subscribe: true } } : {}),
    ...(catalog.hasCompletions ? { completions: {} } : {}),
    logging: {},
  };
}

function servesResources({ resources, resourceTemplates }: Catalog): boolean {
  return resources.length > 0 || resourceTemplates.length > 0;
}

function needsScope({ handler }: Catalog["tools"][number]): boolean {
  return handler.scopes.length > 0;
}
