export { connect, type ConnectOptions } from '../compose/connect.ts';
export type { Actor, ActorSurface } from '../domain/actor.ts';
export type { Approvals } from '../client/approvals.ts';
export type { Approver } from '../client/approver.ts';
export type { CallAnswer, CallInput, CallOptions, Client, RedirectTarget } from '../client/client.ts';
export type { Decision } from '../client/decide-request.ts';
export type { Grants } from '../client/grants.ts';
export type { OpenRunOptions } from '../client/client.ts';
export type { OpenSessionOptions } from '../client/open-session.ts';
export type { SessionToolkit } from '../client/session-toolkits.ts';
export type {
  Completion,
  CompletionAnswer,
  CompletionRequest,
  PromptAnswer,
  PromptView,
  ReadAnswer,
  ResourceView,
  ShownMessage,
  Surfaces,
} from '../client/surfaces.ts';
export type {
  Approval,
  ApprovalDecision,
  ApprovalId,
  ApprovalQuestion,
  ApprovalState,
  Grant,
  GrantId,
  Principal,
  Resolution,
  Severity,
} from '../domain/approval.ts';
export type { CallEvent } from '../domain/call-event.ts';
export type { Catalog, PublishedTool } from '../domain/catalog.ts';
export type {
  ContentBlock,
  FileWriteBack,
  InjectedTool,
  ResourceBlock,
  RichMessage,
  WriteBacks,
} from '../domain/content.ts';
export type { DiagnosticEvent, DiagnosticEventOf, EventKind } from '../domain/diagnostic-event.ts';
export type { AgentInput, AgentsInput, DeclaredAgents, DeclareOptions } from '../domain/declared-agents.ts';
export { PlaneError } from '../domain/errors.ts';
export type { InputKind, InputRequest, InputRequests, RequiredInput, SampleMessage } from '../domain/input.ts';
export type { ModuleDeclaration } from '../domain/module.ts';
export type { GrantOptions } from '../gate/approvals/grants.ts';
export { outcomeText } from '../domain/outcome-text.ts';
export { pendingText } from '../domain/pending-text.ts';
export { renderQuestion, type RenderedQuestion, type RenderOptions } from '../gate/approvals/render-question.ts';
export type { Executed, Outcome, OutcomeError, OutcomeKind } from '../domain/outcome.ts';
export type { AgentDeclaration, SelectionInput } from '../domain/selection.ts';
export type { SessionHandle } from '../domain/session.ts';
export type { PromptArgument, PromptSurface, ResourceSurface, Surface } from '../domain/surface.ts';
export type { ToolDeclaration } from '../domain/tool.ts';
export type { MissingReason, MissingTool } from '../domain/toolkit.ts';
export type { DecideAnswer, RevealAnswer } from '../ports/approval-store.ts';
export type { DiagnosticListener, DiagnosticSubscription, EventSource } from '../ports/events.ts';
