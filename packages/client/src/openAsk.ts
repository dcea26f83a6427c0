/**
 * A question that nobody is there to answer, and how to answer it from a script.
 *
 * Called by the terminal commands when a call stops, and for answers that were prepared. Pure.
 */
import type { Ask } from "./host.ts";
import { printableLine, quoted } from "./printable.ts";

/** The words of a question, neutralised, without its heading. */
export function question(ask: Ask): string {
  switch (ask.kind) {
    case "form":
      return quoted(ask.message);
    case "url": {
      const { href, warnings, refusal } = ask.url;
      const notes = warnings.map((warning) => `\n  WARNING: ${printableLine(warning)}`).join("");
      const refused =
        refusal === undefined ? "" : `\n  It must not be opened. ${printableLine(refusal)}`;
      return `${quoted(ask.message)}\n  Page: ${printableLine(href)}${notes}${refused}`;
    }
    case "sample":
      return quoted(JSON.stringify(ask.params.messages));
    case "roots":
      return "  It wants to know which folders it may work in.";
  }
}

/** What to write behind `--answer key=` for it. */
export function exampleAnswer(ask: Ask): string {
  switch (ask.kind) {
    case "form": {
      const [only, ...others] = ask.fields;
      if (only?.type === "boolean" && others.length === 0) return "true (or false)";
      return `'{"${ask.fields.map((field) => `${printableLine(field.name)}":...`).join(',"')}}'`;
    }
    case "url":
      return ask.url.refusal === undefined
        ? `'{"action":"accept"}' once you have been there`
        : `'{"action":"decline"}'`;
    case "sample":
      return `'"the answer"'`;
    case "roots":
      return `'[{"uri":"file:///..."}]'`;
  }
}
