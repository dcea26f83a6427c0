/**
 * The host of a person at a terminal.
 *
 * Called by the gates; calls the terminal gates on a console. It keeps one thing: once the person said "later" or the input
 * ended, the rest of the round is left too, without more questions. A question that the server took back is not the person's "later".
 */
import type { Root } from "@modelcontextprotocol/client";
import type { Console } from "./console.ts";
import { heading } from "./heading.ts";
import type { AskContext, Host } from "./host.ts";
import { printableLine } from "./printable.ts";
import { fillForm } from "./terminalForm.ts";
import { type Model, sampleByHand, tellRoots } from "./terminalSample.ts";
import { type OpenUrl, visitPage } from "./terminalUrl.ts";

/** What a terminal host needs besides the console. */
export interface TerminalHostOptions {
  readonly console: Console;
  readonly openUrl: OpenUrl;
  /** What a server is told that asks for roots, if the person agrees. */
  readonly roots: readonly Root[];
  readonly model: Model | undefined;
  readonly now: () => number;
}

/** A host that declares everything a person can answer. */
export function terminalHost(options: TerminalHostOptions): Required<Host> {
  const { console, openUrl, roots, model } = options;
  let left = false;
  const at = async <R extends { readonly action: string }>(
    key: string,
    context: AskContext,
    gate: () => Promise<R>,
  ): Promise<R | { readonly action: "later" }> => {
    if (left || !console.interactive) return { action: "later" };
    console.say(heading(key, context, options.now()));
    const reply = await gate();
    if (context.signal.aborted) {
      console.say("  The question is no longer open.");
      return { action: "later" };
    }
    left = reply.action === "later";
    return reply;
  };
  return {
    form: async (ask, context) => await at(ask.key, context, () => fillForm(console, ask, context)),
    url: async (ask, context) =>
      await at(ask.key, context, () => visitPage(console, ask, openUrl, context)),
    sample: async (ask, context) =>
      await at(ask.key, context, () => sampleByHand(console, ask, model, context)),
    roots: async (ask, context) =>
      await at(ask.key, context, () => tellRoots(console, roots, context)),
    completed: ({ url }, { server }) => {
      console.say(
        `  ${printableLine(server.origin)} says that what it wanted at ${printableLine(url.parts.host)} is complete.`,
      );
    },
  };
}
