/**
 * A message as text to look at: indented JSON, in which long request states are folded. Pure.
 *
 * A state is sealed and can be thousands of characters that mean something to the server only; unfolded it would hide the rest.
 */
import { printableText } from "reprise/client/browser";
import type { Message } from "./recorder.ts";

/** The text, and what was folded in it. */
export interface ShownMessage {
  readonly text: string;
  readonly states: readonly string[];
}

const shortEnough = 48;

/** See the top of this file. Control and direction characters of the server are shown as codes. */
export function shownMessage(message: Message): ShownMessage {
  const states: string[] = [];
  const text = JSON.stringify(
    message,
    (name, value: unknown) => {
      if (name !== "requestState" || typeof value !== "string" || value.length <= shortEnough) {
        return value;
      }
      states.push(value);
      return `${value.slice(0, 12)}… (${value.length} characters, folded)`;
    },
    2,
  );
  return { text: printableText(text), states };
}
