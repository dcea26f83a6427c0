/**
 * Forms as a revision knows them.
 *
 * What only guides the person (limits, formats, defaults that a revision lacks) may be left out: the runtime checks
 * every answer against the author's own schema and asks again. What changes the question may not: a choice that the
 * revision can't show is refused, because without its options the person could answer for ever and never be right.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../json.ts";
import { keepKnown } from "./copies.ts";
import type { RevisionRules } from "./loweringTable.ts";

/** A form, or why a client of the revision can't show it. */
export type LoweredForm =
  | { readonly kind: "form"; readonly requestedSchema: JsonObject }
  | { readonly kind: "refused"; readonly why: string };

type LoweredField = JsonObject | { readonly refused: string };

const formats: ReadonlySet<JsonValue | undefined> = new Set(["email", "uri", "date", "date-time"]);

/** `requestedSchema` of a form of 2026-07-28, lowered. */
export function lowerForm(
  requestedSchema: JsonValue | undefined,
  rules: RevisionRules,
): LoweredForm {
  const properties = isJsonObject(requestedSchema) ? requestedSchema["properties"] : undefined;
  if (!isJsonObject(requestedSchema) || !isJsonObject(properties)) {
    return { kind: "refused", why: "the form is no object of fields" };
  }
  const fields: [string, JsonObject][] = [];
  for (const [name, field] of Object.entries(properties)) {
    const lowered = isJsonObject(field) ? lowerField(field, rules) : noField;
    if (typeof lowered["refused"] === "string") {
      return { kind: "refused", why: `the field "${name}" ${lowered["refused"]}` };
    }
    fields.push([name, lowered]);
  }
  const kept = keepKnown(requestedSchema, rules.members.formSchema);
  return { kind: "form", requestedSchema: { ...kept, properties: Object.fromEntries(fields) } };
}

const noField = { refused: "is of no type that forms have" };

function lowerField(field: JsonObject, rules: RevisionRules): LoweredField {
  const { members } = rules;
  switch (field["type"]) {
    case "string":
      return isChoice(field) ? lowerChoice(field, rules) : lowerString(field, members.stringField);
    case "number":
    case "integer":
      // Choices are strings on every revision.
      return isChoice(field)
        ? { refused: "is a choice of numbers, which forms do not have" }
        : keepKnown(field, members.numberField);
    case "boolean":
      return keepKnown(field, members.booleanField);
    case "array":
      return lowerChoices(field, rules);
    default:
      return noField;
  }
}

function lowerString(field: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (field["format"] === undefined || formats.has(field["format"])) return keepKnown(field, names);
  const { format: _, ...rest } = field;
  return keepKnown(rest, names);
}

function isChoice(field: JsonObject): boolean {
  return ["enum", "oneOf", "anyOf", "const"].some((member) => field[member] !== undefined);
}

function lowerChoice(field: JsonObject, { has, members }: RevisionRules): LoweredField {
  const { oneOf } = field;
  if (oneOf === undefined) {
    return isStrings(field["enum"]) ? keepKnown(field, members.choiceField) : badOptions;
  }
  const options = readOptions(oneOf);
  if (options === undefined) return badOptions;
  if (has.titledChoices) return keepKnown(field, members.choiceField);
  return keepKnown(
    {
      ...field,
      enum: options.map((option) => option.value),
      enumNames: options.map((option) => option.title),
    },
    members.choiceField,
  );
}

function lowerChoices(field: JsonObject, { has, members }: RevisionRules): LoweredField {
  if (!has.multipleChoices) {
    return { refused: "lets several options be chosen, which forms of this revision can't" };
  }
  const items = field["items"];
  const { enum: values, anyOf } = isJsonObject(items) ? items : {};
  if (isStrings(values))
    return { ...keepKnown(field, members.choicesField), items: { type: "string", enum: values } };
  const options = anyOf === undefined ? undefined : readOptions(anyOf);
  return options === undefined
    ? badOptions
    : { ...keepKnown(field, members.choicesField), items: { anyOf: anyOf as JsonValue } };
}

const badOptions = { refused: "is a choice whose options are not strings" };

function isStrings(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function readOptions(
  options: JsonValue,
): readonly { readonly value: string; readonly title: string }[] | undefined {
  if (!Array.isArray(options)) return undefined;
  const read = options.map((option: JsonValue) => {
    const { const: value, title } = isJsonObject(option) ? option : {};
    if (typeof value !== "string") return undefined;
    return { value, title: typeof title === "string" ? title : value };
  });
  return read.every((option) => option !== undefined) ? read : undefined;
}
