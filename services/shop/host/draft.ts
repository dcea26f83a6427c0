/**
 * What a person has typed into a form so far, and the content that it makes. Pure.
 *
 * Used by the form gate and by the arguments of a tool. Input fields hold texts; a number that is half typed is not a number yet,
 * so the draft keeps the text, and the content is made of it anew at each change.
 */
import {
  type Field,
  type FieldValue,
  type FormContent,
  initialContent,
  problemOf,
} from "reprise/client/browser";

/** By field name: text for texts, numbers and choices, the value itself for the rest. */
export type Draft = ReadonlyMap<string, string | boolean | readonly string[]>;

/** The form before a person changed anything: the server's defaults. */
export function draftOf(fields: readonly Field[]): Draft {
  const draft = new Map<string, string | boolean | readonly string[]>();
  for (const [name, value] of initialContent(fields)) {
    draft.set(name, typeof value === "number" ? String(value) : value);
  }
  return draft;
}

/** The content that would be sent. An empty text is no value. */
export function contentOf(fields: readonly Field[], draft: Draft): FormContent {
  const content = new Map<string, FieldValue>();
  for (const field of fields) {
    const value = typedValue(field, draft.get(field.name));
    if (value !== undefined) content.set(field.name, value);
  }
  return content;
}

/** What is wrong, by field name; empty when it may be sent. */
export function problemsOf(
  fields: readonly Field[],
  content: FormContent,
): ReadonlyMap<string, string> {
  const problems = new Map<string, string>();
  for (const field of fields) {
    const value = content.get(field.name);
    const missing = field.required ? "a value is required" : undefined;
    const problem = value === undefined ? missing : problemOf(field, value);
    if (problem !== undefined) problems.set(field.name, problem);
  }
  return problems;
}

function typedValue(
  field: Field,
  typed: string | boolean | readonly string[] | undefined,
): FieldValue | undefined {
  if (field.type === "choices") {
    const chosen = Array.isArray(typed) ? (typed as readonly string[]) : [];
    return chosen.length === 0 && !field.required ? undefined : chosen;
  }
  if (typed === undefined || typed === "") return undefined;
  return field.type === "number" ? Number(typed) : typed;
}
