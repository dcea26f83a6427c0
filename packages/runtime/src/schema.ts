/**
 * Schemas, compiled once at start: published as JSON Schema, checked by the author's own library or by ajv.
 *
 * A Standard Schema validates with its library, so transformations and defaults are the author's; what is published
 * is its JSON Schema form. Plain JSON Schema is validated by ajv (2020-12). An external `$ref` is never fetched: it is an error
 * at start (MCP 2026-07-28, basic, "$ref Resolution").
 *
 * No input makes a check hang: where the schema could take very long over it, it is checked under a deadline and refused when
 * that is over. No input makes the words about it long either.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject, type JsonValue } from "@reprise/journal";
import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import addFormatsModule from "ajv-formats";
import { deadlineMs, longDeadlineMs, tooSlow, withinDeadline } from "./deadline.ts";
import { isQuick, schemaCost } from "./schemaCost.ts";
import type { AnySchema, JsonSchema, SchemaIssue, StandardSchema } from "./schemaTypes.ts";

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void;

/** The outcome of a validation; `issues` is one readable line. */
type SchemaCheck =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly issues: string };

/** A schema ready for use. */
export interface CompiledSchema {
  /** What is published. */
  readonly json: JsonSchema;
  check(value: unknown): SchemaCheck | Promise<SchemaCheck>;
  /** Why its author should change it: a short input could take for ever. Undefined where none can. */
  readonly risk: string | undefined;
}

/** Whether an author's schema is a Standard Schema. */
export function isStandardSchema(schema: AnySchema): schema is StandardSchema {
  return (typeof schema === "object" || typeof schema === "function") && "~standard" in schema;
}

/**
 * Compiles a schema.
 * @param direction whose JSON Schema is published: what goes in, or what comes out
 * @param where names the schema in errors, such as `tool "refund_order" input`
 * @throws RepriseError SCHEMA_UNSUPPORTED or DEFINITION_INVALID
 */
export function compileSchema(
  schema: AnySchema,
  direction: "input" | "output",
  where: string,
): CompiledSchema {
  if (!isStandardSchema(schema)) return compileJsonSchema(schema, where);
  const json = toJsonSchema(schema, direction, where);
  const { validate } = schema["~standard"];
  return guarded(json, true, (value) => {
    const outcome = validate(value);
    return outcome instanceof Promise ? outcome.then(toCheck) : toCheck(outcome);
  });
}

/** The same check, under a deadline where the schema could take very long over the input. */
function guarded(
  json: JsonSchema,
  flagsLost: boolean,
  check: CompiledSchema["check"],
): CompiledSchema {
  const { quickUpTo, reason: risk } = schemaCost(json, flagsLost);
  return {
    json,
    risk,
    check(value) {
      if (isQuick(value, quickUpTo)) return check(value);
      const timeout = quickUpTo === Number.POSITIVE_INFINITY ? longDeadlineMs : deadlineMs;
      const outcome = withinDeadline(() => check(value), timeout);
      if (outcome !== tooSlow) return outcome;
      return {
        ok: false,
        issues: `checking this takes more than ${timeout} ms; send shorter values, or fewer`,
      };
    },
  };
}

/** Problems that are told of one input. A list of a million wrong items must not become a response of a million lines. */
const maxIssues = 10;
/** Characters of what is told: values and names of the input may be in it. */
const maxIssuesLength = 4_000;

function issuesText(issues: readonly string[], total: number): string {
  const told = issues.join("; ");
  const text = told.length > maxIssuesLength ? `${told.slice(0, maxIssuesLength)}...` : told;
  return total > issues.length ? `${text}; and ${total - issues.length} more` : text;
}

function toCheck(
  outcome: Awaited<ReturnType<StandardSchema["~standard"]["validate"]>>,
): SchemaCheck {
  if (outcome.issues === undefined) return { ok: true, value: outcome.value };
  const { issues } = outcome;
  return {
    ok: false,
    issues: issuesText(issues.slice(0, maxIssues).map(issueText), issues.length),
  };
}

function issueText(issue: SchemaIssue): string {
  const path = (issue.path ?? [])
    .map((part) => String(typeof part === "object" ? part.key : part))
    .join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}

/** Judges schemas themselves. One for all: the schema of schemas takes far longer to compile than any tool's. */
let judge: Ajv2020 | undefined;

function newAjv(options: { readonly validateSchema?: boolean }): Ajv2020 {
  // Without a logger, because a format that ajv doesn't know is an annotation, and a library does not write to the console.
  const ajv = new Ajv2020({ strict: false, validateFormats: true, logger: false, ...options });
  addFormats(ajv);
  return ajv;
}

function compileJsonSchema(schema: JsonSchema, where: string): CompiledSchema {
  // One instance a schema: `$id`s and anchors of different tools must not meet.
  const ajv = newAjv({ validateSchema: false });
  try {
    judge ??= newAjv({});
    void judge.validateSchema(schema, true);
    const validate = ajv.compile(schema);
    return guarded(schema, false, (value) => {
      if (validate(value)) return { ok: true, value };
      const errors = validate.errors ?? [];
      return {
        ok: false,
        issues: issuesText(errors.slice(0, maxIssues).map(ajvText), errors.length),
      };
    });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RepriseError("DEFINITION_INVALID", `${where} is no usable JSON Schema: ${reason}`, {
      cause,
    });
  }
}

/** ajv's message, with the name or the values that it keeps apart: a model that gets it must be able to mend its arguments. */
function ajvText(error: ErrorObject): string {
  const path = error.instancePath.slice(1).replaceAll("/", ".");
  const message = `${error.message}${ajvDetail(error.params)}`;
  return path === "" ? message : `${path}: ${message}`;
}

function ajvDetail(params: Readonly<Record<string, unknown>>): string {
  const { additionalProperty, unevaluatedProperty, allowedValues, allowedValue } = params;
  const name = additionalProperty ?? unevaluatedProperty;
  if (typeof name === "string") return `: ${JSON.stringify(name)}`;
  const values = Array.isArray(allowedValues) ? allowedValues : [allowedValue];
  return values[0] === undefined ? "" : `: ${values.map((one) => JSON.stringify(one)).join(", ")}`;
}

interface JsonSchemaCompanion {
  readonly input?: (options: { readonly target: string }) => unknown;
  readonly output?: (options: { readonly target: string }) => unknown;
}

function toJsonSchema(
  schema: StandardSchema,
  direction: "input" | "output",
  where: string,
): JsonSchema {
  const standard = schema["~standard"] as StandardSchema["~standard"] & {
    readonly jsonSchema?: JsonSchemaCompanion;
  };
  const { vendor } = standard;
  const convert = standard.jsonSchema?.[direction];
  if (convert === undefined) {
    throw new RepriseError(
      "SCHEMA_UNSUPPORTED",
      `${where}: this ${vendor} schema can't become JSON Schema; install a release of ${vendor} with Standard JSON Schema support (zod 4.2 or newer has it), or give plain JSON Schema`,
      { data: { vendor } },
    );
  }
  let json: unknown;
  try {
    json = convert({ target: "draft-2020-12" });
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new RepriseError("SCHEMA_UNSUPPORTED", `${where} can't become JSON Schema: ${reason}`, {
      cause,
    });
  }
  if (!isJsonObject(json)) {
    throw new RepriseError(
      "SCHEMA_UNSUPPORTED",
      `${where}: the ${vendor} schema gave no JSON Schema object`,
    );
  }
  // Symbols and functions that libraries hang onto their output must not reach the wire.
  return JSON.parse(JSON.stringify(json)) as JsonObject;
}

/** A member of a JSON object, own members only. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
