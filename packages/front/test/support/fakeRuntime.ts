/**
 * A runtime whose answers a test decides: a catalog from short entries, and `execute` as a function.
 */
import type { JsonObject } from "@reprise/protocol";
import { createStateSealer, ephemeralKeys } from "@reprise/request-state";
import {
  type ArgsCheck,
  type CancelOptions,
  type Catalog,
  type CompiledHandler,
  type Complete,
  createProcessRecords,
  type HeaderParam,
  type RunReply,
  type RunRequest,
  type Runtime,
  type SharedRecords,
  type StateSealer,
} from "@reprise/runtime";

interface Entry {
  readonly name: string;
  readonly needs?: CompiledHandler["needs"];
  readonly scopes?: readonly string[];
  readonly headerParams?: readonly HeaderParam[];
  readonly check?: (raw: JsonObject | undefined) => ArgsCheck | Promise<ArgsCheck>;
}

export interface FakeParts {
  readonly tools?: readonly Entry[];
  readonly prompts?: readonly Entry[];
  readonly resources?: readonly Entry[];
  readonly resourceTemplates?: readonly Entry[];
  readonly completions?: Readonly<Record<string, Complete>>;
  readonly instructions?: string;
  readonly execute?: (request: RunRequest) => Promise<RunReply> | RunReply;
  /** Give two fakes the same one, and they open each other's sessions. */
  readonly sealer?: StateSealer;
  readonly shared?: SharedRecords;
  readonly health?: { readonly ok: boolean; readonly reason?: string };
}

export interface FakeRuntime extends Runtime {
  /** Every request that reached the runtime. */
  readonly executed: RunRequest[];
  /** Every run that was to be cancelled. */
  readonly cancelled: ({ readonly runId: string } & CancelOptions)[];
}

export const serverInfo = { name: "fixture-server", version: "1.0.0" };

export const textReply = (text: string): RunReply => ({
  kind: "complete",
  result: { content: [{ type: "text", text }] },
});

export function fakeRuntime(parts: FakeParts = {}): FakeRuntime {
  const executed: RunRequest[] = [];
  const cancelled: FakeRuntime["cancelled"] = [];
  const { completions } = parts;
  const tools = (parts.tools ?? [{ name: "greet" }]).map((entry) => listed("tool", entry));
  const prompts = (parts.prompts ?? []).map((entry) => listed("prompt", entry));
  const resources = (parts.resources ?? []).map((entry) => listed("resource", entry));
  const resourceTemplates = (parts.resourceTemplates ?? []).map((entry) =>
    listed("resourceTemplate", entry),
  );
  const find = (entries: typeof tools, name: string): CompiledHandler | undefined =>
    entries.find((entry) => entry.handler.name === name)?.handler;
  const catalog: Catalog = {
    server: { info: serverInfo, instructions: parts.instructions },
    tools,
    prompts,
    resources,
    resourceTemplates,
    findTool: (name) => find(tools, name),
    findPrompt: (name) => find(prompts, name),
    findResource: (uri) => {
      const handler = find(resources, uri);
      return handler === undefined ? undefined : { handler, args: { uri } };
    },
    findCompletion: (_ref, argument) => completions?.[argument],
    hasCompletions: completions !== undefined,
    hasTools: tools.length > 0,
    hasPrompts: prompts.length > 0,
    queues: [],
    scopes: [...tools, ...prompts, ...resources, ...resourceTemplates]
      .flatMap(({ handler }) => handler.scopes)
      .toSorted(),
  };
  return {
    catalog,
    wholeCatalog: catalog,
    shared: parts.shared ?? createProcessRecords(),
    executed,
    async execute(request) {
      executed.push(request);
      return parts.execute === undefined ? textReply("hello") : parts.execute(request);
    },
    sealer: parts.sealer ?? createStateSealer({ keys: ephemeralKeys() }),
    audience: "fixture-server",
    async cancel(runId, options) {
      cancelled.push({ runId, ...options });
      return { kind: "unknown" };
    },
    cancelled,
    operator: undefined,
    history: undefined,
    historyDropped: 0,
    ready: Promise.resolve(),
    onChange: () => () => undefined,
    elicitations: { complete: async () => true },
    tools: { enable: async () => undefined, disable: async () => undefined },
    prompts: { enable: async () => undefined, disable: async () => undefined },
    async resourceUpdated() {},
    async health() {
      return parts.health ?? { ok: true };
    },
    async close() {},
  };
}

function listed(
  kind: CompiledHandler["kind"],
  entry: Entry,
): { readonly wire: JsonObject; readonly handler: CompiledHandler } {
  const handler: CompiledHandler = {
    kind,
    name: entry.name,
    effects: "once",
    effectsReason: "default for tools",
    hasKey: false,
    owesStructure: false,
    needs: entry.needs,
    scopes: entry.scopes ?? [],
    queue: "default",
    version: "1.0.0",
    headerParams: entry.headerParams ?? [],
    checkArgs: entry.check ?? ((raw) => ({ ok: true, args: raw ?? {} })),
  };
  return { wire: wireOf(kind, entry.name), handler };
}

function wireOf(kind: CompiledHandler["kind"], name: string): JsonObject {
  switch (kind) {
    case "tool":
      return { name, description: `Does ${name}`, inputSchema: { type: "object" } };
    case "prompt":
      return { name, description: `Says ${name}` };
    case "resource":
      return { uri: name, name };
    case "resourceTemplate":
      return { uriTemplate: name, name };
  }
}
