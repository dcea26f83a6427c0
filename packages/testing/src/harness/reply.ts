/**
 * What a call came to, as a test looks at it, and how a person answers it.
 *
 * Made by the harness. Answers are given as the person means them (`true`, a form's content, words) and become what a client sends.
 */
import type { JsonObject, JsonValue } from "@reprise/journal";
import type { RunReply } from "@reprise/runtime";

/** An open question. */
export interface Question {
  /** `elicitation/create`, `sampling/createMessage` or `roots/list`. */
  readonly method: string;
  /** What a person reads; undefined for roots. */
  readonly message: string | undefined;
  /** Where a URL ask leads. */
  readonly url: string | undefined;
  readonly params: JsonObject;
}

/** Sends the next request of the same call. Undefined answers: the same request as before. */
export type SendNext = (answers: JsonObject | undefined) => Promise<Reply>;

/** One reply of a call. */
export class Reply {
  /**
   * `asked`: questions are open. `returned`: the handler's result. `failed`: what it threw, told as a tool's error. `refused`: an
   * error with a code, and nothing was executed or its end is not known.
   */
  readonly status: "asked" | "returned" | "failed" | "refused";
  /** The open questions by key; none unless `asked`. */
  readonly questions: Readonly<Record<string, Question>>;
  /** All text of the result, or the message of a refusal. */
  readonly text: string;
  /** The result as it goes on the wire. */
  readonly result: JsonObject | undefined;
  /** The code of a refusal. */
  readonly code: string | undefined;
  readonly #next: SendNext;

  constructor(reply: RunReply, next: SendNext) {
    this.#next = next;
    this.questions = reply.kind === "input_required" ? questionsOf(reply.inputRequests) : {};
    this.result = reply.kind === "complete" ? reply.result : undefined;
    this.code = reply.kind === "error" ? reply.error.code : undefined;
    this.text = reply.kind === "error" ? reply.error.message : textOf(this.result);
    if (reply.kind === "complete") {
      this.status = reply.result["isError"] === true ? "failed" : "returned";
    } else this.status = reply.kind === "error" ? "refused" : "asked";
  }

  /**
   * Answers one question. `true` or `false` for a confirm, the content of a form, words or a whole message for a sample, a list
   * for roots; nothing for a URL that was opened.
   * @param key which; needed only when several are open
   * @throws Error when no such question is open
   */
  answer(value?: JsonValue, key?: string): Promise<Reply> {
    const [name, question] = this.#open(key);
    return this.#next({ [name]: accepted(question, value) });
  }

  /** Answers several questions at once, by key. @throws Error as `answer` does */
  answerAll(values: Readonly<Record<string, JsonValue>>): Promise<Reply> {
    const answers = Object.entries(values).map(([key, value]) => {
      const [name, question] = this.#open(key);
      return [name, accepted(question, value)] as const;
    });
    return this.#next(Object.fromEntries(answers));
  }

  /** The person says no. @throws Error as `answer` does */
  decline(key?: string): Promise<Reply> {
    return this.#next({ [this.#open(key)[0]]: { action: "decline" } });
  }

  /** The person closes the question without saying anything. @throws Error as `answer` does */
  cancel(key?: string): Promise<Reply> {
    return this.#next({ [this.#open(key)[0]]: { action: "cancel" } });
  }

  /** Sends the request of this reply again, as a client does that never got it. */
  repeat(): Promise<Reply> {
    return this.#next(undefined);
  }

  #open(key: string | undefined): readonly [name: string, question: Question] {
    const open = Object.keys(this.questions);
    const name = key ?? (open.length === 1 ? open[0] : undefined);
    const question = name === undefined ? undefined : this.questions[name];
    if (name !== undefined && question !== undefined) return [name, question];
    const what = open.length === 0 ? `none is open: ${this.status} ${this.text}` : open.join(", ");
    throw new Error(
      `${key === undefined ? "say which question" : `no question "${key}"`}; ${what}`,
    );
  }
}

/** What a client sends for a question on the wire, when the person's answer is `value`. */
export function acceptedAs(request: JsonObject, value: JsonValue): JsonObject {
  const question = questionsOf({ asked: request })["asked"];
  return question === undefined ? { action: "accept" } : accepted(question, value);
}

function questionsOf(
  requests: Readonly<Record<string, JsonObject>>,
): Readonly<Record<string, Question>> {
  const questions = Object.entries(requests).map(([key, { method, params }]) => {
    const given = (params ?? {}) as JsonObject;
    const said = given["message"] ?? sampleText(given);
    const question: Question = {
      method: typeof method === "string" ? method : "",
      message: typeof said === "string" ? said : undefined,
      url: typeof given["url"] === "string" ? given["url"] : undefined,
      params: given,
    };
    return [key, question] as const;
  });
  return Object.fromEntries(questions);
}

function sampleText(params: JsonObject): JsonValue | undefined {
  const last = (params["messages"] as readonly JsonObject[] | undefined)?.at(-1);
  return (last?.["content"] as JsonObject | undefined)?.["text"];
}

function accepted({ method, url }: Question, value: JsonValue | undefined): JsonObject {
  switch (method) {
    case "sampling/createMessage":
      return typeof value === "string"
        ? { role: "assistant", model: "test", content: { type: "text", text: value } }
        : (value as JsonObject);
    case "roots/list":
      return { roots: value ?? [] };
    default: {
      if (url !== undefined || value === undefined) return { action: "accept" };
      const content = typeof value === "boolean" ? { confirm: value } : value;
      return { action: "accept", content };
    }
  }
}

function textOf(result: JsonObject | undefined): string {
  const content = (result?.["content"] ?? []) as readonly JsonObject[];
  return content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n");
}
