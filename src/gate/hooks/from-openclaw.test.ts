import { describe, expect, it } from 'vitest';
import { approving, refusalOf } from '../../../test/support/gate-tools.ts';
import { deferred } from '../../../test/support/sample-call.ts';
import { createGate } from '../../compose/create-gate.ts';
import type { ApprovalDecision, Resolution } from '../../domain/policy/approval.ts';
import type { GateOptions } from '../wrap/gate-options.ts';
import type { GateQuestion } from '../wrap/gate-parts.ts';
import { fromOpenClaw, type FromOpenClawOptions, type OpenClawHandler } from './from-openclaw.ts';

/** A tool `deploy` whose calls the handler checks first, and the questions that the approver got. The tool returns its input. */
function behind(
  handler: OpenClawHandler,
  decision: ApprovalDecision | null = 'allow-once',
  options: FromOpenClawOptions = {},
  more: GateOptions = {},
) {
  const asked: GateQuestion[] = [];
  const gate = createGate({ hooks: [fromOpenClaw(handler, options)], approver: approving(decision, asked), ...more });
  const deploy = gate.wrapTool({ name: 'deploy', execute: async (input: object, _options?: object) => input });
  return { asked, deploy: deploy.execute };
}

describe('a handler of OpenClaw', () => {
  it('gets event and context as there, in a copy of its own', async () => {
    const seen: unknown[] = [];
    const handler: OpenClawHandler = (event, { abortSignal, ...context }) => {
      seen.push(structuredClone(event), context, abortSignal.aborted);
      event.params['to'] = 'elsewhere';
    };
    const more = { identity: { agent: 'main' }, session: 'session-1' };
    const { deploy } = behind(handler, 'deny', {}, more);
    expect(await deploy({ to: 'test' }, { toolCallId: 'call-1' })).toStrictEqual({ to: 'test' });
    const runId = expect.any(String) as string;
    expect(seen).toStrictEqual([
      { toolName: 'deploy', params: { to: 'test' }, runId, toolCallId: 'call-1' },
      {
        toolName: 'deploy',
        agentId: 'main',
        sessionKey: 'session-1',
        sessionId: 'session-1',
        runId,
        toolCallId: 'call-1',
      },
      false,
    ]);
  });

  it('blocks, rewrites a part, or has no opinion', async () => {
    const { deploy } = behind(async ({ params }) => {
      if (params['to'] === 'prod') return { block: true, blockReason: 'Not today.' };
      if (params['to'] === 'nowhere') return { block: true };
      return params['to'] === 'test' ? { block: false, params: { dryRun: true } } : undefined;
    });
    expect(await refusalOf(deploy({ to: 'prod' }))).toMatchObject({ code: 'HOOK_BLOCKED', message: 'Not today.' });
    expect(await refusalOf(deploy({ to: 'nowhere' }))).toMatchObject({ code: 'HOOK_BLOCKED' });
    expect(await deploy({ to: 'test' })).toStrictEqual({ to: 'test', dryRun: true });
    expect(await deploy({ to: 'here' })).toStrictEqual({ to: 'here' });
  });

  it.each<[ApprovalDecision | null, Resolution, string | undefined]>([
    ['allow-once', 'allow-once', undefined],
    ['allow-always', 'allow-always', undefined],
    ['deny', 'deny', 'APPROVAL_DENIED'],
    [null, 'timeout', 'APPROVAL_EXPIRED'],
  ])('asks, and gets %s as %s', async (decision, resolution, code) => {
    const heard = deferred<Resolution>();
    const { deploy, asked } = behind(
      () => ({
        requireApproval: {
          title: 'Deploy',
          description: 'Look at the target.',
          severity: 'critical',
          timeoutMs: 60_000,
          timeoutBehavior: 'deny',
          pluginId: 'spoofed',
          timeoutReason: 'Too late.',
          onResolution: async (word) => heard.resolve(word),
        },
      }),
      decision,
    );
    const ending = await deploy({}).then(
      () => undefined,
      (error: { code: string }) => error.code,
    );
    expect(ending).toBe(code);
    expect(await heard.promise).toBe(resolution);
    expect(asked).toMatchObject([
      {
        title: 'Deploy',
        description: 'Look at the target.',
        severity: 'critical',
        timeoutMs: 60_000,
        decisions: ['allow-once', 'allow-always', 'deny'],
        askers: [{ id: 'openclaw.before-tool-call' }],
      },
    ]);
  });

  it('is notified of a no without a question, and not of a call that another hook blocked', async () => {
    const heard: Resolution[] = [];
    const told = deferred();
    const handler: OpenClawHandler = ({ params }) => ({
      ...(params['bad'] === true ? { block: true } : {}),
      requireApproval: { title: 'x', onResolution: (word) => (heard.push(word), told.resolve()) },
    });
    const policy = { unattended: ['night'] };
    const { deploy } = behind(handler, 'allow-once', {}, { policy, identity: { agent: 'night' } });
    await refusalOf(deploy({ bad: true }));
    await refusalOf(deploy({}));
    await told.promise;
    expect(heard).toStrictEqual(['deny']);
  });

  it('that throws in onResolution changes no answer', async () => {
    const { deploy } = behind(() => ({
      requireApproval: {
        title: 'x',
        onResolution: () => {
          throw new Error('plugin');
        },
      },
    }));
    expect(await deploy({ x: 1 })).toStrictEqual({ x: 1 });
  });

  it('offers only what it names, and is not waited for longer than there', async () => {
    const { deploy, asked } = behind(() => ({
      requireApproval: { title: 'x', allowedDecisions: ['allow-once', 'deny', 'deny'], timeoutMs: 86_400_000 },
    }));
    await deploy({});
    expect(asked).toMatchObject([{ decisions: ['allow-once', 'deny'], timeoutMs: 600_000 }]);
    const always = behind(() => ({ requireApproval: { allowedDecisions: ['allow-once', 'deny'] } }), 'allow-always');
    expect(await refusalOf(always.deploy({}))).toMatchObject({ code: 'APPROVAL_MALFORMED' });
  });

  it('that wants a call allowed without an answer gets a no, and a warning once', async () => {
    const warnings: string[] = [];
    const { deploy } = behind(() => ({ requireApproval: { title: 'x', timeoutBehavior: 'allow' } }), null, {
      id: 'sage',
      warn: (message) => void warnings.push(message),
    });
    for (const x of [1, 2]) expect(await refusalOf(deploy({ x }))).toMatchObject({ code: 'APPROVAL_EXPIRED' });
    expect(warnings).toStrictEqual([expect.stringMatching(/^sage: timeoutBehavior "allow" is taken as "deny"/)]);
  });

  it.each<[string, unknown]>([
    ['text', 'yes'],
    ['an unknown key', { blok: true }],
    ['a reason alone', { blockReason: 'No.' }],
    ['params that are a list', { params: [1] }],
    ['an approval that is text', { requireApproval: 'please' }],
    ['no decision that is known', { requireApproval: { allowedDecisions: ['maybe'] } }],
  ])('that answers %s blocks', async (_what, answer) => {
    const { deploy } = behind(() => answer as never);
    expect(await refusalOf(deploy({}))).toMatchObject({ code: 'HOOK_FAILED' });
  });

  it('is for the tools that are named, under the names it knows', async () => {
    const seen: string[] = [];
    const handler: OpenClawHandler = ({ toolName }) => void seen.push(toolName);
    const hooks = [fromOpenClaw(handler, { tools: ['shell.*'], toolNames: { 'shell.run': 'exec' }, priority: 5 })];
    const gate = createGate({ hooks });
    const wrap = (id: string) => gate.wrapTool({ execute: async () => 1 }, { id }).execute();
    await Promise.all([wrap('shell.run'), wrap('shell.list'), wrap('web.run')]);
    expect(seen).toStrictEqual(['exec', 'shell.list']);
    expect(() => fromOpenClaw({} as never)).toThrow('takes a before_tool_call handler');
  });
});
