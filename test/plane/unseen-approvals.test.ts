import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inspectApprovals } from '../../src/operate/inspect-approvals.ts';
import {
  RESOLUTIONS,
  type Approval,
  type ApprovalDecision,
  type Resolution,
} from '../../src/domain/policy/approval.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { AskOptions } from '../../src/domain/policy/rule.ts';
import type { DiagnosticEvent } from '../../src/exports/client.ts';
import { startWorker, type RunningWorker } from '../../src/exports/worker.ts';
import { eventually } from '../support/process.ts';
import { recordingNeeds } from '../support/sample-hooks.ts';
import { BACKENDS, BASIC_MODULES, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const OPERATOR = { kind: 'operator', name: 'ops' } as const;

const asking = (...asks: AskOptions[]): Policy => ({
  ...OPEN_POLICY,
  roles: { reviewers: ['rita'] },
  rules: asks.map((ask, index) => ({ id: `look-${index}`, verdict: 'ask', tools: ['basic.write'], ask })),
});

/** A worker in this process, without a webhook and without hooks. */
describe.each(BACKENDS)('questions without a notification, on %s', (backend) => {
  let plane: StagedPlane;
  let worker: RunningWorker;
  let stopListening: () => void;
  const told: DiagnosticEvent[] = [];
  const onEvent = { kinds: ['approval.*' as const], listener: (event: DiagnosticEvent) => void told.push(event) };
  const { lines, log } = recordingNeeds();
  beforeAll(async () => {
    plane = await stagePlane(backend);
    writeFileSync(plane.effectFile, '');
    worker = await startWorker({ ...plane.storeOptions, modules: BASIC_MODULES, health: false, log });
    stopListening = worker.events.subscribe(onEvent);
  });
  beforeEach(() => {
    told.splice(0);
    lines.splice(0);
  });
  afterAll(async () => {
    await worker.drain();
    await plane.stop();
  });

  async function call() {
    const session = await plane.openSession();
    const args = { file: plane.effectFile, line: 'value-4711' };
    return { session, answer: await plane.client.call(session, 'basic.write', args, { waitMs: 0 }) };
  }
  async function ask(): Promise<Approval> {
    await call();
    const [approval] = (await eventually(
      async () => {
        const pending = await plane.client.approvals.list(OPERATOR, { state: 'pending' });
        return pending.length > 0 && lines.length > 0 ? pending : undefined;
      },
      { what: 'a question' },
    )) as [Approval];
    return approval;
  }
  const decide = ({ question: { id, binding } }: Approval, decision: ApprovalDecision) =>
    plane.client.approvals.decide(OPERATOR, id, { decision, binding });
  const inspect = async (isWebhookSet = false, mayRead = true) =>
    (await inspectApprovals(plane.store, { isWebhookSet, mayRead }))[0]!;

  it('are warned of in the log, with the command that decides them, and by doctor', async () => {
    await plane.setPolicy(asking({}));
    expect(await inspect()).toStrictEqual({ name: 'approvals', state: 'ok', found: 'nobody is being asked' });
    const approval = await ask();
    const { id } = approval.question;
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: 'a person is asked, and only operators can decide',
        facts: {
          approval: id,
          tool: 'basic.write',
          expiresAt: new Date(approval.expiresAt).toISOString(),
          decide: `sallyport approvals decide ${id} allow-once`,
          list: 'sallyport approvals list',
        },
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain('4711');
    const since = new Date(approval.requestedAt).toISOString();
    const check = await inspect();
    expect(check).toMatchObject({ state: 'warn' });
    expect(check.found).toContain(`1 pending, the oldest since ${since}: ${id}; 1 of them only operators can decide`);
    expect(check.fix).toContain('sallyport approvals list');
    expect(await inspect(true)).toMatchObject({ state: 'ok' });
    expect(await inspect(false, false)).toMatchObject({ state: 'ok', found: expect.stringMatching(/^1 pending; /) });
    await decide(approval, 'deny');
  });

  it('are not those that an approver is named for', async () => {
    await plane.setPolicy(asking({ approvers: ['role:reviewers'] }));
    const approval = await ask();
    const { id } = approval.question;
    expect(lines).toMatchObject([
      { level: 'info', facts: { approval: id, decide: `sallyport approvals decide ${id} allow-once` } },
    ]);
    expect(await inspect()).toMatchObject({ state: 'ok', found: expect.stringContaining('1 pending') as string });
    await decide(approval, 'deny');
  });

  it('end at once, without a question, when no yes is offered by all who ask', async () => {
    await plane.setPolicy(asking({ decisions: ['allow-once', 'deny'] }, { decisions: ['allow-always', 'deny'] }));
    const { session, answer } = await call();
    if (answer.kind !== 'pending') throw new Error(answer.kind);
    const waited = await plane.client.wait(session, answer.callId, { waitMs: 60_000 });
    expect(waited).toMatchObject({
      kind: 'settled',
      outcome: { kind: 'denied', executed: 'no', error: { code: 'APPROVAL_NO_ROUTE' } },
    });
    expect(await plane.client.approvals.list(OPERATOR, { state: 'pending' })).toStrictEqual([]);
    expect(told.filter(({ kind }) => kind === 'approval.requested')).toStrictEqual([]);
    expect(lines[0]).toMatchObject({
      level: 'warn',
      message: 'nobody is asked: those who ask offer no yes in common',
      facts: { tool: 'basic.write', askers: ['rule look-0', 'rule look-1'] },
    });
  });

  const ENDINGS: Readonly<Record<Resolution, (asked: Approval) => Promise<unknown>>> = {
    'allow-once': (asked) => decide(asked, 'allow-once'),
    // The grant is revoked at once, so that the next call is asked about too.
    'allow-always': async (asked) => {
      const answer = await decide(asked, 'allow-always');
      if (answer.kind === 'decided') await plane.client.grants.revoke(OPERATOR, answer.grant!);
    },
    deny: (asked) => decide(asked, 'deny'),
    timeout: () => Promise.resolve(),
    cancelled: ({ question }) => plane.client.revokeSession(question.session),
  };
  it.each(RESOLUTIONS)(
    'are reported to listeners once when they end, without hook and webhook: %s',
    async (resolution) => {
      const timeoutMs = resolution === 'timeout' ? 1000 : 600_000;
      await plane.setPolicy(asking({ approvers: ['rita'], timeoutMs }));
      const approval = await ask();
      const { id, callId } = approval.question;
      await ENDINGS[resolution](approval);
      await eventually(async () => (await plane.store.readApproval(id))?.callback === 'done');
      if (resolution.startsWith('allow')) {
        await eventually(() => plane.effects().some((line) => line.includes(callId)));
      }
      // Events about earlier approvals may arrive in the meantime.
      const own = (): DiagnosticEvent[] => told.filter((event) => 'approvalId' in event && event.approvalId === id);
      await eventually(() => own().length >= 2);
      expect(own()).toMatchObject([
        { kind: 'approval.requested', timeoutMs },
        { kind: 'approval.resolved', resolution, callId, stage: 'gate' },
      ]);
    },
  );

  it('have no callback without a listener, and a yes is reported by the worker that goes on with the call', async () => {
    stopListening();
    await plane.setPolicy(asking({ approvers: ['rita'] }));
    const approval = await ask();
    const { id, callId } = approval.question;
    stopListening = worker.events.subscribe(onEvent);
    await decide(approval, 'allow-once');
    await eventually(() => told.length >= 1);
    expect(told).toMatchObject([{ kind: 'approval.resolved', approvalId: id, resolution: 'allow-once', callId }]);
    expect((await plane.store.readApproval(id))?.callback).toBe('none');
  });
});
