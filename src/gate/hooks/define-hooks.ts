import type {
  AfterToolCall,
  ApprovalResolved,
  BeforeAnswer,
  BeforeToolCall,
  HookContext,
  HookMatch,
  ResultAnswer,
  ToolResultCall,
} from '../../domain/hook.ts';

interface HookOptions extends HookMatch {
  /** Its name in the plugin. Approvals remember who asked by it, so do not change it lightly. */
  readonly id: string;
  /** Higher is asked first; 0 without. */
  readonly priority?: number;
  /** It has so long to answer, then the call is blocked, or its result withheld. What the operator sets counts before it. */
  readonly timeoutMs?: number;
}

export interface BeforeHookDefinition extends HookOptions {
  readonly on: 'before_tool_call';
  run(
    call: BeforeToolCall,
    context: HookContext,
  ): BeforeAnswer | undefined | void | Promise<BeforeAnswer | undefined | void>;
}

export interface ResultHookDefinition extends HookOptions {
  readonly on: 'tool_result';
  run(
    call: ToolResultCall,
    context: HookContext,
  ): ResultAnswer | undefined | void | Promise<ResultAnswer | undefined | void>;
}

export interface AfterHookDefinition extends HookOptions {
  readonly on: 'after_tool_call';
  run(call: AfterToolCall, context: HookContext): unknown;
}

export interface ResolvedHookDefinition extends HookOptions {
  readonly on: 'approval_resolved';
  run(approval: ApprovalResolved, context: HookContext): unknown;
}

export type HookDefinition = BeforeHookDefinition | ResultHookDefinition | AfterHookDefinition | ResolvedHookDefinition;

export interface HookPlugin {
  readonly id: string;
  readonly hooks: readonly HookDefinition[];
}

/** The default export of a plugin file. Nothing runs or is checked here; whoever loads it does that. */
export function defineHooks(plugin: HookPlugin): HookPlugin {
  return Object.freeze({ ...plugin, hooks: Object.freeze([...plugin.hooks]) });
}
