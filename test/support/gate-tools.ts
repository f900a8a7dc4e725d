import { expect } from 'vitest';
import { createGate } from '../../src/compose/create-gate.ts';
import type { ApprovalDecision } from '../../src/domain/policy/approval.ts';
import type { ApprovalRequest, BeforeAnswer } from '../../src/domain/policy/hook.ts';
import { defineHooks, type HookDefinition, type HookPlugin } from '../../src/gate/hooks/define-hooks.ts';
import type { GateOptions } from '../../src/gate/wrap/gate-options.ts';
import type { GateApprover, GateQuestion } from '../../src/gate/wrap/gate-parts.ts';

export const plugin = (...hooks: Omit<HookDefinition, 'id'>[]): HookPlugin =>
  defineHooks({ id: 'g', hooks: hooks.map((hook, index) => ({ id: `h${index + 1}`, ...hook }) as HookDefinition) });
export const before = (run: () => BeforeAnswer | Promise<BeforeAnswer>) => ({ on: 'before_tool_call' as const, run });
export const asking = (requireApproval: ApprovalRequest = {}) => before(() => ({ requireApproval }));

type Wrapped = (input: object, options?: { abortSignal: AbortSignal }) => Promise<unknown>;
/** Wraps a tool `box.echo` that returns its arguments. */
export function wrapEcho(options: GateOptions): Wrapped {
  const execute = async (input: object, _options?: object): Promise<unknown> => input;
  return createGate({ session: 'session-1', ...options }).wrapTool({ execute }, { id: 'box.echo' }).execute;
}

export const refusalOf = (running: Promise<unknown>): Promise<unknown> =>
  running.then(
    () => expect.fail('it ran'),
    (error: unknown) => error,
  );

export function approving(decision: ApprovalDecision | null, asked: GateQuestion[] = []): GateApprover {
  return {
    request: (question) => (asked.push(question), { id: 'question-1' }),
    wait: (id) => Promise.resolve({ id, decision }),
  };
}
