/**
 * The host side of MCP: calls that may ask, gates for a person, saved calls, and a terminal host.
 */
export { ProtocolError } from "@modelcontextprotocol/client";
export type { Authorization } from "./authorization.ts";
export { openInBrowser } from "./browser.ts";
export { loadCallFile, removeCallFile, saveCallFile } from "./callFile.ts";
export { connect } from "./connect.ts";
export type { Era } from "./connection.ts";
export { exitCodes } from "./exitCodes.ts";
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
export { parseSavedCall } from "./savedCall.ts";
export type { RunCallOptions, TerminalOptions } from "./terminal.ts";
export { runCall, runResume } from "./terminal.ts";
export type { Model } from "./terminalSample.ts";
export type { OpenUrl } from "./terminalUrl.ts";
export type { Typed } from "./typed.ts";
export { readTyped } from "./typed.ts";
