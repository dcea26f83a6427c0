/**
 * What an author writes: `defineServer`, `tool`, `prompt`, `resource`, `resourceTemplate`.
 *
 * These functions only give names and types to plain data; nothing is checked or compiled here.
 * `compile.ts` does both, once, at start, and reports with DEFINITION_INVALID.
 */
import type { JsonObject } from "@reprise/journal";
import type { Caller } from "./caller.ts";
import type { Context } from "./contextTypes.ts";
import type { AnySchema, OutputOf } from "./schemaTypes.ts";
import { controlled, type Server } from "./served.ts";
import type {
  ContentAnnotations,
  ContentBlock,
  Icon,
  PromptMessage,
  PromptResult,
  ResourceContents,
  ResourceResult,
  ToolAnnotations,
  ToolResult,
} from "./wireTypes.ts";

/** Milliseconds, or a number with a unit: `"500ms"`, `"30s"`, `"10m"`, `"24h"`, `"7d"`. */
export type Duration = number | string;

/** Whether a handler's effects must not repeat. */
export type Effects = "once" | "repeatable";

/** Client capabilities that a handler can't do without; checked before it is entered (docs/design.md 8.3). */
export interface Needs {
  readonly elicitation?: boolean | { readonly form?: boolean; readonly url?: boolean };
  readonly sampling?: boolean | { readonly tools?: boolean };
  readonly roots?: boolean;
}

/** Makes a repeated first call join the first one. */
export interface Idempotency<Args> {
  /** The key of a call; equal keys mean the same intent. Empty or undefined: this call has none. */
  readonly key: (args: Args, request: { readonly caller: Caller }) => string | undefined;
  /** `"caller"` (default): one key space per principal. `"tool"`: one for all callers of the tool. */
  readonly scope?: "caller" | "tool";
}

/** Options that all handlers share. */
export interface HandlerOptions<Args> {
  /** Default: `"once"` for tools, `"repeatable"` for prompts, resources and tools with `readOnlyHint`. */
  readonly effects?: Effects;
  readonly idempotency?: Idempotency<Args>;
  readonly needs?: Needs;
  /** OAuth scopes that the caller's token must have. */
  readonly scopes?: readonly string[];
  /** The queue that a pool runs the handler in. Default `"default"`. */
  readonly queue?: string;
  /** Longest time of one attempt. Default 600000 (10 minutes). */
  readonly timeoutMs?: number;
  /** How long a question may stay open. Default: the server's requestStateLifetime. */
  readonly answerWithin?: Duration;
  /** Recorded with the run and reported in mismatches. Default: the server's version. */
  readonly version?: string;
  readonly title?: string;
  readonly icons?: readonly Icon[];
  readonly _meta?: JsonObject;
}

/** What a tool's handler may return. Strings become one text item; nothing becomes empty content. */
export type ToolReturn =
  | string
  | ToolResult
  | ContentBlock
  | readonly ContentBlock[]
  | undefined
  | void;

/** A tool. With `output`, the handler returns a value of that schema, or a ToolResult. */
export interface ToolDefinition<
  I extends AnySchema | undefined = AnySchema | undefined,
  O extends AnySchema | undefined = AnySchema | undefined,
> extends HandlerOptions<OutputOf<I>> {
  /** 1 to 128 of `A-Z a-z 0-9 _ - .` */
  readonly name: string;
  readonly description: string;
  readonly input?: I;
  readonly output?: O;
  readonly annotations?: ToolAnnotations;
  handler(
    args: OutputOf<I>,
    ctx: Context,
  ): O extends AnySchema
    ? Promise<OutputOf<O> | ToolResult> | OutputOf<O> | ToolResult
    : Promise<ToolReturn> | ToolReturn;
}

/** Suggests values of one argument while a person types. */
export type Complete = (
  value: string,
  request: { readonly arguments: Readonly<Record<string, string>>; readonly caller: Caller },
) => Promise<readonly string[]> | readonly string[];

/** A prompt. Its arguments are strings (MCP prompts); `input` describes them, required ones included. */
export interface PromptDefinition<I extends AnySchema | undefined = AnySchema | undefined>
  extends HandlerOptions<OutputOf<I>> {
  readonly name: string;
  readonly description: string;
  readonly input?: I;
  /** Completions by argument name. */
  readonly complete?: Readonly<Record<string, Complete>>;
  handler(
    args: OutputOf<I>,
    ctx: Context,
  ):
    | Promise<string | PromptResult | readonly PromptMessage[]>
    | string
    | PromptResult
    | readonly PromptMessage[];
}

/** What a resource's handler may return. A string becomes text contents with the declared MIME type. */
export type ResourceReturn = string | Uint8Array | ResourceContents | ResourceResult;

interface ResourceCommon<Args> extends HandlerOptions<Args> {
  readonly name: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: ContentAnnotations;
}

/** A resource at one fixed URI. */
export interface ResourceDefinition extends ResourceCommon<{ readonly uri: string }> {
  readonly uri: string;
  readonly size?: number;
  handler(args: { readonly uri: string }, ctx: Context): Promise<ResourceReturn> | ResourceReturn;
}

/**
 * Variables of a template as taken from a URI, percent-decoded, and the URI itself. Those of a query (`{?from,to}`) may be absent.
 * Anybody chose them: a decoded `..` or `/` is among what they can hold.
 */
export type TemplateArgs = Readonly<Record<string, string>> & { readonly uri: string };

/** A family of resources: URI template of RFC 6570. */
export interface ResourceTemplateDefinition extends ResourceCommon<TemplateArgs> {
  readonly uriTemplate: string;
  readonly complete?: Readonly<Record<string, Complete>>;
  handler(args: TemplateArgs, ctx: Context): Promise<ResourceReturn> | ResourceReturn;
}

/** A server: its identity and what it serves. */
export interface ServerDefinition {
  /** Part of what request states are bound to: keep it over deploys. */
  readonly name: string;
  /** Default `"0.0.0"`. */
  readonly version?: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: readonly Icon[];
  /** Told to clients in server/discover. */
  readonly instructions?: string;
  readonly tools?: readonly ToolDefinition[];
  readonly prompts?: readonly PromptDefinition[];
  readonly resources?: readonly ResourceDefinition[];
  readonly resourceTemplates?: readonly ResourceTemplateDefinition[];
}

/** Declares a tool. */
export function tool<const I extends AnySchema | undefined = undefined>(
  definition: ToolDefinition<I, undefined>,
): ToolDefinition;
/** Declares a tool with structured results. */
export function tool<const O extends AnySchema, const I extends AnySchema | undefined = undefined>(
  definition: ToolDefinition<I, O> & { readonly output: O },
): ToolDefinition;
// Two signatures, because a return type that depends on `output` would widen the literals that a handler returns.
export function tool(definition: unknown): ToolDefinition {
  // Sound because the engine hands a handler only what the tool's own input schema produced.
  return definition as ToolDefinition;
}

/** Declares a prompt. */
export function prompt<const I extends AnySchema | undefined = undefined>(
  definition: PromptDefinition<I>,
): PromptDefinition {
  return definition as unknown as PromptDefinition;
}

/** Declares a resource. */
export function resource(definition: ResourceDefinition): ResourceDefinition {
  return definition;
}

/** Declares a resource template. */
export function resourceTemplate(
  definition: ResourceTemplateDefinition,
): ResourceTemplateDefinition {
  return definition;
}

/**
 * Declares a server. What it returns is to be served as it is, and can be spoken to then: `server.elicitations.complete`,
 * `enable` and `disable` of `server.tools` and `server.prompts`, `server.resourceUpdated`.
 */
export function defineServer(definition: ServerDefinition): Server {
  return controlled(definition);
}
