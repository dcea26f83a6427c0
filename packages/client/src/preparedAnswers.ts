/**
 * Answers that were given before the questions: `--answer key=json`.
 *
 * Called by the terminal host's commands. A prepared answer is used for the first question under its key and no second time: a
 * server that asks again did not take it, and to repeat it would only use up the rounds. It is the person's explicit word, so no
 * gate is shown for it; it still has to fit the question, and a URL that must not be opened stays refused.
 */
import type { CreateMessageResult, Root } from "@modelcontextprotocol/client";
import { isSpecType } from "@modelcontextprotocol/client";
import { RepriseError } from "@reprise/errors";
import { contentFromJson } from "./formValues.ts";
import type {
  Ask,
  AskContext,
  FormAsk,
  FormReply,
  Host,
  RootsAsk,
  RootsReply,
  SampleAsk,
  SampleReply,
  UrlAsk,
  UrlReply,
} from "./host.ts";
import { byHand } from "./terminalSample.ts";

/** Answers by key, as parsed JSON. */
export type PreparedAnswers = Map<string, unknown>;

/** Reads `key=json` entries. ANSWER_UNUSABLE for a missing `=`, what is not JSON, and a key given twice. */
export function parseAnswers(entries: readonly string[]): PreparedAnswers {
  const answers: PreparedAnswers = new Map();
  for (const entry of entries) {
    const split = entry.indexOf("=");
    const key = entry.slice(0, Math.max(split, 0));
    if (key === "") throw unusable(entry, "give it as key=json");
    if (answers.has(key)) throw unusable(key, "it is given twice");
    answers.set(key, parseJson(key, entry.slice(split + 1)));
  }
  return answers;
}

/**
 * `host`, but answers that are prepared are taken from `answers`, which loses them. `onUse` is told of each question that got
 * one, before it is sent. Declares what `host` declares.
 */
export function withPreparedAnswers(
  host: Required<Host>,
  answers: PreparedAnswers,
  onUse: (ask: Ask, context: AskContext, answer: unknown) => void,
): Required<Host> {
  const taken = <A extends Ask, R>(
    read: (ask: A, value: unknown) => R,
    otherwise: (ask: A, context: AskContext) => Promise<R>,
  ): ((ask: A, context: AskContext) => Promise<R>) => {
    return async (ask, context) => {
      if (!answers.has(ask.key)) return await otherwise(ask, context);
      const value = answers.get(ask.key);
      answers.delete(ask.key);
      const reply = read(ask, value);
      onUse(ask, context, value);
      return reply;
    };
  };
  return {
    form: taken(formReply, (ask, context) => host.form(ask, context)),
    url: taken(urlReply, (ask, context) => host.url(ask, context)),
    sample: taken(sampleReply, (ask, context) => host.sample(ask, context)),
    roots: taken(rootsReply, (ask, context) => host.roots(ask, context)),
    completed: (ask, context) => host.completed(ask, context),
  };
}

/**
 * `{"action": ...}` says it all; any other object is the content; a bare value is that of the only field. A content whose only
 * members are `action` and `content` is read as the reply: in doubt nothing is accepted.
 */
function formReply(ask: FormAsk, value: unknown): FormReply {
  const action = isObject(value) ? value["action"] : undefined;
  if (action === "decline" || action === "cancel") return { action };
  if (action === "accept" && isObject(value)) return accepted(ask, value["content"] ?? {});
  return accepted(ask, value);
}

function accepted(ask: FormAsk, value: unknown): FormReply {
  const [only, ...others] = ask.fields;
  const json =
    !isObject(value) && only !== undefined && others.length === 0 ? { [only.name]: value } : value;
  if (!isObject(json)) {
    throw unusable(
      ask.key,
      `give an object with ${ask.fields.map((field) => field.name).join(", ")}`,
    );
  }
  const { content, problems } = contentFromJson(ask.fields, json);
  if (problems.length > 0) throw unusable(ask.key, problems.join("; "));
  return { action: "accept", content };
}

function urlReply({ key, url }: UrlAsk, value: unknown): UrlReply {
  // The gates refuse it as well; here the words tell what to give instead.
  if (url.refusal !== undefined && isObject(value) && value["action"] === "accept") {
    throw unusable(key, `the page must not be opened. ${url.refusal.replace(/\.$/, "")}`);
  }
  const action = isObject(value) ? value["action"] : undefined;
  if (action === "accept" || action === "decline" || action === "cancel") return { action };
  throw unusable(
    key,
    'a page is to be visited: give {"action":"accept"}, "decline" or "cancel" there',
  );
}

function sampleReply({ key }: SampleAsk, value: unknown): SampleReply {
  if (typeof value === "string") return { action: "accept", result: byHand(value) };
  if (isObject(value) && value["action"] === "refuse") return { action: "refuse" };
  if (isSpecType.CreateMessageResult(value)) {
    return { action: "accept", result: value as CreateMessageResult };
  }
  throw unusable(key, 'a model\'s answer is wanted: give a text, a result, or {"action":"refuse"}');
}

function rootsReply({ key }: RootsAsk, value: unknown): RootsReply {
  if (isObject(value) && value["action"] === "refuse") return { action: "refuse" };
  if (Array.isArray(value) && value.every((root) => isSpecType.Root(root))) {
    return { action: "accept", roots: value as Root[] };
  }
  throw unusable(key, 'folders are wanted: give [{"uri":"file:///..."}], or {"action":"refuse"}');
}

function parseJson(key: string, json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw new RepriseError("ANSWER_UNUSABLE", `The answer to "${key}" is not JSON: ${json}`, {
      cause,
    });
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unusable(key: string, why: string): RepriseError {
  return new RepriseError("ANSWER_UNUSABLE", `The answer "${key}" can't be used: ${why}.`, {
    data: { key },
  });
}
