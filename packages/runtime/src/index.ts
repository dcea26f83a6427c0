export type { Caller, ClientIdentity } from "./caller.ts";
export { anonymous } from "./caller.ts";
export type { Change } from "./changes.ts";
export { checkedHistory } from "./checkedHistory.ts";
export type { Clock } from "./clock.ts";
export { pause, systemClock } from "./clock.ts";
export type {
  AskOptions,
  ConfirmOptions,
  Context,
  ElicitOptions,
  ElicitOutcome,
  ElicitUrlOptions,
  ElicitUrlOutcome,
  OnUncertain,
  Root,
  RunState,
  SampleParams,
  SampleResult,
  StepContext,
  StepOptions,
  StepRetry,
  UndoContext,
  UndoStep,
} from "./contextTypes.ts";
export type {
  Complete,
  Duration,
  Effects,
  HandlerOptions,
  Idempotency,
  Needs,
  PromptDefinition,
  ResourceDefinition,
  ResourceReturn,
  ResourceTemplateDefinition,
  ServerDefinition,
  TemplateArgs,
  ToolDefinition,
  ToolReturn,
} from "./definition.ts";
export { defineServer, prompt, resource, resourceTemplate, tool } from "./definition.ts";
export type {
  CallReply,
  Dispatcher,
  Executor,
  HandlerName,
  QueuedJob,
  RemoteCall,
  RunJob,
  Sender,
} from "./dispatcher.ts";
export { durationMs } from "./duration.ts";
export type { Completion, ElicitationCompleter } from "./elicitations.ts";
export type { EndedLately } from "./endedRuns.ts";
export { createRuntime } from "./engine.ts";
export type { HistoryChunk } from "./historyChunks.ts";
export { chunksOf, eventsIn } from "./historyChunks.ts";
export type { Listed, PageSource, Reading } from "./historyLists.ts";
export {
  COUNTED,
  dateOf,
  entryOf,
  listName,
  listsOf,
  MAX_ROWS,
  OPEN_SINCE,
  readPage,
  timeOf,
} from "./historyLists.ts";
export type {
  Attention,
  AuditItem,
  HistoryCounts,
  HistoryPage,
  HistoryQuery,
  HistoryStore,
  InstanceInfo,
  RunSummary,
} from "./historyPort.ts";
export { HISTORY_MS, MAX_EVENTS_PER_RUN, MAX_HISTORY_PAGE } from "./historyPort.ts";
export {
  AUDIT_MS,
  byRun,
  checkAudit,
  checkAudits,
  checkInstance,
  INSTANCE_MS,
  isRunId,
  keptOf,
  MAX_RECORDED,
} from "./historyRules.ts";
export type { KeptHistory } from "./historySummary.ts";
export { historyAfter } from "./historySummary.ts";
export type { LiveMember } from "./liveSet.ts";
export { LiveSet } from "./liveSet.ts";
export type { Logger, LogLine } from "./logger.ts";
export { silentLogger } from "./logger.ts";
export { NoticeListeners } from "./noticeListeners.ts";
export type {
  AskKind,
  AttemptCause,
  AttemptEnd,
  NewsOf,
  RefusedState,
  RunEvent,
  RunFacts,
  RunNews,
  RunObserver,
  StepEnd,
} from "./observer.ts";
export type { StoreOperatorOptions } from "./operator.ts";
export { storeOperator } from "./operator.ts";
export type { FinishOptions, OperatorOutcome, RunOperator } from "./operatorPort.ts";
export { createProcessRecords } from "./processRecords.ts";
export type { RateLimit } from "./rateLimit.ts";
export { CallerError } from "./results.ts";
export type {
  BroughtAnswer,
  KeyRecord,
  Lease,
  PendingAsk,
  RecordedResponse,
  RunHead,
  RunOrigin,
  RunRecord,
  RunStatus,
  RunUndo,
  SettledAnswer,
  StepMark,
  Waiter,
} from "./runRecord.ts";
export {
  ATTENTION_RETENTION_MS,
  DEFAULT_RETENTION_MS,
  MAX_TAKEOVERS,
  MISMATCH_GRACE_MS,
  RECORD_FORMAT,
} from "./runRecord.ts";
export type { RuntimeOptions } from "./runtimeOptions.ts";
export type {
  ArgsCheck,
  CancelOptions,
  CancelOutcome,
  Catalog,
  CompiledHandler,
  HeaderParam,
  NotificationSink,
  RunMethod,
  RunReply,
  RunRequest,
  Runtime,
} from "./runtimeTypes.ts";
export type {
  AnySchema,
  JsonSchema,
  OutputOf,
  SchemaIssue,
  StandardSchema,
} from "./schemaTypes.ts";
export type { Server, ServerControls } from "./served.ts";
export { attach } from "./served.ts";
export type {
  LogItem,
  LogLimits,
  LogPart,
  SharedKey,
  SharedRecord,
  SharedRecords,
} from "./sharedRecords.ts";
export {
  checkAppended,
  checkExpiry,
  checkNotice,
  checkPart,
  sharedName,
  sharedText,
} from "./sharedRules.ts";
export type { OpenReply, StateBinding, StateSealer } from "./stateTokens.ts";
export {
  AskCancelledError,
  AskDeclinedError,
  notDone,
  ReadError,
  StepError,
  UncertainStepError,
} from "./stepErrors.ts";
export type {
  AttemptRef,
  CancelReply,
  CancelRun,
  ClaimCommon,
  ClaimFirst,
  ClaimKnown,
  ClaimQueued,
  ClaimReply,
  ClaimRound,
  CreateReply,
  CreateRun,
  EndReason,
  FinishRun,
  LeaveReply,
  OperateReply,
  Progress,
  QueuedClaimReply,
  RetryRun,
  RoundEnd,
  RunStore,
  StopReason,
  StoreHealth,
  TransitionReply,
} from "./storePort.ts";
export { isSuspension } from "./suspension.ts";
export type { Switch } from "./switches.ts";
export { cancel } from "./transitions/cancel.ts";
export { claimKnown, claimRound } from "./transitions/claim.ts";
export { createRun } from "./transitions/create.ts";
export type { RunWrite, StoredRun, Transition, TransitionEnv } from "./transitions/env.ts";
export { claimFirst } from "./transitions/firstCall.ts";
export { keyAfter } from "./transitions/keyRecord.ts";
export { finish, retry } from "./transitions/operate.ts";
export { append, endRound, leave, renew } from "./transitions/progress.ts";
export { claimQueued } from "./transitions/queue.ts";
export { release } from "./transitions/release.ts";
export { hasUndoable, isOverdue, stopOf } from "./transitions/undo.ts";
export type {
  ClientCapabilities,
  ContentAnnotations,
  ContentBlock,
  Icon,
  LogLevel,
  PromptMessage,
  PromptResult,
  ResourceContents,
  ResourceResult,
  ToolAnnotations,
  ToolResult,
} from "./wireTypes.ts";
