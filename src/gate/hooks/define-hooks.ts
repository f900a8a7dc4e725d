import type {
  AfterToolCall,
  ApprovalResolved,
  BeforeAnswer,
  BeforeToolCall,
  HookContext,
  HookMatch,
  ResultAnswer,
  ToolResultCall,
} from '../../domain/policy/hook.ts';

interface HookOptions extends HookMatch {
  /** The hook's name in its plugin. Approvals remember an asker by this id, so do not change it lightly. */
  readonly id: string;
  /** Hooks with a higher priority run first. Default 0. */
  readonly priority?: number;
  /**
   * How long the hook may take to answer. After that the call is blocked, or its result withheld. The operator's setting overrides this
   * one.
   */
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

/** Makes the default export of a plugin file. Nothing runs and nothing is checked here; the loader does both. */
export function defineHooks(plugin: HookPlugin): HookPlugin {
  return Object.freeze({ ...plugin, hooks: Object.freeze([...plugin.hooks]) });
}
