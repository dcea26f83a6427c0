/**
 * The kinds of questions: how each goes on the wire, and what an answer must be to count.
 *
 * `read` decides usability: undefined means that the answer is missing or unusable, and the question is asked again under
 * the same key (docs/design.md 3.7). An answer that `read` accepts once is accepted on every replay, because the
 * question's digest is compared first.
 */
import { RepriseError } from "@reprise/errors";
import {
  type AnswerTaken,
  type ClientError,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "@reprise/journal";
import {
  type AskWire,
  elicitFormRequest,
  elicitUrlRequest,
  rootsRequest,
  sampleRequest,
} from "@reprise/protocol";
import type {
  ElicitOutcome,
  ElicitUrlOutcome,
  Root,
  SampleParams,
  SampleResult,
} from "./contextTypes.ts";
import { canonicalJson, digestOf, sha256 } from "./digest.ts";
import type { Form } from "./form.ts";
import { memberOf } from "./schema.ts";
import { AskDeclinedError } from "./stepErrors.ts";

/** "User rejected sampling request" (MCP 2025-11-25, sampling, "Error Handling"). */
const USER_REJECTED = -1;

/** The kind of an ask; also the key that one ask of the kind may have by default. */
export type AskKind = "confirm" | "elicit" | "elicitUrl" | "sample" | "listRoots";

/** The page of a URL ask. */
export interface AskedPage {
  /** Stable for the ask; what completes it. */
  readonly id: string;
  /** Whether the URL was made with the id: nobody can complete another one. */
  readonly completable: boolean;
  /** How long an accept waits for the page. */
  readonly waitMs: number;
}

/** One question, and how its answer is read. */
export interface Ask<T> {
  readonly kind: AskKind;
  readonly key: string;
  readonly wire: AskWire;
  /** Digest of the exact question: kind, message, schema, URL. */
  readonly question: string;
  /** What a person reads, for errors that show questions. */
  readonly text: string;
  /** Of a URL ask: the page that goes with it. */
  readonly page?: AskedPage;
  /** The answer as a value; undefined when it can't be used. @param page of a URL ask: what became of its page */
  read(
    answer: JsonValue,
    page?: AnswerTaken["page"],
  ): Promise<{ readonly value: T } | undefined> | { readonly value: T } | undefined;
  /** Whether the answer says no. */
  refused(answer: JsonValue): boolean;
}

/** Whether the client's error says that the person refused, which is an answer like any other refusal. */
export function isDeclined({ kind }: Pick<Ask<unknown>, "kind">, { code }: ClientError): boolean {
  return kind === "sample" && code === USER_REJECTED;
}

/** What the handler gets for a question that the client answered with an error. */
export function clientFailure(
  asked: Pick<Ask<unknown>, "kind" | "key">,
  error: ClientError,
): Error {
  const { key } = asked;
  if (isDeclined(asked, error)) return new AskDeclinedError(key);
  const { code: rpcCode, message } = error;
  return new RepriseError(
    "CLIENT_CANNOT_ANSWER",
    `the client answered the question "${key}" with an error: ${message}`,
    { data: { key, rpcCode, message } },
  );
}

const actions = ["accept", "decline", "cancel"] as const;
type Action = (typeof actions)[number];

function actionOf(answer: JsonValue): Action | undefined {
  if (!isJsonObject(answer)) return undefined;
  const action = memberOf(answer, "action");
  return actions.find((known) => known === action);
}

function ask<T>(
  kind: AskKind,
  key: string,
  wire: AskWire,
  text: string,
  read: Ask<T>["read"],
  refused: Ask<T>["refused"],
  question: string = digestOf({ kind, ...wire } as JsonObject),
): Ask<T> {
  return { kind, key, wire, text, read, refused, question };
}

const confirmSchema: JsonObject = {
  type: "object",
  properties: { confirm: { type: "boolean" } },
  required: ["confirm"],
};

// The canonical text of a confirm, in two halves around its message: the most frequent question needs no canonicalization.
const [beforeMessage = "", afterMessage = ""] = canonicalJson({
  kind: "confirm",
  ...elicitFormRequest("", confirmSchema),
} as JsonObject).split('""');

/** The digest that `digestOf` gives for a confirm. */
function confirmDigest(message: string): string {
  return sha256(`${beforeMessage}${JSON.stringify(message)}${afterMessage}`);
}

function confirmed(answer: JsonValue): boolean | undefined {
  const content = isJsonObject(answer) ? memberOf(answer, "content") : undefined;
  const value =
    content !== undefined && isJsonObject(content) ? memberOf(content, "confirm") : undefined;
  return typeof value === "boolean" ? value : undefined;
}

/** Yes or no. The value tells cancel apart, for `onCancel`. */
export function confirmAsk(key: string, message: string): Ask<boolean | "cancel"> {
  return ask<boolean | "cancel">(
    "confirm",
    key,
    elicitFormRequest(message, confirmSchema),
    message,
    (answer) => {
      const action = actionOf(answer);
      if (action === undefined) return undefined;
      if (action === "cancel") return { value: "cancel" };
      if (action === "decline") return { value: false };
      const value = confirmed(answer);
      return value === undefined ? undefined : { value };
    },
    (answer) => actionOf(answer) !== "accept" || confirmed(answer) === false,
    confirmDigest(message),
  );
}

/** A form. */
export function elicitAsk(key: string, message: string, form: Form): Ask<ElicitOutcome<unknown>> {
  return ask<ElicitOutcome<unknown>>(
    "elicit",
    key,
    elicitFormRequest(message, form.requestedSchema),
    message,
    async (answer) => {
      const action = actionOf(answer);
      if (action === undefined) return undefined;
      if (action !== "accept") return { value: { action } };
      const content = memberOf(answer as JsonObject, "content");
      if (!isJsonObject(content)) return undefined;
      const checked = await form.check(content);
      return checked.ok ? { value: { action, content: checked.value } } : undefined;
    },
    (answer) => actionOf(answer) !== "accept",
  );
}

/** A page to visit. */
export function elicitUrlAsk(
  key: string,
  message: string,
  url: string,
  page: AskedPage,
): Ask<ElicitUrlOutcome> {
  refuseUnsafeUrl(url, key);
  const asked = ask<ElicitUrlOutcome>(
    "elicitUrl",
    key,
    elicitUrlRequest(message, url),
    `${message} ${url}`,
    (answer, done) => {
      const action = actionOf(answer);
      if (action === undefined) return undefined;
      if (action !== "accept") return { value: { action } };
      return { value: { action, ...(done ?? { completed: false }) } };
    },
    (answer) => actionOf(answer) !== "accept",
  );
  return { ...asked, page };
}

/** Whether the person agreed to visit the page. */
export function isAccept(answer: JsonValue): boolean {
  return actionOf(answer) === "accept";
}

/** The same URL ask in words for somebody who has agreed to it already. */
export function stillWaiting({ method, params }: AskWire): AskWire {
  const words = params?.["message"];
  const message = `${typeof words === "string" ? words : ""} (Still waiting for the page to be completed.)`;
  return { method, params: { ...params, message } };
}

const loopback = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

function refuseUnsafeUrl(url: string, key: string): void {
  const refuse = (why: string): never => {
    throw new RepriseError("URL_REFUSED", `ask "${key}": the URL ${why}`, { data: { key } });
  };
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return refuse("is no absolute URL");
  }
  if (parsed.username !== "" || parsed.password !== "")
    return refuse("has user information, which hides the real host");
  if (parsed.protocol === "https:") return undefined;
  if (parsed.protocol === "http:" && loopback.test(parsed.hostname)) return undefined;
  return refuse(`uses ${parsed.protocol}; only https is safe off loopback`);
}

/** A model completion. */
export function sampleAsk(key: string, params: SampleParams): Ask<SampleResult> {
  const wireParams = JSON.parse(JSON.stringify(params)) as JsonObject;
  return ask(
    "sample",
    key,
    sampleRequest(wireParams),
    "a model completion",
    (answer) => {
      if (!isJsonObject(answer)) return undefined;
      const role = memberOf(answer, "role");
      const content = memberOf(answer, "content");
      const model = memberOf(answer, "model");
      const stopReason = memberOf(answer, "stopReason");
      if ((role !== "assistant" && role !== "user") || typeof model !== "string") return undefined;
      const items = Array.isArray(content) ? content : [content];
      if (
        content === undefined ||
        !items.every((item) => isJsonObject(item) && typeof memberOf(item, "type") === "string")
      )
        return undefined;
      const text = items.map(textOf).join("");
      return {
        value: {
          role,
          content,
          model,
          text,
          ...(typeof stopReason === "string" ? { stopReason } : {}),
        },
      };
    },
    () => false,
  );
}

function textOf(item: JsonValue | undefined): string {
  if (item === undefined || !isJsonObject(item) || memberOf(item, "type") !== "text") return "";
  const text = memberOf(item, "text");
  return typeof text === "string" ? text : "";
}

/** The client's roots. */
export function rootsAsk(key: string): Ask<readonly Root[]> {
  return ask(
    "listRoots",
    key,
    rootsRequest(),
    "the client's roots",
    (answer) => {
      const roots = isJsonObject(answer) ? memberOf(answer, "roots") : undefined;
      if (!Array.isArray(roots)) return undefined;
      const read = roots.map(rootOf);
      return read.every((root) => root !== undefined) ? { value: read } : undefined;
    },
    () => false,
  );
}

function rootOf(item: JsonValue): Root | undefined {
  if (!isJsonObject(item)) return undefined;
  const uri = memberOf(item, "uri");
  const name = memberOf(item, "name");
  if (typeof uri !== "string") return undefined;
  return typeof name === "string" ? { uri, name } : { uri };
}
