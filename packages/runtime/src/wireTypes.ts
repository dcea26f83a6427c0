/**
 * The parts of MCP 2026-07-28 that authors see in their definitions and results, as plain types.
 * Shapes follow schema/2026-07-28; members that authors do not write are left out.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";

/** An icon of a tool, prompt, resource or server. */
export interface Icon {
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: readonly string[];
  readonly theme?: "light" | "dark";
}

/** Hints for the client; nothing on the server relies on them, except that `readOnlyHint` makes a tool repeatable. */
export interface ToolAnnotations {
  readonly title?: string;
  readonly readOnlyHint?: boolean;
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** Hints of who a content item is for. */
export interface ContentAnnotations {
  readonly audience?: readonly ("user" | "assistant")[];
  readonly priority?: number;
  readonly lastModified?: string;
}

interface ContentCommon {
  readonly annotations?: ContentAnnotations;
  readonly _meta?: JsonObject;
}

/** One item of a result's content. */
export type ContentBlock =
  | ({ readonly type: "text"; readonly text: string } & ContentCommon)
  | ({ readonly type: "image"; readonly data: string; readonly mimeType: string } & ContentCommon)
  | ({ readonly type: "audio"; readonly data: string; readonly mimeType: string } & ContentCommon)
  | ({ readonly type: "resource"; readonly resource: ResourceContents } & ContentCommon)
  | ({
      readonly type: "resource_link";
      readonly uri: string;
      readonly name: string;
      readonly title?: string;
      readonly description?: string;
      readonly mimeType?: string;
      readonly size?: number;
      readonly icons?: readonly Icon[];
    } & ContentCommon);

/** The contents of a resource: text or base64. */
export type ResourceContents =
  | {
      readonly uri: string;
      readonly mimeType?: string;
      readonly text: string;
      readonly _meta?: JsonObject;
    }
  | {
      readonly uri: string;
      readonly mimeType?: string;
      readonly blob: string;
      readonly _meta?: JsonObject;
    };

/** The long form of a tool's result. */
export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
  readonly _meta?: JsonObject;
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

/** The long form of a prompt's result. */
export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
  readonly _meta?: JsonObject;
}

/** The long form of a resource's result. */
export interface ResourceResult {
  readonly contents: readonly ResourceContents[];
  readonly _meta?: JsonObject;
}

/** What the client said it can do, as it came in `_meta`. */
export type ClientCapabilities = JsonObject;

/** Severity of a log message, least first: MCP "Logging", after RFC 5424. */
export type LogLevel =
  | "debug"
  | "info"
  | "notice"
  | "warning"
  | "error"
  | "critical"
  | "alert"
  | "emergency";
