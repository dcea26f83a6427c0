/**
 * The gates between a server's questions and its answers: every answer of a round passes through here, and nowhere else.
 *
 * Called by the call loop; calls the host. It holds a host to what can be checked:
 *
 * 1. Asks are put to the host one at a time, in the server's order; a key answered before (a resumed call) is not asked again.
 * 2. An accepted form fits its schema (ANSWER_UNUSABLE otherwise), so a host's slip does not become an answer.
 * 3. A URL that the review refuses is never accepted, whatever the host says.
 * 4. "later" and "refuse" produce no answer. A refusal ends the round at once; after a "later" the other asks are still put
 *    (prepared answers may be there for them), and a person who wants to stop says "later" to each.
 */
import type { InputResponse } from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import { formProblems } from "./formValues.ts";
import type { Ask, AskContext, FormAsk, FormReply, Host, UrlAsk, UrlReply } from "./host.ts";

/** What came of putting a round's asks to the host. */
export type Gathered =
  | { readonly status: "answered" }
  | { readonly status: "later"; readonly open: readonly Ask[] }
  | { readonly status: "refused"; readonly ask: Ask };

/** A host's reply: an answer for the wire, or why there is none. */
type Reply = { readonly answer: InputResponse } | { readonly none: "later" | "refuse" };

/**
 * Puts those of `asks` that `answers` lacks to the host and adds its answers to `answers`. After each one `onAnswer` is
 * awaited, so that a saved call keeps what a person took the trouble to fill in.
 */
export async function gather(
  host: Host,
  asks: readonly Ask[],
  answers: Map<string, InputResponse>,
  context: AskContext,
  onAnswer: () => Promise<void>,
): Promise<Gathered> {
  const open: Ask[] = [];
  for (const ask of asks) {
    if (answers.has(ask.key)) continue;
    const reply = await put(host, ask, context);
    if ("answer" in reply) {
      answers.set(ask.key, reply.answer);
      await onAnswer();
    } else if (reply.none === "refuse") {
      return { status: "refused", ask };
    } else {
      open.push(ask);
    }
  }
  return open.length === 0 ? { status: "answered" } : { status: "later", open };
}

async function put(host: Host, ask: Ask, context: AskContext): Promise<Reply> {
  switch (ask.kind) {
    case "form":
      if (host.form === undefined) throw undeclared(ask);
      return formAnswer(ask, await host.form(ask, context));
    case "url":
      if (host.url === undefined) throw undeclared(ask);
      return urlAnswer(ask, await host.url(ask, context));
    case "sample": {
      if (host.sample === undefined) throw undeclared(ask);
      const reply = await host.sample(ask, context);
      return reply.action === "accept" ? { answer: reply.result } : { none: reply.action };
    }
    case "roots": {
      if (host.roots === undefined) throw undeclared(ask);
      const reply = await host.roots(ask, context);
      return reply.action === "accept"
        ? { answer: { roots: [...reply.roots] } }
        : { none: reply.action };
    }
  }
}

function formAnswer(ask: FormAsk, reply: FormReply): Reply {
  if (reply.action === "later") return { none: "later" };
  if (reply.action !== "accept") return { answer: { action: reply.action } };
  const problems = formProblems(ask.fields, reply.content);
  if (problems.length > 0) {
    throw new RepriseError(
      "ANSWER_UNUSABLE",
      `The answer to "${ask.key}" does not fit the form: ${problems.join("; ")}.`,
      { data: { key: ask.key, problems } },
    );
  }
  const content = [...reply.content].map(
    ([name, value]) => [name, Array.isArray(value) ? [...value] : value] as const,
  );
  return {
    answer: { action: "accept", content: Object.fromEntries(content) } as InputResponse,
  };
}

function urlAnswer(ask: UrlAsk, reply: UrlReply): Reply {
  if (reply.action === "later") return { none: "later" };
  if (reply.action === "accept" && ask.url.refusal !== undefined) {
    throw new RepriseError(
      "ANSWER_UNUSABLE",
      `The page of "${ask.key}" must not be opened: ${ask.url.refusal}`,
      { data: { key: ask.key } },
    );
  }
  return { answer: { action: reply.action } };
}

// The server broke the rule to ask only what the client declared.
function undeclared(ask: Ask): RepriseError {
  return new RepriseError(
    "CLIENT_CANNOT_ANSWER",
    `The question "${ask.key}" is of a kind that this host did not declare.`,
    { data: { key: ask.key } },
  );
}
