/**
 * What the runtime offers to those who carry requests to it (the HTTP front, the testing harness), as types.
 *
 * The carrier does the wire: it parses, classifies, checks headers and auth, looks the handler up in the
 * catalog and renders the reply. The runtime does the run: claims, replays, asks, records.
 */
import type { RepriseError } from "@reprise/errors";
import type { ClientError, JsonObject, JsonValue } from "@reprise/journal";
import type { Caller, ClientIdentity } from "./caller.ts";
import type { Change } from "./changes.ts";
import type { Complete, Effects, Needs } from "./definition.ts";
import type { HistoryStore } from "./historyPort.ts";
import type { RunOperator } from "./operatorPort.ts";
import type { RunStatus } from "./runRecord.ts";
import type { ServerControls } from "./served.ts";
import type { SharedRecords } from "./sharedRecords.ts";
import type { StateSealer } from "./stateTokens.ts";
import type { LogLevel } from "./wireTypes.ts";

/** The three requests of MCP 2026-07-28 that may be answered with `input_required`. */
export type RunMethod = "tools/call" | "prompts/get" | "resources/read";

/** The outcome of validating arguments. */
export type ArgsCheck =
  | { readonly ok: true; readonly args: unknown }
  /** `message` says which argument is wrong and why; meant for the caller. */
  | { readonly ok: false; readonly message: string };

/** One handler, compiled at start. */
export interface CompiledHandler {
  readonly kind: "tool" | "prompt" | "resource" | "resourceTemplate";
  /** Tool or prompt name, resource URI or URI template. */
  readonly name: string;
  readonly effects: Effects;
  /** Why `effects` is what it is, for the table that `reprise dev` prints. */
  readonly effectsReason: string;
  readonly hasKey: boolean;
  /** Whether its results have a form: clients refuse text alone of a tool with an output schema (MCP 2026-07-28, tools, "Output Schema"). */
  readonly owesStructure: boolean;
  /** Whether effects were declared by the author (docs/design.md 3.8 goes by the declared effects). */
  readonly needs: Needs | undefined;
  readonly scopes: readonly string[];
  readonly queue: string;
  readonly version: string;
  /** Top-level and nested properties with `x-mcp-header`, tools only; path from the arguments' root. */
  readonly headerParams: readonly HeaderParam[];
  /** Checks the arguments of a request. Rejects nothing that the published schema accepts. */
  checkArgs(raw: JsonObject | undefined): ArgsCheck | Promise<ArgsCheck>;
}

/** One `x-mcp-header` annotation of a tool's input schema (MCP 2026-07-28, Streamable HTTP, "Schema Extension"). */
export interface HeaderParam {
  /** The annotation's value: the header is `Mcp-Param-<header>`. */
  readonly header: string;
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

/** What is served, compiled once at start. Lists are ready for the wire, in the order of the definition. */
export interface Catalog {
  readonly server: {
    readonly info: JsonObject;
    readonly instructions: string | undefined;
  };
  readonly tools: readonly { readonly wire: JsonObject; readonly handler: CompiledHandler }[];
  readonly prompts: readonly { readonly wire: JsonObject; readonly handler: CompiledHandler }[];
  readonly resources: readonly { readonly wire: JsonObject; readonly handler: CompiledHandler }[];
  readonly resourceTemplates: readonly {
    readonly wire: JsonObject;
    readonly handler: CompiledHandler;
  }[];
  findTool(name: string): CompiledHandler | undefined;
  findPrompt(name: string): CompiledHandler | undefined;
  /** A fixed resource, else the first template that matches; `args` for the handler (`uri` and variables). */
  findResource(
    uri: string,
  ): { readonly handler: CompiledHandler; readonly args: JsonObject } | undefined;
  /** The completion function of an argument, if the author gave one. */
  findCompletion(
    ref:
      | { readonly type: "ref/prompt"; readonly name: string }
      | { readonly type: "ref/resource"; readonly uri: string },
    argument: string,
  ): Complete | undefined;
  readonly hasCompletions: boolean;
  /** Whether the definition has tools, be they switched off or not. */
  readonly hasTools: boolean;
  /** The same of prompts. */
  readonly hasPrompts: boolean;
  /** Of all handlers, those of tools that are switched off included: their runs go on. */
  readonly queues: readonly string[];
  /** Every scope that a handler needs, those of tools that are switched off included: they may be on tomorrow. Sorted. */
  readonly scopes: readonly string[];
}

/** Where an attempt's notifications go; called only for what the request opted in to. */
export interface NotificationSink {
  /** Present when the request carried a progress token. Values only grow. */
  readonly progress?: (
    value: number,
    total: number | undefined,
    message: string | undefined,
  ) => void;
  /** Present when the request carried a log level; called only for that level and above. */
  readonly log?: (level: LogLevel, data: JsonValue, logger: string | undefined) => void;
  /**
   * The first ask of the attempt passed the capability check: from here on no capability error can come, so
   * the carrier may commit to a stream (docs/design.md 8.3).
   */
  readonly asksChecked?: () => void;
}

/** One request that may become, join or continue a run. */
export interface RunRequest {
  readonly method: RunMethod;
  readonly handler: CompiledHandler;
  /** The name or URI as the request gave it. */
  readonly target: string;
  /** What `checkArgs` produced. */
  readonly args: unknown;
  /** The request's `params` as received; `_meta`, `inputResponses` and `requestState` are left out of the digest. */
  readonly params: JsonObject;
  readonly caller: Caller;
  readonly client: ClientIdentity;
  /** `params.requestState` as received, whatever its type; undefined when absent. */
  readonly requestState: unknown;
  /** `params.inputResponses` as received; the runtime refuses what is no object with INVALID_PARAMS. */
  readonly inputResponses: unknown;
  /**
   * What the client answered with an error, by ask key; counts for the questions that `requestState` names. Only a carrier that
   * sends questions as requests of their own has such answers, and nothing that a client writes may be put here.
   */
  readonly clientErrors?: Readonly<Record<string, ClientError>> | undefined;
  /** `_meta["reprise/idempotencyKey"]` as received. */
  readonly idempotencyKey: unknown;
  /** `_meta.traceparent`, for a carrier whose `params` have no `_meta` any more. Default: that of `params`. */
  readonly traceparent?: string | undefined;
  /** `_meta["io.modelcontextprotocol/logLevel"]`, when valid: lower levels are not sent. */
  readonly logLevel: LogLevel | undefined;
  readonly notifications: NotificationSink | undefined;
  /**
   * The id of the run, if it has no key: drawn by the carrier, at least 128 random bits, of `A-Z a-z 0-9 _ -`. Default: drawn.
   */
  readonly runId?: string | undefined;
  /**
   * This very request may have come before, to a process that is gone: a run of `runId` is joined, taken over or answered
   * from, and begun only when there is none. Another principal's run is RUN_LOST. Default false.
   */
  readonly mayExist?: boolean | undefined;
  /**
   * Its abort cancels the run that the request began or goes on with, recorded or not (docs/design.md 4.5): running steps are
   * aborted, no further one starts, and the reply is RUN_CANCELLED unless another end was recorded first.
   */
  readonly cancelled?: AbortSignal | undefined;
  /**
   * Whether a handler that asks waits where it is, to go on there when this call brings the answers (docs/design.md 8.2, inline).
   * Carrier, caller, client and notifications are then those of the first round. Default false.
   */
  readonly keepsHandler?: boolean;
  /** Whether the one who sent the request is gone (docs/design.md 4.5). */
  readonly isGone: boolean;
  /** Calls `listener` once when the sender is gone; returns how to call that off. Not called if it is gone already. */
  onGone(listener: () => void): () => void;
}

/** The answer to a request. Result members are complete but for `resultType` and the server identity. */
export type RunReply =
  | { readonly kind: "complete"; readonly result: JsonObject }
  | {
      readonly kind: "input_required";
      /** By key: `{method, params}` as they go on the wire. Never empty. */
      readonly inputRequests: Readonly<Record<string, JsonObject>>;
      readonly requestState: string;
      /** Stable ids of the URL asks among them, by key: for revisions whose wire has one. */
      readonly elicitationIds?: Readonly<Record<string, string>>;
      /** The run's, when it has a record: what `cancel` wants. Not for the wire. */
      readonly runId?: string;
      /** Epoch milliseconds; goes out as ISO 8601 in `_meta["reprise/answerBefore"]`. */
      readonly answerBeforeMs: number;
    }
  | { readonly kind: "error"; readonly error: RepriseError };

/** Who cancels a run, and why. */
export interface CancelOptions {
  /** Whose run it must be; another's is `unknown`. Undefined: anybody's, for operators. */
  readonly principal?: string | undefined;
  /** Told with RUN_CANCELLED, and recorded. At most a sentence. */
  readonly reason?: string | undefined;
}

/** What became of a run that was to be cancelled. */
export type CancelOutcome =
  /** It has ended so, by this call or an earlier one; with `undoing`, what it did is still to be undone. */
  | { readonly kind: "cancelled"; readonly round: number; readonly undoing?: boolean }
  /** It had ended otherwise, which stands. */
  | { readonly kind: "ended"; readonly round: number; readonly status: RunStatus }
  /** No record of that id, or another principal's. */
  | { readonly kind: "unknown" };

/** A running runtime. */
export interface Runtime extends ServerControls {
  /** What is served now: without what is switched off. Its lists of tools and prompts are the same arrays until they change. */
  readonly catalog: Catalog;
  /** The whole definition, also what is switched off: for requests that go on with a run that has begun. */
  readonly wholeCatalog: Catalog;
  /** Resolves once this instance knows what is switched off, or that the store can't tell. Never rejects. */
  readonly ready: Promise<void>;
  /**
   * Calls `listener` for what fronts tell their clients of: other tools are on, a resource was updated, a page was completed;
   * by whatever instance. Hints, and none of before. Returns how to end that.
   */
  onChange(listener: (change: Change) => void): () => void;
  /** What all instances share besides runs. Its calls fail once the store that it belongs to is closed. */
  readonly shared: SharedRecords;
  /** Seals what clients carry besides request states, such as session ids, with the same keys. */
  readonly sealer: StateSealer;
  /** Namespace and server name: what everything sealed is bound to, so that no other deployment opens it. */
  readonly audience: string;
  /** Never rejects: every failure is a reply. */
  execute(request: RunRequest): Promise<RunReply>;
  /**
   * Ends a recorded run that is no longer wanted, on whatever process it executes (docs/design.md 4.5). A running step's `signal`
   * aborts within a second; later rounds, joiners and repeated calls get RUN_CANCELLED. Idempotent. A run without a record is
   * ended by its request's `cancelled`.
   * @throws RepriseError STORE_UNAVAILABLE
   */
  cancel(runId: string, options?: CancelOptions): Promise<CancelOutcome>;
  /** What operators do to runs; undefined with `store: "none"`, where nothing is recorded. */
  readonly operator: RunOperator | undefined;
  /** What operators see, rows held against the records; undefined where none was given. */
  readonly history: HistoryStore | undefined;
  /** Events that this process could not give to its history, since its start. */
  readonly historyDropped: number;
  /** Whether runs can be recorded now; `reason` is for operators. */
  health(): Promise<{ readonly ok: boolean; readonly reason?: string }>;
  /** Stops taking calls, lets running attempts end or hand over, closes the store. Idempotent. */
  close(): Promise<void>;
}
