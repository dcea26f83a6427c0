/**
 * The form gate at a terminal: fill in, review, change, send.
 *
 * Called by the terminal host. Invariants:
 *
 * 1. `accept` needs the word "send", typed under the form as it will be sent. Enter sends nothing; while filling in, it keeps a
 *    value that is shown, or leaves an optional field empty.
 * 2. `:decline`, `:cancel` and (where the call can wait) `:later` work at every field, the plain words at the review.
 */
import { type Asked, choose } from "./choose.ts";
import type { Console } from "./console.ts";
import type { Field } from "./form.ts";
import { type FieldValue, formProblems, initialContent } from "./formValues.ts";
import type { FormAsk, FormReply } from "./host.ts";
import { printableLine, quoted } from "./printable.ts";
import { readTyped } from "./typed.ts";

type Leave = Exclude<FormReply, { readonly action: "accept" }>;

const LEAVE: Readonly<Record<string, Leave>> = {
  ":decline": { action: "decline" },
  ":cancel": { action: "cancel" },
  ":later": { action: "later" },
};

/** Has the form answered. The heading has been printed. */
export async function fillForm(console: Console, ask: FormAsk, asked: Asked): Promise<FormReply> {
  const content = initialContent(ask.fields);
  console.say(quoted(ask.message));
  if (ask.fields.length > 0) {
    console.say(
      `  At each field: a value, or :decline, :cancel${asked.canWait ? ", :later" : ""}. Nothing is sent before you have seen it all.`,
    );
  }
  for (const field of ask.fields) {
    const left = await fillField(console, field, content, asked);
    if (left !== undefined) return left;
  }
  return await review(console, ask, content, asked);
}

async function review(
  console: Console,
  ask: FormAsk,
  content: Map<string, FieldValue>,
  asked: Asked,
): Promise<FormReply> {
  for (;;) {
    console.say("  This is what would be sent:");
    for (const [index, field] of ask.fields.entries()) {
      console.say(`  ${index + 1}. ${printableLine(field.label)}: ${shownValue(field, content)}`);
    }
    if (ask.fields.length === 0) console.say("  (your agreement, without any value)");
    const chosen = await choose(
      console,
      {
        send: ["send"],
        change: ["change"],
        decline: ["decline"],
        cancel: ["cancel"],
        later: ["later"],
      },
      asked,
      "change",
    );
    switch (chosen?.choice) {
      case "send": {
        const problems = formProblems(ask.fields, content);
        if (problems.length === 0) return { action: "accept", content };
        console.say(`  It can't be sent like this: ${printableLine(problems.join("; "))}`);
        break;
      }
      case "change": {
        const left = await changeField(console, ask.fields, chosen.rest, content, asked);
        if (left !== undefined) return left;
        break;
      }
      case "decline":
      case "cancel":
        return { action: chosen.choice };
      default:
        return { action: "later" };
    }
  }
}

async function changeField(
  console: Console,
  fields: readonly Field[],
  which: string,
  content: Map<string, FieldValue>,
  asked: Asked,
): Promise<Leave | undefined> {
  const found = fields.find((field, index) => String(index + 1) === which || field.name === which);
  const field = fields.length === 1 ? fields[0] : found;
  if (field === undefined) {
    console.say('  Say which: "change 1", or the name of the field.');
    return undefined;
  }
  return await fillField(console, field, content, asked);
}

/** Undefined when the field is done; else how the person left the form. */
async function fillField(
  console: Console,
  field: Field,
  content: Map<string, FieldValue>,
  asked: Asked,
): Promise<Leave | undefined> {
  console.say(describe(field));
  for (;;) {
    const line = await console.ask(
      `  ${printableLine(field.label)}${hint(field, content)}: `,
      asked.signal,
    );
    if (line === undefined) return { action: "later" };
    const command = line.trim();
    const left = Object.hasOwn(LEAVE, command) ? LEAVE[command] : undefined;
    if (left !== undefined && (asked.canWait || left.action !== "later")) return left;
    if (left !== undefined) {
      console.say("  This call can't wait: the server holds it open for your answer.");
      continue;
    }
    if (command === ":clear") content.delete(field.name);
    if (command === "" || command === ":clear") {
      if (content.has(field.name) || !field.required) return undefined;
      console.say("  A value is required.");
      continue;
    }
    // A text that begins with a colon is typed with two.
    const read = readTyped(field, line.startsWith("::") ? line.slice(1) : line);
    if ("value" in read) {
      content.set(field.name, read.value);
      return undefined;
    }
    console.say(`  ${printableLine(read.problem)}.`);
  }
}

function describe(field: Field): string {
  const lines: string[] = [];
  if (field.description !== undefined) lines.push(quoted(field.description));
  if (field.type === "choice" || field.type === "choices") {
    for (const [index, option] of field.options.entries()) {
      const value = option.title === option.value ? "" : ` (${printableLine(option.value)})`;
      lines.push(`    ${index + 1}. ${printableLine(option.title)}${value}`);
    }
  }
  lines.push(`  ${rules(field)}`);
  return lines.join("\n");
}

function rules(field: Field): string {
  const words: string[] = [field.required ? "required" : "optional"];
  switch (field.type) {
    case "boolean":
      words.push("yes or no");
      break;
    case "number":
      words.push(field.integer ? "a whole number" : "a number");
      if (field.minimum !== undefined) words.push(`at least ${field.minimum}`);
      if (field.maximum !== undefined) words.push(`at most ${field.maximum}`);
      break;
    case "text":
      words.push(field.format ?? "text");
      if (field.minLength !== undefined) words.push(`at least ${field.minLength} characters`);
      if (field.maxLength !== undefined) words.push(`at most ${field.maxLength} characters`);
      break;
    case "choice":
      words.push("one of these, by number");
      break;
    case "choices":
      words.push("any of these, by number, with commas");
      if (field.minItems !== undefined) words.push(`at least ${field.minItems}`);
      if (field.maxItems !== undefined) words.push(`at most ${field.maxItems}`);
      break;
  }
  return `(${words.join(", ")})`;
}

function hint(field: Field, content: ReadonlyMap<string, FieldValue>): string {
  return content.has(field.name)
    ? ` [Enter keeps ${shownValue(field, content)}; :clear empties]`
    : "";
}

function shownValue(field: Field, content: ReadonlyMap<string, FieldValue>): string {
  const value = content.get(field.name);
  if (value === undefined) return "(nothing)";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return printableLine(typeof value === "object" ? value.join(", ") || "(none)" : String(value));
}
