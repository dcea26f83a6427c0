/**
 * The form of an elicitation as fields that a host can show (MCP 2026-07-28, elicitation, "Requested Schema").
 *
 * Called when an ask is parsed. The protocol allows flat objects of strings, numbers, booleans and enums; anything beyond is
 * refused here with the field's name, because a host that shows less than the server asked for would send an answer to
 * another question. Unknown annotations of a known type are ignored, as JSON Schema has it.
 */
import { RepriseError } from "@reprise/errors";

/** What all fields have in common. */
export interface FieldBase {
  /** Name of the member in the answer's content. */
  readonly name: string;
  /** What to call the field; the name when the server gave no title. A server's text: neutralise it before printing. */
  readonly label: string;
  readonly description?: string;
  readonly required: boolean;
}

/** A string; lengths count code points. */
export interface TextField extends FieldBase {
  readonly type: "text";
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: "email" | "uri" | "date" | "date-time";
  readonly initial?: string;
}

/** A number, whole if `integer`. */
export interface NumberField extends FieldBase {
  readonly type: "number";
  readonly integer: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly initial?: number;
}

/** Yes or no. Without an initial value neither is preselected. */
export interface BooleanField extends FieldBase {
  readonly type: "boolean";
  readonly initial?: boolean;
}

/** One value of an enum, with the words to show for it. */
export interface Option {
  readonly value: string;
  readonly title: string;
}

/** Exactly one of the options. */
export interface ChoiceField extends FieldBase {
  readonly type: "choice";
  readonly options: readonly Option[];
  readonly initial?: string;
}

/** Several of the options. */
export interface ChoicesField extends FieldBase {
  readonly type: "choices";
  readonly options: readonly Option[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly initial?: readonly string[];
}

/** One field of a form. `initial` is the server's default (SEP-1034): shown first, sent when the person leaves it. */
export type Field = TextField | NumberField | BooleanField | ChoiceField | ChoicesField;

type Bag = Readonly<Record<string, unknown>>;

/** The fields of a requested schema, in its order. Throws CLIENT_CANNOT_ANSWER for what no form can show. */
export function formFields(schema: unknown): readonly Field[] {
  if (!isBag(schema) || schema["type"] !== "object" || !isBag(schema["properties"])) {
    throw cannot("the form is no flat object");
  }
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const properties = Object.entries(schema["properties"]);
  for (const name of required) {
    if (!properties.some(([known]) => known === name)) {
      throw cannot(`the form requires "${String(name)}", which it does not describe`);
    }
  }
  return properties.map(([name, property]) => field(name, property, required.includes(name)));
}

function field(name: string, property: unknown, required: boolean): Field {
  if (!isBag(property)) throw cannot(`field "${name}" has no schema`);
  const base: FieldBase = {
    name,
    label: text(property["title"]) ?? name,
    ...present("description", text(property["description"])),
    required,
  };
  switch (property["type"]) {
    case "boolean":
      return { ...base, type: "boolean", ...present("initial", bool(property["default"])) };
    case "number":
    case "integer":
      return {
        ...base,
        type: "number",
        integer: property["type"] === "integer",
        ...present("minimum", finite(property["minimum"])),
        ...present("maximum", finite(property["maximum"])),
        ...present("initial", finite(property["default"])),
      };
    case "string":
      return stringField(base, property);
    case "array":
      return choicesField(base, property);
    default:
      throw cannot(`field "${name}" is of a type that forms do not have`);
  }
}

function stringField(base: FieldBase, property: Bag): Field {
  const initial = present("initial", text(property["default"]));
  const options = optionsOf(base.name, property, "oneOf");
  if (options !== undefined) return { ...base, type: "choice", options, ...initial };
  return {
    ...base,
    type: "text",
    ...present("minLength", finite(property["minLength"])),
    ...present("maxLength", finite(property["maxLength"])),
    ...present("format", knownFormat(property["format"])),
    ...initial,
  };
}

function choicesField(base: FieldBase, property: Bag): Field {
  const items = property["items"];
  const options = isBag(items) ? optionsOf(base.name, items, "anyOf") : undefined;
  if (options === undefined)
    throw cannot(`field "${base.name}" is a list of something else than options`);
  const initial = property["default"];
  return {
    ...base,
    type: "choices",
    options,
    ...present("minItems", finite(property["minItems"])),
    ...present("maxItems", finite(property["maxItems"])),
    ...present(
      "initial",
      Array.isArray(initial) && initial.every((item) => typeof item === "string")
        ? initial
        : undefined,
    ),
  };
}

// The titled form (`oneOf`/`anyOf` of const and title), the plain form (`enum`), and the plain one with the older `enumNames`.
function optionsOf(
  name: string,
  schema: Bag,
  titled: "oneOf" | "anyOf",
): readonly Option[] | undefined {
  const list = schema[titled] ?? schema["enum"];
  if (list === undefined) return undefined;
  if (!Array.isArray(list) || list.length === 0) throw cannot(`field "${name}" offers no options`);
  const names = Array.isArray(schema["enumNames"]) ? schema["enumNames"] : [];
  return list.map((entry: unknown, index) => {
    const value = isBag(entry) ? text(entry["const"]) : text(entry);
    if (value === undefined) throw cannot(`field "${name}" has an option that is no string`);
    return { value, title: (isBag(entry) ? text(entry["title"]) : text(names[index])) ?? value };
  });
}

function knownFormat(format: unknown): TextField["format"] | undefined {
  return format === "email" || format === "uri" || format === "date" || format === "date-time"
    ? format
    : undefined;
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: V });
}

function isBag(value: unknown): value is Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const text = (value: unknown): string | undefined =>
  typeof value === "string" ? value : undefined;
const bool = (value: unknown): boolean | undefined =>
  typeof value === "boolean" ? value : undefined;
const finite = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

function cannot(why: string): RepriseError {
  return new RepriseError("CLIENT_CANNOT_ANSWER", `The question can't be shown: ${why}.`);
}
