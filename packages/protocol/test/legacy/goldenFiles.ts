/**
 * Reads the golden files and puts their inputs through the code that they judge. golden/README.md has the format.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ErrorCode, RepriseError } from "@reprise/errors";
import {
  type AskWire,
  clientCapabilities,
  type EntryKind,
  errorResponse,
  initializeResult,
  type JsonObject,
  type JsonValue,
  legacyErrorResponse,
  legacyRevisions,
  lowerAsk,
  lowerEntries,
  lowerResult,
  type ResultMethod,
  type Revision,
  refuseArguments,
  type ServerDescription,
} from "@reprise/protocol";

/** The four revisions, newest first. */
export const revisions: readonly Revision[] = ["2026-07-28", ...legacyRevisions];

/** One column of one case. */
export interface GoldenColumn {
  readonly kind: string;
  readonly title: string;
  readonly revision: Revision;
  /** What goes in: the words of 2026-07-28. */
  readonly input: JsonObject;
  readonly elicitationId: string | undefined;
  /** What must come out. */
  readonly expected: JsonObject;
}

const folder = join(fileURLToPath(import.meta.url), "..", "golden");

/** The kinds, as the files are called. */
export const kinds: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -".json".length))
  .toSorted();

/** All columns of a kind. */
export function columnsOf(kind: string): readonly GoldenColumn[] {
  const text = readFileSync(join(folder, `${kind}.json`), "utf8");
  const cases = JSON.parse(text) as Readonly<Record<string, Readonly<Record<string, JsonValue>>>>;
  return Object.entries(cases).flatMap(([title, golden]) =>
    revisions.flatMap((revision) => {
      const expected = resolved(golden, revision);
      if (expected === undefined) return [];
      const input = (golden["in"] ?? golden["2026-07-28"]) as JsonObject;
      const elicitationId = golden["elicitationId"] as string | undefined;
      return [{ kind, title, revision, input, elicitationId, expected }];
    }),
  );
}

function resolved(
  golden: Readonly<Record<string, JsonValue>>,
  revision: string,
): JsonObject | undefined {
  const column = golden[revision];
  if (typeof column !== "string") return column as JsonObject | undefined;
  return resolved(golden, column.replace("as ", ""));
}

const entryKinds: Readonly<Record<string, EntryKind>> = {
  tools: "tool",
  prompts: "prompt",
  resources: "resource",
  resourceTemplates: "resourceTemplate",
};
const resultMethods: Readonly<Record<string, ResultMethod>> = {
  toolResults: "tools/call",
  promptResults: "prompts/get",
  readResults: "resources/read",
  completions: "completion/complete",
};

/** What the code makes of a column's input, as JSON. */
export function producedFor(column: GoldenColumn): JsonValue {
  return JSON.parse(JSON.stringify(produced(column))) as JsonValue;
}

function produced({ kind, revision, input, elicitationId }: GoldenColumn): unknown {
  const entry = entryKinds[kind];
  if (entry !== undefined) return lowerEntries(entry, [input], revision)[0];
  const method = resultMethods[kind];
  if (method !== undefined) return lowerResult(method, input, revision);
  if (kind === "asks") {
    const lowered = lowerAsk(input as unknown as AskWire, revision, elicitationId);
    if (lowered.kind === "ask") return lowered.ask;
    return { refused: lowered.error.code, because: lowered.error.message };
  }
  if (kind === "errors") return producedError(input, revision);
  if (revision === "2026-07-28") throw new TypeError(`${kind} has no modern column`);
  switch (kind) {
    case "initialize":
      return initializeResult(input as unknown as ServerDescription, revision);
    case "capabilities":
      return clientCapabilities(input, revision);
    case "arguments": {
      const { method: refused, message } = input as { method: string; message: string };
      const refusal = refuseArguments(refused, message, revision);
      return refusal.kind === "result"
        ? { status: 200, result: refusal.result }
        : opened(legacyErrorResponse(refusal.error, 7, refused));
    }
    default:
      throw new TypeError(`nobody knows what to do with golden/${kind}.json`);
  }
}

function producedError(input: JsonObject, revision: Revision): unknown {
  const { code, message, data, method } = input as {
    code: ErrorCode;
    message: string;
    data?: JsonObject;
    method?: string;
  };
  const error = new RepriseError(code, message, data === undefined ? {} : { data });
  return opened(
    revision === "2026-07-28" ? errorResponse(error, 7) : legacyErrorResponse(error, 7, method),
  );
}

function opened(reply: { readonly status: number; readonly body: string }): unknown {
  const { jsonrpc, id, ...rest } = JSON.parse(reply.body) as Record<string, unknown>;
  return jsonrpc === "2.0" && id === 7 ? { status: reply.status, ...rest } : { reply };
}
