/**
 * Turns a definition into a catalog: names, schemas and options checked and converted once, at start.
 *
 * Every mistake is one coded error that names the definition; nothing is left to fail at the first call.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject, type JsonValue } from "@reprise/journal";
import type { Context } from "./contextTypes.ts";
import type {
  Complete,
  Effects,
  HandlerOptions,
  PromptDefinition,
  ResourceDefinition,
  ResourceTemplateDefinition,
  ServerDefinition,
  ToolDefinition,
} from "./definition.ts";
import { durationMs } from "./duration.ts";
import { headerParamsOf } from "./headerParams.ts";
import { promptResult, resourceResult, toolResult } from "./results.ts";
import type { ArgsCheck, Catalog, CompiledHandler } from "./runtimeTypes.ts";
import { type CompiledSchema, compileSchema, memberOf } from "./schema.ts";
import type { AnySchema } from "./schemaTypes.ts";
import { UriTemplate } from "./uriTemplate.ts";

/** A compiled handler with what only the engine uses. */
export interface RunnableHandler extends CompiledHandler {
  readonly idempotency: HandlerOptions<unknown>["idempotency"];
  readonly timeoutMs: number;
  readonly answerWithinMs: number | undefined;
  /** Words for errors: `tool "refund_order"`. */
  readonly label: string;
  run(args: unknown, ctx: Context): unknown;
  /** The handler's return as a result; rejects with VALUE_UNSUPPORTED. */
  render(value: unknown, target: string): Promise<JsonObject> | JsonObject;
}

/** One definition, compiled. */
interface Compiled {
  readonly wire: JsonObject;
  readonly handler: RunnableHandler;
  readonly risks?: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 10 * 60 * 1000;
const namePattern = /^[A-Za-z0-9_.-]{1,128}$/;

let compiledEmpty: CompiledSchema | undefined;

/** Of handlers without arguments. One for all: compiling a schema takes longer than the rest of a handler. */
function emptyInput(): CompiledSchema {
  const empty: JsonObject = { type: "object", additionalProperties: false };
  compiledEmpty ??= compileSchema(empty, "input", "no arguments");
  return compiledEmpty;
}

/** A catalog with what its author should know. */
export interface CompiledServer extends Catalog {
  /** Schemas and templates that a short input could keep busy for ever: what, where and why, one sentence each. */
  readonly risks: readonly string[];
}

/** Compiles a server. @throws RepriseError DEFINITION_INVALID, SCHEMA_UNSUPPORTED or CONFIG_INVALID */
export function compileServer(definition: ServerDefinition): CompiledServer {
  if (typeof definition?.name !== "string" || definition.name === "") {
    throw new RepriseError("DEFINITION_INVALID", "a server needs a name");
  }
  const version = definition.version ?? "0.0.0";
  const tools = (definition.tools ?? []).map((tool) => compileTool(tool, version));
  const prompts = (definition.prompts ?? []).map((prompt) => compilePrompt(prompt, version));
  const resources = (definition.resources ?? []).map((resource) =>
    compileResource(resource, version),
  );
  const templates = (definition.resourceTemplates ?? []).map((template) =>
    compileTemplate(template, version),
  );
  const all = [...tools, ...prompts, ...resources, ...templates];
  const handlers: readonly RunnableHandler[] = all.map(({ handler }) => handler);
  const toolsByName = byName("tool", tools);
  const promptsByName = byName("prompt", prompts);
  const resourcesByUri = byName("resource", resources);
  byName("resource template", templates);
  const completions = new Map<string, Readonly<Record<string, Complete>>>();
  for (const { name, complete } of definition.prompts ?? [])
    if (complete) completions.set(`prompt ${name}`, complete);
  for (const { uriTemplate, complete } of definition.resourceTemplates ?? []) {
    if (complete) completions.set(`resource ${uriTemplate}`, complete);
  }
  return {
    risks: all.flatMap(({ risks = [] }) => risks),
    server: { info: serverInfo(definition, version), instructions: definition.instructions },
    tools,
    prompts,
    resources,
    resourceTemplates: templates,
    findTool: (name) => toolsByName.get(name)?.handler,
    findPrompt: (name) => promptsByName.get(name)?.handler,
    findResource(uri) {
      const fixed = resourcesByUri.get(uri);
      if (fixed !== undefined) return { handler: fixed.handler, args: { uri } };
      for (const { handler, template } of templates) {
        const variables = template.match(uri);
        if (variables !== undefined) return { handler, args: { ...variables, uri } };
      }
      return undefined;
    },
    findCompletion(ref, argument) {
      const known = completions.get(
        ref.type === "ref/prompt" ? `prompt ${ref.name}` : `resource ${ref.uri}`,
      );
      return known !== undefined && Object.hasOwn(known, argument) ? known[argument] : undefined;
    },
    hasCompletions: completions.size > 0,
    hasTools: tools.length > 0,
    hasPrompts: prompts.length > 0,
    queues: distinct(handlers.map(({ queue }) => queue)),
    scopes: distinct(handlers.flatMap(({ scopes }) => scopes)),
  };
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}

function serverInfo(definition: ServerDefinition, version: string): JsonObject {
  const { name, title, description, websiteUrl, icons } = definition;
  return plain({ name, title, version, description, websiteUrl, icons });
}

/** Without undefined members, as JSON. */
function plain(members: object): JsonObject {
  return JSON.parse(JSON.stringify(members)) as JsonObject;
}

function byName<T extends { readonly handler: RunnableHandler }>(
  what: string,
  all: readonly T[],
): Map<string, T> {
  const found = new Map<string, T>();
  for (const one of all) {
    const { name } = one.handler;
    if (found.has(name))
      throw new RepriseError("DEFINITION_INVALID", `${what} "${name}" is declared twice`);
    found.set(name, one);
  }
  return found;
}

function checkName(what: string, name: unknown): string {
  if (typeof name === "string" && namePattern.test(name)) return name;
  throw new RepriseError(
    "DEFINITION_INVALID",
    `${what} ${JSON.stringify(name)}: a name has 1 to 128 of A-Z a-z 0-9 _ - .`,
  );
}

function effectsOf(
  options: HandlerOptions<never>,
  kind: CompiledHandler["kind"],
  readOnly: boolean,
): { readonly effects: Effects; readonly effectsReason: string } {
  if (options.idempotency !== undefined && options.effects === "repeatable") {
    throw new RepriseError(
      "DEFINITION_INVALID",
      `an idempotency key makes a run once; take away effects: "repeatable" or the key`,
    );
  }
  if (options.effects !== undefined) return { effects: options.effects, effectsReason: "declared" };
  if (options.idempotency !== undefined)
    return { effects: "once", effectsReason: "it has an idempotency key" };
  if (readOnly) return { effects: "repeatable", effectsReason: "readOnlyHint" };
  if (kind === "tool") return { effects: "once", effectsReason: "default for tools" };
  return {
    effects: "repeatable",
    effectsReason: `default for ${kind === "prompt" ? "prompts" : "resources"}`,
  };
}

function common(
  kind: CompiledHandler["kind"],
  name: string,
  options: HandlerOptions<never>,
  serverVersion: string,
  readOnly = false,
): Omit<RunnableHandler, "checkArgs" | "run" | "render" | "headerParams"> {
  const label = `${kind === "resourceTemplate" ? "resource template" : kind} "${name}"`;
  return {
    kind,
    name,
    label,
    ...effectsOf(options, kind, readOnly),
    hasKey: options.idempotency !== undefined,
    owesStructure: false,
    needs: options.needs,
    scopes: [...(options.scopes ?? [])],
    queue: options.queue ?? "default",
    version: options.version ?? serverVersion,
    idempotency: options.idempotency as RunnableHandler["idempotency"],
    timeoutMs:
      options.timeoutMs === undefined
        ? DEFAULT_TIMEOUT_MS
        : durationMs(options.timeoutMs, `${label} timeoutMs`),
    answerWithinMs:
      options.answerWithin === undefined
        ? undefined
        : durationMs(options.answerWithin, `${label} answerWithin`),
  };
}

/** @throws RepriseError DEFINITION_INVALID unless the schema describes an object, which arguments always are */
function inputSchema(schema: AnySchema | undefined, label: string): CompiledSchema {
  const compiled =
    schema === undefined ? emptyInput() : compileSchema(schema, "input", `${label} input`);
  if (memberOf(compiled.json, "type") === "object") return compiled;
  // Libraries leave the type of a union to its members; the protocol wants it at the root (MCP 2026-07-28, tools, "Tool").
  if (isUnionOfObjects(compiled.json)) {
    return { ...compiled, json: { type: "object", ...compiled.json } };
  }
  throw new RepriseError(
    "DEFINITION_INVALID",
    `${label}: the input schema must describe an object ("type": "object")`,
  );
}

function risksOf(schema: CompiledSchema | undefined, where: string): readonly string[] {
  return schema?.risk === undefined ? [] : [`${where}: ${schema.risk}`];
}

function isUnionOfObjects(json: JsonObject): boolean {
  const members = memberOf(json, "oneOf") ?? memberOf(json, "anyOf");
  return (
    memberOf(json, "type") === undefined &&
    Array.isArray(members) &&
    members.length > 0 &&
    members.every((member) => isJsonObject(member) && memberOf(member, "type") === "object")
  );
}

function argsCheck(input: CompiledSchema): CompiledHandler["checkArgs"] {
  const toArgs = (checked: Awaited<ReturnType<CompiledSchema["check"]>>): ArgsCheck =>
    checked.ok ? { ok: true, args: checked.value } : { ok: false, message: checked.issues };
  return (raw) => {
    const checked = input.check(raw ?? {});
    return checked instanceof Promise ? checked.then(toArgs) : toArgs(checked);
  };
}

function compileTool(tool: ToolDefinition, serverVersion: string): Compiled {
  const name = checkName("tool", tool.name);
  const input = inputSchema(tool.input, `tool "${name}"`);
  const output =
    tool.output === undefined
      ? undefined
      : compileSchema(tool.output, "output", `tool "${name}" output`);
  const { title, description, icons, annotations, _meta } = tool;
  return {
    risks: [...risksOf(input, `tool "${name}" input`), ...risksOf(output, `tool "${name}" output`)],
    wire: plain({
      name,
      title,
      description,
      inputSchema: input.json,
      outputSchema: output?.json,
      annotations,
      icons,
      _meta,
    }),
    handler: {
      ...common(
        "tool",
        name,
        tool as HandlerOptions<never>,
        serverVersion,
        annotations?.readOnlyHint === true,
      ),
      owesStructure: output !== undefined,
      headerParams: headerParamsOf(input.json, `tool "${name}"`),
      checkArgs: argsCheck(input),
      run: (args, ctx) => tool.handler(args as never, ctx),
      render: (value) => toolResult(value, output, name),
    },
  };
}

function compilePrompt(prompt: PromptDefinition, serverVersion: string): Compiled {
  const name = checkName("prompt", prompt.name);
  const input = inputSchema(prompt.input, `prompt "${name}"`);
  const { title, description, icons, _meta } = prompt;
  return {
    risks: risksOf(input, `prompt "${name}" input`),
    wire: plain({ name, title, description, arguments: promptArguments(input.json), icons, _meta }),
    handler: {
      ...common("prompt", name, prompt as HandlerOptions<never>, serverVersion),
      headerParams: [],
      checkArgs: argsCheck(input),
      run: (args, ctx) => prompt.handler(args as never, ctx),
      render: (value) => promptResult(value, name),
    },
  };
}

function promptArguments(schema: JsonObject): JsonValue | undefined {
  const properties = memberOf(schema, "properties");
  if (!isJsonObject(properties)) return undefined;
  const required = memberOf(schema, "required");
  return Object.entries(properties).map(([name, property]) => {
    const { title, description } = isJsonObject(property)
      ? (property as { title?: JsonValue; description?: JsonValue })
      : {};
    return plain({
      name,
      title,
      description,
      required: Array.isArray(required) && required.includes(name),
    });
  });
}

function compileResource(resource: ResourceDefinition, serverVersion: string): Compiled {
  const { uri, name, title, description, mimeType, size, annotations, icons, _meta } = resource;
  if (typeof uri !== "string" || !URL.canParse(uri)) {
    throw new RepriseError(
      "DEFINITION_INVALID",
      `resource ${JSON.stringify(name)}: uri ${JSON.stringify(uri)} is no absolute URI`,
    );
  }
  return {
    wire: plain({ uri, name, title, description, mimeType, size, annotations, icons, _meta }),
    handler: {
      ...common("resource", uri, resource as HandlerOptions<never>, serverVersion),
      headerParams: [],
      checkArgs: (raw) => ({ ok: true, args: raw }),
      run: (args, ctx) => resource.handler(args as { readonly uri: string }, ctx),
      render: (value, target) => resourceResult(value, target, mimeType, name),
    },
  };
}

function compileTemplate(
  definition: ResourceTemplateDefinition,
  serverVersion: string,
): Compiled & { readonly template: UriTemplate } {
  const { uriTemplate, name, title, description, mimeType, annotations, icons, _meta } = definition;
  return {
    template: new UriTemplate(uriTemplate),
    wire: plain({ uriTemplate, name, title, description, mimeType, annotations, icons, _meta }),
    handler: {
      ...common(
        "resourceTemplate",
        uriTemplate,
        definition as HandlerOptions<never>,
        serverVersion,
      ),
      headerParams: [],
      checkArgs: (raw) => ({ ok: true, args: raw }),
      run: (args, ctx) => definition.handler(args as never, ctx),
      render: (value, target) => resourceResult(value, target, mimeType, name),
    },
  };
}
