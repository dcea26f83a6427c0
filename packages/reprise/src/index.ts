/**
 * What users install: the authoring API and `serve`.
 */
export type { ErrorCode } from "@reprise/errors";
export { isRepriseError, RepriseError } from "@reprise/errors";
export type {
  Authenticate,
  AuthOutcome,
  AuthRequest,
  BearerAuth,
  BearerAuthOptions,
  ProtectedResource,
} from "@reprise/front";
export { createBearerAuth } from "@reprise/front";
export type {
  AnySchema,
  Caller,
  ClientIdentity,
  Complete,
  Completion,
  ContentBlock,
  Context,
  Duration,
  Effects,
  ElicitOutcome,
  ElicitUrlOptions,
  ElicitUrlOutcome,
  Idempotency,
  JsonSchema,
  LogLevel,
  Needs,
  OnUncertain,
  PromptDefinition,
  PromptMessage,
  PromptResult,
  ResourceContents,
  ResourceDefinition,
  ResourceResult,
  ResourceTemplateDefinition,
  Root,
  RunState,
  SampleParams,
  SampleResult,
  Server,
  ServerDefinition,
  StandardSchema,
  StepContext,
  StepOptions,
  StepRetry,
  ToolAnnotations,
  ToolDefinition,
  ToolResult,
  ToolReturn,
  UndoContext,
  UndoStep,
} from "@reprise/runtime";
export {
  AskCancelledError,
  AskDeclinedError,
  CallerError,
  defineServer,
  isSuspension,
  notDone,
  prompt,
  ReadError,
  resource,
  resourceTemplate,
  StepError,
  tool,
  UncertainStepError,
} from "@reprise/runtime";
export type { ServedServer, ServeOptions } from "./serve.ts";
export { serve } from "./serve.ts";
