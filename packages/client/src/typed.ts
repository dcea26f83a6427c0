/**
 * What a person typed for a field, read as that field's value.
 *
 * Called by hosts that get lines of text. Pure. Reading is forgiving about how (y for yes, an option by its number), never
 * about what: text that can be read in two ways is refused, and an empty line is never a value.
 */
import type { Field, Option } from "./form.ts";
import { type FieldValue, problemOf } from "./formValues.ts";

/** A value, or why the text is none. */
export type Typed = { readonly value: FieldValue } | { readonly problem: string };

/** Reads `text` as a value of `field`. Options may be given by number, value or title; several with commas. */
export function readTyped(field: Field, text: string): Typed {
  const read = readAs(field, text);
  if ("problem" in read) return read;
  const problem = problemOf(field, read.value);
  return problem === undefined ? read : { problem };
}

function readAs(field: Field, text: string): Typed {
  const trimmed = text.trim();
  switch (field.type) {
    case "text":
      return { value: text };
    case "boolean":
      return yesOrNo(trimmed);
    case "number":
      return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)
        ? { value: Number(trimmed) }
        : { problem: "a number is expected" };
    case "choice":
      return option(field.options, trimmed);
    case "choices":
      return options(field.options, trimmed);
  }
}

function yesOrNo(text: string): Typed {
  switch (text.toLowerCase()) {
    case "y":
    case "yes":
    case "true":
      return { value: true };
    case "n":
    case "no":
    case "false":
      return { value: false };
    default:
      return { problem: "yes or no is expected" };
  }
}

function option(
  all: readonly Option[],
  text: string,
): { readonly value: string } | { readonly problem: string } {
  const found = new Set(
    all
      .filter(
        (each, index) => each.value === text || each.title === text || String(index + 1) === text,
      )
      .map((each) => each.value),
  );
  const [value] = found;
  if (value === undefined) return { problem: "the number of an option is expected" };
  return found.size === 1 ? { value } : { problem: "that fits several options; give the number" };
}

function options(all: readonly Option[], text: string): Typed {
  const values: string[] = [];
  for (const part of text.split(",").filter((piece) => piece.trim() !== "")) {
    const read = option(all, part.trim());
    if ("problem" in read) return read;
    values.push(read.value);
  }
  return { value: values };
}
