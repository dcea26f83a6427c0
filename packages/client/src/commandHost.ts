/**
 * The host of `reprise call` and `reprise resume`: a person at the terminal, answers that were prepared, and words for whoever
 * reads afterwards what was asked and not answered.
 *
 * Called by the terminal commands; calls the terminal host.
 */
import type { Root } from "@modelcontextprotocol/client";
import { openInBrowser } from "./browser.ts";
import type { Console } from "./console.ts";
import { heading } from "./heading.ts";
import type { Ask, AskContext, Host } from "./host.ts";
import { exampleAnswer, question } from "./openAsk.ts";
import { type PreparedAnswers, withPreparedAnswers } from "./preparedAnswers.ts";
import { printableLine } from "./printable.ts";
import type { Clock } from "./retry.ts";
import { systemClock } from "./systemClock.ts";
import { terminalHost } from "./terminalHost.ts";
import type { Model } from "./terminalSample.ts";
import type { OpenUrl } from "./terminalUrl.ts";

/** Those options of a command that concern its host. */
interface CommandHostOptions {
  readonly openUrl?: OpenUrl;
  readonly roots?: readonly Root[];
  readonly model?: Model;
  readonly connection?: { readonly clock?: Clock };
}

/** The host of a command. */
export function commandHost(
  options: CommandHostOptions,
  console: Console,
  answers: PreparedAnswers,
): Required<Host> {
  const now = (): number => (options.connection?.clock ?? systemClock).now();
  const host = terminalHost({
    console,
    openUrl: options.openUrl ?? openInBrowser,
    roots: options.roots ?? [],
    model: options.model,
    now,
  });
  const prepared = withPreparedAnswers(
    host,
    answers,
    (ask: Ask, context: AskContext, answer: unknown) => {
      console.say(heading(ask.key, context, now()));
      console.say(question(ask));
      console.say(`  Answered as prepared: ${printableLine(JSON.stringify(answer))}`);
    },
  );
  return tellingUnanswered(prepared, (ask) => sayOpen(console, ask));
}

/** `host`, but `onUnanswered` hears of what nobody answered on a call that can't wait: there is no outcome that would list it. */
function tellingUnanswered(host: Required<Host>, onUnanswered: (ask: Ask) => void): Required<Host> {
  const telling =
    <A extends Ask, R extends { readonly action: string }>(
      gate: (ask: A, context: AskContext) => Promise<R>,
    ) =>
    async (ask: A, context: AskContext): Promise<R> => {
      const reply = await gate(ask, context);
      const isLeft = reply.action === "later" && !context.canWait && !context.signal.aborted;
      if (isLeft) onUnanswered(ask);
      return reply;
    };
  return {
    form: telling((ask, context) => host.form(ask, context)),
    url: telling((ask, context) => host.url(ask, context)),
    sample: telling((ask, context) => host.sample(ask, context)),
    roots: telling((ask, context) => host.roots(ask, context)),
    completed: (ask, context) => host.completed(ask, context),
  };
}

/** Prints a question that nobody answered, and how to answer it from a script. */
export function sayOpen(console: Console, ask: Ask): void {
  console.say(`Open question "${printableLine(ask.key)}":\n${question(ask)}`);
  console.say(`  Answer it with --answer ${printableLine(ask.key)}=${exampleAnswer(ask)}`);
}
