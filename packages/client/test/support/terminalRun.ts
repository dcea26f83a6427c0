/** `runCall` and `runResume` on streams, with asks to put to them. */
import { type RunCallOptions, runCall, runResume } from "@reprise/client";
import type { FakeServer } from "./fakeServer.ts";
import { manualClock } from "./hosts.ts";
import { screen, typed } from "./terminal.ts";

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly dialog: string;
}

/** Calls `delete_folder` with a person who types `lines`. */
export async function call(
  server: { readonly url: string },
  lines: readonly string[],
  options: Partial<RunCallOptions> = {},
): Promise<Ran> {
  const output = screen();
  const dialog = screen();
  const code = await runCall({
    url: server.url,
    tool: "delete_folder",
    args: { path: "build/" },
    input: typed(lines),
    output: output.stream,
    dialog: dialog.stream,
    interactive: true,
    connection: { clock: manualClock() },
    ...options,
  });
  return { code, output: output.text(), dialog: dialog.text() };
}

/** Resumes a file; without lines there is nobody at the terminal. */
export async function resume(
  file: string,
  lines: readonly string[],
  answers: readonly string[] = [],
): Promise<Ran> {
  const output = screen();
  const dialog = screen();
  const code = await runResume(file, {
    input: typed(lines),
    output: output.stream,
    dialog: dialog.stream,
    interactive: lines.length > 0,
    answers,
    connection: { clock: manualClock() },
  });
  return { code, output: output.text(), dialog: dialog.text() };
}

/** The answers that a request carried; the second request's unless told. */
export const responses = (server: FakeServer, index = 1): unknown =>
  server.calls[index]?.params["inputResponses"];

export const formAsk = (
  properties: Record<string, unknown>,
  required: readonly string[] = Object.keys(properties),
): Record<string, unknown> => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Please fill in",
    requestedSchema: { type: "object", properties, required },
  },
});

export const pageAsk = (url: string): Record<string, unknown> => ({
  method: "elicitation/create",
  params: { mode: "url", message: "Sign in there", url },
});

export const sampleAsk = {
  method: "sampling/createMessage",
  params: {
    systemPrompt: "Be brief",
    messages: [{ role: "user", content: { type: "text", text: "Capital of France?" } }],
    maxTokens: 50,
  },
};
