/**
 * Handler returns and failures as MCP results.
 *
 * What a handler throws is shown only if it was meant for the caller; everything else becomes a neutral sentence with the run id,
 * and the log has the rest (docs/design.md 11).
 */
import { isRepriseError, RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject, type JsonValue } from "@reprise/journal";
import type { RunUndo } from "./runRecord.ts";
import type { CompiledSchema } from "./schema.ts";
import { StepError } from "./stepErrors.ts";

const callerBrand = Symbol.for("reprise.callerError");

/** An error whose message is meant for the one who called: `throw new CallerError("That order is unknown.")`. */
export class CallerError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    Object.defineProperty(this, callerBrand, { value: true });
  }

  override get name(): string {
    return "CallerError";
  }
}

function isCallerError(error: unknown): error is Error {
  return typeof error === "object" && error !== null && callerBrand in error;
}

/** What a caller is told of a failure. */
function failureText(error: unknown, runId: string): string {
  if (isCallerError(error)) return error.message;
  if (error instanceof StepError) {
    const what =
      error.code === "STEP_UNCERTAIN"
        ? "may or may not have happened"
        : "failed; nothing was done in it";
    return `The step "${error.step}" ${what}. Run ${runId}.`;
  }
  // Author mistakes carry names of the author's own code and no data: they help whoever develops against the server.
  if (isRepriseError(error)) return `${error.message} (${error.code}). Run ${runId}.`;
  return `The call failed. Run ${runId}.`;
}

/** A tool's failure: a result with isError, so that a model can read it. */
function toolFailure(text: string): JsonObject {
  return { content: [{ type: "text", text }], isError: true };
}

/** A failure as it is recorded. */
export function failureResponse(kind: string, error: unknown, runId: string): RunUndo["response"] {
  const text = failureText(error, runId);
  if (kind === "tool") return { kind: "complete", result: toolFailure(text) };
  return { kind: "error", code: "INTERNAL", message: text, data: { runId } };
}

/**
 * A tool's return as a result.
 * @throws RepriseError VALUE_UNSUPPORTED when it is none
 */
export function toolResult(
  value: unknown,
  output: CompiledSchema | undefined,
  name: string,
): Promise<JsonObject> | JsonObject {
  if (isToolResult(value)) {
    const result = toJson(value, name) as JsonObject;
    if (output === undefined || value["isError"] === true) return withText(result);
    // What a tool with an output schema owes (MCP 2026-07-28, tools, "Output Schema"); clients refuse a result without it. The
    // checked value goes out: it has the defaults and lacks the unknown members that the published schema promises.
    return checkOutput(output, value["structuredContent"], name).then((checked) =>
      withText({ ...result, structuredContent: toJson(checked, name) }),
    );
  }
  if (output !== undefined) {
    return checkOutput(output, value, name).then((checked) =>
      withText({ content: [], structuredContent: toJson(checked, name) }),
    );
  }
  if (value === undefined) return { content: [] };
  if (typeof value === "string") return { content: [{ type: "text", text: value }] };
  if (Array.isArray(value) && value.every(isContent)) return { content: toJson(value, name) };
  if (isContent(value)) return { content: [toJson(value, name)] };
  throw new RepriseError(
    "VALUE_UNSUPPORTED",
    `tool "${name}" returned neither text, content, a tool result nor a value of a declared output schema`,
  );
}

/** Structured content that came without content gets a text of it, for clients that know no other (MCP 2026-07-28, tools, "Structured Content"). */
function withText(result: JsonObject): JsonObject {
  const { content, structuredContent } = result;
  if (structuredContent === undefined || (Array.isArray(content) && content.length > 0)) {
    return result;
  }
  return { ...result, content: [{ type: "text", text: JSON.stringify(structuredContent) }] };
}

function isToolResult(value: unknown): value is JsonObject {
  return isJsonObject(value) && Array.isArray(value["content"]) && !("type" in value);
}

function isContent(value: unknown): boolean {
  return isJsonObject(value) && typeof value["type"] === "string";
}

async function checkOutput(output: CompiledSchema, value: unknown, name: string): Promise<unknown> {
  const checked = await output.check(value);
  if (checked.ok) return checked.value;
  throw new RepriseError(
    "VALUE_UNSUPPORTED",
    `tool "${name}" returned what its output schema refuses: ${checked.issues}`,
  );
}

function toJson(value: unknown, name: string): JsonValue {
  try {
    return JSON.parse(JSON.stringify(value)) as JsonValue;
  } catch (cause) {
    throw new RepriseError("VALUE_UNSUPPORTED", `"${name}" returned what is no JSON`, { cause });
  }
}

/** A prompt's return as a result. */
export function promptResult(value: unknown, name: string): JsonObject {
  if (typeof value === "string")
    return { messages: [{ role: "user", content: { type: "text", text: value } }] };
  if (Array.isArray(value)) return { messages: toJson(value, name) };
  if (isJsonObject(value) && Array.isArray(value["messages"]))
    return toJson(value, name) as JsonObject;
  throw new RepriseError(
    "VALUE_UNSUPPORTED",
    `prompt "${name}" returned neither text nor messages`,
  );
}

/** A resource's return as a result. */
export function resourceResult(
  value: unknown,
  uri: string,
  mimeType: string | undefined,
  name: string,
): JsonObject {
  const described = { uri, ...(mimeType === undefined ? {} : { mimeType }) };
  if (typeof value === "string") return { contents: [{ ...described, text: value }] };
  if (value instanceof Uint8Array)
    return { contents: [{ ...described, blob: Buffer.from(value).toString("base64") }] };
  if (isJsonObject(value) && Array.isArray(value["contents"]))
    return toJson(value, name) as JsonObject;
  if (
    isJsonObject(value) &&
    (typeof value["text"] === "string" || typeof value["blob"] === "string")
  ) {
    return { contents: [toJson({ ...described, ...value }, name)] };
  }
  throw new RepriseError(
    "VALUE_UNSUPPORTED",
    `resource "${name}" returned neither text, bytes nor contents`,
  );
}
