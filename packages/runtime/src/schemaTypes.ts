/**
 * The schemas an author may hand us, as types.
 *
 * Two kinds: a Standard Schema (zod 4 and others) that can also turn itself into JSON Schema, and plain
 * JSON Schema 2020-12, which is published as it is. Nothing here runs; `schema.ts` compiles both.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";

/** Any JSON Schema 2020-12 object. Published verbatim. */
export type JsonSchema = JsonObject;

/** One finding of a schema's validation. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/**
 * The Standard Schema interface, version 1, as far as Reprise uses it (https://standardschema.dev).
 * Its JSON Schema companion (`~standard.jsonSchema`) or zod 4's `toJSONSchema` must be there as well.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (
      value: unknown,
    ) =>
      | { readonly value: Output; readonly issues?: undefined }
      | { readonly issues: readonly SchemaIssue[] }
      | Promise<
          | { readonly value: Output; readonly issues?: undefined }
          | { readonly issues: readonly SchemaIssue[] }
        >;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** What `input`, `output` and form schemas may be. */
export type AnySchema = StandardSchema | JsonSchema;

/** The value that a schema produces: a Standard Schema's output, any JSON value for a JSON Schema. */
export type OutputOf<S> =
  S extends StandardSchema<infer _Input, infer Output>
    ? Output
    : S extends undefined
      ? Record<string, never>
      : Readonly<Record<string, JsonValue>>;
