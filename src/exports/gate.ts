// `sallyport/gate`: hooks for a worker, and the same gate around tools in an agent's own process.
export { createGate } from '../compose/create-gate.ts';
export type { ApprovalDecision, Asker, Resolution, Severity } from '../domain/policy/approval.ts';
export type { ArgumentChange } from '../domain/call/argument-change.ts';
export type { DiagnosticEvent, DiagnosticEventOf, EventKind } from '../domain/events/diagnostic-event.ts';
export { PlaneError } from '../domain/errors/errors.ts';
export type {
  AfterToolCall,
  ApprovalRequest,
  ApprovalResolved,
  BeforeAnswer,
  BeforeToolCall,
  HookContext,
  HookedTool,
  HookEventName,
  HookFailed,
  HookFailure,
  HookHealth,
  HookMatch,
  ObservedBlock,
  ObservedOutcome,
  ResultAnswer,
  ResultBlock,
  ResultOutcome,
  ToolResultCall,
} from '../domain/policy/hook.ts';
export type { JsonObject, JsonValue } from '../base/json.ts';
export type { LoopBudgets, LoopOptions, LoopPolicy, LoopLevels } from '../domain/policy/loop-settings.ts';
export type { ArgumentCondition, AskOptions, Rule, RuleVerdict } from '../domain/policy/rule.ts';
export type { Identity } from '../domain/identity/session.ts';
export type { CommandHookSource } from '../gate/hooks/command-hook.ts';
export {
  defineHooks,
  type AfterHookDefinition,
  type BeforeHookDefinition,
  type HookDefinition,
  type HookPlugin,
  type ResolvedHookDefinition,
  type ResultHookDefinition,
} from '../gate/hooks/define-hooks.ts';
export type { HookCatalog } from '../gate/hooks/find-match-problems.ts';
export type { HookSet } from '../gate/hooks/hook-set.ts';
export { loadHooks, type FileHookSource, type HookSource } from '../gate/hooks/load-hooks.ts';
export {
  fromOpenClaw,
  type FromOpenClawOptions,
  type OpenClawAnswer,
  type OpenClawApproval,
  type OpenClawContext,
  type OpenClawEvent,
  type OpenClawHandler,
} from '../gate/hooks/from-openclaw.ts';
export { adviceOf } from '../gate/wrap/add-advice.ts';
export type { Gate } from '../gate/wrap/create-gate.ts';
export type { GateOptions, RunOptions, TraceOfHost, WrapAllOptions, WrapOptions } from '../gate/wrap/gate-options.ts';
export { GateBlocked } from '../gate/wrap/gate-blocked.ts';
export type { GateAnswer, GateApprover, GatePolicy, GateQuestion, GateReceipt } from '../gate/wrap/gate-parts.ts';
export { toolIdOf } from '../gate/wrap/tool-id.ts';
export { isWrapped } from '../gate/wrap/wrap-tool.ts';
export type { DiagnosticListener, DiagnosticSubscription } from '../domain/ports/events.ts';
