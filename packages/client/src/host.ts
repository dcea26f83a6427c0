/**
 * The Host port: how a program shows a server's questions to the person and brings back the answers.
 *
 * Implemented by hosts (the terminal one is in this package), called by the gates, once for each ask and one at a time, so
 * that two questions never share a screen. What a host leaves out is not declared as a capability, and the server then
 * cannot ask it. The duties of a host, which the protocol sets and no library can do for it:
 *
 * 1. Each question shows which server asks (`context.server`); its `name` is the server's own claim, `origin` is a fact.
 * 2. Decline and cancel are offered with every form and URL, refusal with every sampling and roots ask. Nothing is accepted
 *    by default: no Enter, no timeout, no end of input.
 * 3. A form is shown filled in, and can be changed, before `accept` is returned.
 * 4. The full URL is shown with its host highlighted and the review's warnings; nothing of it is fetched; it is opened in the
 *    system browser after an explicit yes only, and never when the review refuses it.
 * 5. A sampling prompt can be edited or refused, and the answer is shown before it is returned.
 * 6. Text that a server wrote is neutralised before it is printed (`printableText`).
 */
import type {
  CreateMessageRequestParams,
  CreateMessageResult,
  Root,
} from "@modelcontextprotocol/client";
import type { Field } from "./form.ts";
import type { FormContent } from "./formValues.ts";
import type { UrlReview } from "./reviewUrl.ts";

/** Who asks. */
export interface ServerIdentity {
  /** The endpoint that is called. */
  readonly url: string;
  /** Scheme, host and port of the endpoint: what can be relied on. */
  readonly origin: string;
  /** What the server calls itself. Unproven, and anybody's text. */
  readonly name?: string;
}

/** What a host knows about a question besides the question. */
export interface AskContext {
  readonly server: ServerIdentity;
  /** `tools/call`, `prompts/get` or `resources/read`. */
  readonly method: CallMethod;
  /** The tool, prompt or URI that was called. */
  readonly target: string;
  /** 1 for the questions that the first response brought. */
  readonly round: number;
  readonly maxInputRounds: number;
  /** Until when the server says it takes an answer (`_meta["reprise/answerBefore"]`); absent if it does not say. */
  readonly answerBefore?: Date;
  /**
   * Whether "later" leaves a call that can be resumed. False on servers of the handshake era, whose calls stay open for their
   * questions: there "later" gives the call up.
   */
  readonly canWait: boolean;
  /** Aborts when the call is given up, or the server takes the question back; a host should then return "later". */
  readonly signal: AbortSignal;
}

/** The methods whose result can be a question (MCP 2026-07-28, multi round-trip requests, "Supported Requests"). */
export type CallMethod = "tools/call" | "prompts/get" | "resources/read";

/** A form to fill in. */
export interface FormAsk {
  readonly kind: "form";
  readonly key: string;
  readonly message: string;
  readonly fields: readonly Field[];
}

/** A page to visit. */
export interface UrlAsk {
  readonly kind: "url";
  readonly key: string;
  readonly message: string;
  readonly url: UrlReview;
  /** Servers of 2025-11-25 name the visit, and may say that it came to its end (`Host.completed`). */
  readonly elicitationId?: string;
}

/** A model completion. Deprecated by MCP 2026-07-28 and still answered on every revision that has it. */
export interface SampleAsk {
  readonly kind: "sample";
  readonly key: string;
  readonly params: CreateMessageRequestParams;
}

/** A wish to know which folders the server may work in. Deprecated like sampling. */
export interface RootsAsk {
  readonly kind: "roots";
  readonly key: string;
}

/** One question of a server. */
export type Ask = FormAsk | UrlAsk | SampleAsk | RootsAsk;

/** The person has not answered and may do so later: the call stops here and can be resumed, if the context says `canWait`. */
export interface Later {
  readonly action: "later";
}

/**
 * The person says no to a sampling or roots ask. MCP 2026-07-28 has no such answer on the wire, and the call ends; on the
 * handshake era the server is told (-1), and the call goes on as it sees fit.
 */
export interface Refusal {
  readonly action: "refuse";
}

/** Answer to a form. `content` is checked against the form once more before it is sent. */
export type FormReply =
  | { readonly action: "accept"; readonly content: FormContent }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }
  | Later;

/** Answer to a URL ask: accept says that the person agreed to visit it, not that the visit came to its end. */
export type UrlReply =
  | { readonly action: "accept" }
  | { readonly action: "decline" }
  | { readonly action: "cancel" }
  | Later;

/** Answer to a sampling ask. */
export type SampleReply =
  | { readonly action: "accept"; readonly result: CreateMessageResult }
  | Refusal
  | Later;

/** Answer to a roots ask. */
export type RootsReply =
  | { readonly action: "accept"; readonly roots: readonly Root[] }
  | Refusal
  | Later;

/** What shows the questions. See the duties at the top of this file. A rejection ends the call and keeps it resumable. */
export interface Host {
  form?(ask: FormAsk, context: AskContext): Promise<FormReply>;
  url?(ask: UrlAsk, context: AskContext): Promise<UrlReply>;
  sample?(ask: SampleAsk, context: AskContext): Promise<SampleReply>;
  roots?(ask: RootsAsk, context: AskContext): Promise<RootsReply>;
  /** The server says that what the page was for is complete (2025-11-25). Comes before or after the answer to `ask`, or never. */
  completed?(ask: UrlAsk, context: AskContext): void;
}
