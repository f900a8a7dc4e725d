export { connect, type ConnectOptions } from '../compose/connect.ts';
export type { Actor, ActorSurface } from '../domain/identity/actor.ts';
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
} from '../domain/policy/approval.ts';
export type { CallEvent } from '../domain/call/call-event.ts';
export type { Catalog, PublishedTool } from '../domain/tool/catalog.ts';
export type {
  ContentBlock,
  FileWriteBack,
  InjectedTool,
  ResourceBlock,
  RichMessage,
  WriteBacks,
} from '../domain/outcome/content.ts';
export type { DiagnosticEvent, DiagnosticEventOf, EventKind } from '../domain/events/diagnostic-event.ts';
export type { AgentInput, AgentsInput, DeclaredAgents, DeclareOptions } from '../domain/identity/declared-agents.ts';
export { PlaneError } from '../domain/errors/errors.ts';
export type { InputKind, InputRequest, InputRequests, RequiredInput, SampleMessage } from '../domain/call/input.ts';
export type { ModuleDeclaration } from '../domain/tool/module.ts';
export type { GrantOptions } from '../gate/approvals/grants.ts';
export { outcomeText } from '../domain/outcome/outcome-text.ts';
export { pendingText } from '../domain/outcome/pending-text.ts';
export { renderQuestion, type RenderedQuestion, type RenderOptions } from '../gate/approvals/render-question.ts';
export type { Executed, Outcome, OutcomeError, OutcomeKind } from '../domain/outcome/outcome.ts';
export type { AgentDeclaration, SelectionInput } from '../domain/identity/selection.ts';
export type { SessionHandle } from '../domain/identity/session.ts';
export type { PromptArgument, PromptSurface, ResourceSurface, Surface } from '../domain/tool/surface.ts';
export type { ToolDeclaration } from '../domain/tool/tool.ts';
export type { MissingReason, MissingTool } from '../domain/tool/toolkit.ts';
export type { DecideAnswer, RevealAnswer } from '../domain/ports/approval-store.ts';
export type { DiagnosticListener, DiagnosticSubscription, EventSource } from '../domain/ports/events.ts';
