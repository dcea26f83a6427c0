/**
 * `reprise/client`: the host side.
 */
export type {
  AnyResult,
  Ask,
  AskContext,
  CallOptions,
  ConnectOptions,
  FormAsk,
  FormReply,
  Host,
  HostClient,
  Outcome,
  Refusal,
  RootsAsk,
  RootsReply,
  SampleAsk,
  SampleReply,
  SavedCall,
  ServerIdentity,
  UrlAsk,
  UrlReply,
} from "@reprise/client";
export { connect, parseSavedCall, reviewUrl } from "@reprise/client";
