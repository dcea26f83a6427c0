/**
 * Forms: what `ctx.elicit` may ask for, and how an accepted form becomes a value.
 *
 * MCP forms are flat objects of strings, numbers, booleans and enums (MCP 2026-07-28, elicitation, "Requested Schema"),
 * and must not ask for secrets (same page, "Security"). Both are refused here, at the call, before anything is sent.
 */
import { RepriseError } from "@reprise/errors";
import { isJsonObject, type JsonObject } from "@reprise/journal";
import { type CompiledSchema, compileSchema, isStandardSchema, memberOf } from "./schema.ts";
import type { AnySchema } from "./schemaTypes.ts";

/** A form ready to be asked. */
export interface Form {
  /** `requestedSchema` as it goes on the wire. */
  readonly requestedSchema: JsonObject;
  readonly check: CompiledSchema["check"];
}

const compiled = new WeakMap<object, CompiledSchema>();

/**
 * Compiles a form's schema; the compilation is remembered with the schema object.
 * @throws RepriseError FORM_UNSUPPORTED or SECRET_IN_FORM naming the field
 */
export function compileForm(schema: AnySchema, key: string, notSecret: readonly string[]): Form {
  let known = compiled.get(schema);
  if (known === undefined) {
    // What the person fills in is the schema's input: a default makes a field optional there.
    known = compileSchema(schema, "input", `form "${key}"`);
    compiled.set(schema, known);
  }
  const requestedSchema = formSchema(known.json, key, isStandardSchema(schema));
  refuseSecrets(requestedSchema, key, notSecret);
  return { requestedSchema, check: known.check };
}

function formSchema(json: JsonObject, key: string, generated: boolean): JsonObject {
  const properties = memberOf(json, "properties");
  if (memberOf(json, "type") !== "object" || !isJsonObject(properties)) {
    throw new RepriseError("FORM_UNSUPPORTED", `form "${key}" is no object of fields`);
  }
  for (const [field, schema] of Object.entries(properties)) {
    if (!isJsonObject(schema) || !isFormField(schema)) {
      throw new RepriseError(
        "FORM_UNSUPPORTED",
        `form "${key}": field "${field}" is neither string, number, integer, boolean, enum nor a list of enum values; MCP forms show nothing else`,
        { data: { field } },
      );
    }
  }
  if (!generated) return json;
  // A library's own members ($schema, additionalProperties, patterns of formats) are no part of MCP's form dialect.
  const required = memberOf(json, "required");
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, plainField(schema as JsonObject)]),
  );
  return {
    type: "object",
    properties: fields,
    ...(Array.isArray(required) && required.length > 0 ? { required } : {}),
  };
}

const fieldMembers = new Set([
  "type",
  "title",
  "description",
  "default",
  "enum",
  "enumNames",
  "oneOf",
  "minLength",
  "maxLength",
  "format",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "items",
]);
const formFormats = new Set(["email", "uri", "date", "date-time"]);

function plainField(schema: JsonObject): JsonObject {
  const kept = Object.entries(schema).filter(([name, value]) => {
    if (name === "format") return typeof value === "string" && formFormats.has(value);
    // Libraries write the safe integer range; as a form limit it says nothing.
    if (name === "minimum") return value !== Number.MIN_SAFE_INTEGER;
    if (name === "maximum") return value !== Number.MAX_SAFE_INTEGER;
    return fieldMembers.has(name);
  });
  return Object.fromEntries(kept);
}

function isFormField(schema: JsonObject): boolean {
  switch (memberOf(schema, "type")) {
    case "string":
    case "number":
    case "integer":
    case "boolean":
      return true;
    case "array": {
      const items = memberOf(schema, "items");
      return (
        isJsonObject(items) &&
        (Array.isArray(memberOf(items, "enum")) || Array.isArray(memberOf(items, "anyOf")))
      );
    }
    default:
      return false;
  }
}

const secretWords =
  /(^|[^a-z])(password|passwd|passphrase|pass ?code|pwd|secret|credential|credentials|api ?key|apikey|access ?key|private ?key|secret ?key|signing ?key|access ?token|auth ?token|refresh ?token|bearer ?token|session ?token|token|client ?secret|card ?number|credit ?card|debit ?card|pan|cvv|cvv2|cvc|cvc2|security ?code|pin|pin ?code|otp|one ?time ?(password|code)|ssn|social ?security( ?number)?|iban|account ?number|routing ?number|mnemonic|seed ?phrase|recovery ?phrase|recovery ?code)([^a-z]|$)/;

/** Lower case with words apart: `apiKey`, `API-key` and `api_key` read the same. */
function words(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .replaceAll(/[_\-./\s]+/g, " ")
    .toLowerCase();
}

function refuseSecrets(schema: JsonObject, key: string, notSecret: readonly string[]): void {
  const properties = memberOf(schema, "properties") as JsonObject;
  for (const [field, value] of Object.entries(properties)) {
    if (notSecret.includes(field) || !isJsonObject(value)) continue;
    // A yes-or-no can't carry a secret, however it is called.
    if (memberOf(value, "type") === "boolean") continue;
    const title = memberOf(value, "title");
    const texts = [field, typeof title === "string" ? title : ""];
    if (
      memberOf(value, "format") === "password" ||
      texts.some((text) => secretWords.test(words(text)))
    ) {
      throw new RepriseError(
        "SECRET_IN_FORM",
        `form "${key}": field "${field}" looks like a secret, which must not pass through the client; send the person to a page with ctx.elicitUrl, or list the field in notSecret if it is none`,
        { data: { field } },
      );
    }
  }
}
