/**
 * `@reprise/client/browser`: the part of this package that a page can bundle. No file here or behind it imports from Node.
 */
export { ProtocolError } from "@modelcontextprotocol/client";
export { connect } from "./connectInBrowser.ts";
export type { Era } from "./connection.ts";
export type { Failure } from "./failure.ts";
export { failureOf } from "./failure.ts";
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  Field,
  FieldBase,
  NumberField,
  Option,
  TextField,
} from "./form.ts";
export { formFields } from "./form.ts";
export type { FieldValue, FormContent } from "./formValues.ts";
export { contentFromJson, formProblems, initialContent, problemOf } from "./formValues.ts";
export type {
  Ask,
  AskContext,
  CallMethod,
  FormAsk,
  FormReply,
  Host,
  Later,
  Refusal,
  RootsAsk,
  RootsReply,
  SampleAsk,
  SampleReply,
  ServerIdentity,
  UrlAsk,
  UrlReply,
} from "./host.ts";
export type { AnyResult, CallOptions, ConnectOptions, HostClient, Outcome } from "./hostClient.ts";
export { printableLine, printableText } from "./printable.ts";
export type { Clock, RetryPolicy } from "./retry.ts";
export type { UrlReview } from "./reviewUrl.ts";
export { reviewUrl } from "./reviewUrl.ts";
export type { CallRequest, PendingRound, SavedCall } from "./savedCall.ts";
export { newIdempotencyKey, parseSavedCall } from "./savedCall.ts";
