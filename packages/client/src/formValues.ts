/**
 * Values of a form: the server's defaults, what a person typed, and whether an answer fits.
 *
 * Called by hosts while a form is filled in, and by the gates once more before an answer is sent: the specification asks
 * clients to check (elicitation, "Form Mode Security"), and a host of one's own may have forgotten to. Pure. It never runs a
 * `pattern` of the server's: a regular expression from outside can hang the process.
 */
import type { ChoiceField, ChoicesField, Field, NumberField, TextField } from "./form.ts";

/** What one field can hold. */
export type FieldValue = string | number | boolean | readonly string[];

/** The content of an accepted form, by field name. A Map: names come from the server, `__proto__` among them. */
export type FormContent = ReadonlyMap<string, FieldValue>;

/** The content before a person changed anything: every default that the server gave and that fits its own rules (SEP-1034). */
export function initialContent(fields: readonly Field[]): Map<string, FieldValue> {
  const content = new Map<string, FieldValue>();
  for (const field of fields) {
    if (field.initial !== undefined && problemOf(field, field.initial) === undefined) {
      content.set(field.name, field.initial);
    }
  }
  return content;
}

/** All that is wrong with a content, as sentences that name the field; empty when it may be sent. */
export function formProblems(fields: readonly Field[], content: FormContent): string[] {
  const problems: string[] = [];
  for (const field of fields) {
    const value = content.get(field.name);
    if (value === undefined) {
      if (field.required) problems.push(`${field.name}: a value is required`);
      continue;
    }
    const problem = problemOf(field, value);
    if (problem !== undefined) problems.push(`${field.name}: ${problem}`);
  }
  for (const name of content.keys()) {
    if (!fields.some((field) => field.name === name)) {
      problems.push(`${name}: the form has no such field`);
    }
  }
  return problems;
}

/** The content of an answer that came as JSON, defaults filled in for fields that it leaves out. */
export function contentFromJson(
  fields: readonly Field[],
  json: Readonly<Record<string, unknown>>,
): { readonly content: FormContent; readonly problems: readonly string[] } {
  const content = initialContent(fields);
  const problems: string[] = [];
  for (const [name, value] of Object.entries(json)) {
    if (isFieldValue(value)) content.set(name, value);
    else problems.push(`${name}: not a value that a form can hold`);
  }
  return { content, problems: [...problems, ...formProblems(fields, content)] };
}

/** What is wrong with one value, without the field's name; undefined when it fits. */
export function problemOf(field: Field, value: unknown): string | undefined {
  switch (field.type) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "yes or no is expected";
    case "number":
      return numberProblem(field, value);
    case "text":
      return textProblem(field, value);
    case "choice":
      return choiceProblem(field, value);
    case "choices":
      return choicesProblem(field, value);
  }
}

function isFieldValue(value: unknown): value is FieldValue {
  return (
    typeof value === "string" ||
    typeof value === "number" ||
    typeof value === "boolean" ||
    (Array.isArray(value) && value.every((item) => typeof item === "string"))
  );
}

function numberProblem(field: NumberField, value: unknown): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "a number is expected";
  if (field.integer && !Number.isInteger(value)) return "a whole number is expected";
  if (field.minimum !== undefined && value < field.minimum) return `at least ${field.minimum}`;
  if (field.maximum !== undefined && value > field.maximum) return `at most ${field.maximum}`;
  return undefined;
}

function textProblem(field: TextField, value: unknown): string | undefined {
  if (typeof value !== "string") return "a text is expected";
  const length = [...value].length;
  if (field.minLength !== undefined && length < field.minLength) {
    return `at least ${field.minLength} characters`;
  }
  if (field.maxLength !== undefined && length > field.maxLength) {
    return `at most ${field.maxLength} characters`;
  }
  return field.format === undefined || hasFormat(field.format, value)
    ? undefined
    : `${formatWords[field.format]} is expected`;
}

const formatWords = {
  email: "an e-mail address",
  uri: "a complete URI",
  date: "a date such as 2026-07-28",
  "date-time": "a date and time such as 2026-07-28T09:30:00Z",
} as const;

function hasFormat(format: NonNullable<TextField["format"]>, value: string): boolean {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)*$/.test(value);
    case "uri":
      return URL.canParse(value) && !/\s/.test(value);
    case "date":
      return isDay(value);
    case "date-time": {
      const parts = /^(\d{4}-\d\d-\d\d)[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.exec(
        value,
      );
      return parts?.[1] !== undefined && isDay(parts[1]) && !Number.isNaN(Date.parse(value));
    }
  }
}

// Date.parse rolls 31 February over into March; a day that exists comes back as it went in.
function isDay(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const day = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value);
}

function choiceProblem(field: ChoiceField, value: unknown): string | undefined {
  return field.options.some((option) => option.value === value)
    ? undefined
    : "one of the options is expected";
}

function choicesProblem(field: ChoicesField, value: unknown): string | undefined {
  if (!Array.isArray(value)) return "a list of options is expected";
  if (!value.every((item) => field.options.some((option) => option.value === item))) {
    return "only the options are expected";
  }
  if (new Set(value).size !== value.length) return "each option at most once";
  if (field.minItems !== undefined && value.length < field.minItems) {
    return `at least ${field.minItems} of the options`;
  }
  if (field.maxItems !== undefined && value.length > field.maxItems) {
    return `at most ${field.maxItems} of the options`;
  }
  return undefined;
}
