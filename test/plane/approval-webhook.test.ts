import { writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isFromSallyport } from '../../examples/docs/verify-webhook.ts';
import type { Approval, ApprovalQuestion } from '../../src/domain/policy/approval.ts';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { DiagnosticEvent } from '../../src/exports/client.ts';
import { startWorker, type RunningWorker } from '../../src/exports/worker.ts';
import { argumentsDigest } from '../../src/gate/approvals/binding.ts';
import { createApprovalWebhook, type ApprovalWebhook } from '../../src/worker/approval-webhook.ts';
import { eventually } from '../support/process.ts';
import { recordingNeeds } from '../support/sample-hooks.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';
import { BACKENDS, BASIC_MODULES, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const SECRET = 'a-secret-that-both-sides-have';
const QUICK = { attempts: 4, backoffMs: 1, atOnce: 2, queued: 3 };
const ARGUMENTS = '{"card":"4000-1234"}';
const QUESTION = {
  id: '0.scope.one',
  callId: '0.scope.call',
  tool: 'bank.pay',
  arguments: ARGUMENTS,
  masks: [],
  identity: { tenant: 'acme', subject: 'ann', agent: 'main' },
  title: 'Pay \u202e?',
  description: 'described 4000-1234',
  reasons: ['rule money: it is a lot'],
  detail: 'for approvers only',
  severity: 'critical',
  binding: 'b'.repeat(64),
} as unknown as ApprovalQuestion;
const EXPIRES_AT = 1_800_000_000_000;

describe('the approval webhook', () => {
  let receiver: WebhookReceiver;
  let lines: ReturnType<typeof recordingNeeds>['lines'];
  let webhook: ApprovalWebhook;
  const ask = (id = '0.scope.one'): void =>
    webhook.requested({ question: { ...QUESTION, id: id as ApprovalQuestion['id'] }, expiresAt: EXPIRES_AT });
  const open = (options = {}, pace = QUICK): void => {
    const needs = recordingNeeds();
    lines = needs.lines;
    webhook = createApprovalWebhook({ url: receiver.url, secret: SECRET, ...options }, needs.log, pace);
  };

  beforeEach(async () => {
    receiver = await startWebhookReceiver();
    open();
  });
  afterEach(async () => {
    await webhook.close(0);
    await receiver.stop();
    // In every test, neither the secret nor the path of the receiver may appear in the log.
    if (/both-sides|of-the-path|4000-1234/.test(JSON.stringify(lines))) throw new Error('a secret is in the log');
  });

  it('sends the requester and digests of what would run, and neither arguments nor detail', async () => {
    ask();
    const [{ message, body, headers }] = (await receiver.until(1)) as [(typeof receiver.received)[0]];
    expect(message).toStrictEqual({
      event: 'approval.requested',
      approvalId: '0.scope.one',
      callId: '0.scope.call',
      tool: 'bank.pay',
      agent: 'main',
      subject: 'acme/ann',
      severity: 'critical',
      title: 'Pay \\u{202e}?',
      argumentsDigest: argumentsDigest(ARGUMENTS),
      binding: 'b'.repeat(64),
      reasons: ['rule money: it is a lot'],
      expiresAt: EXPIRES_AT,
    });
    expect(headers['content-type']).toBe('application/json');
    expect(body.toString()).not.toMatch(/4000-1234|approvers only/);
  });

  it('names the command that reveals a question with masks, and nothing of what is masked', async () => {
    const masks = [{ of: 'arguments', pointer: '/card' }] as const;
    webhook.requested({ question: { ...QUESTION, masks }, expiresAt: EXPIRES_AT });
    const [{ message, body }] = (await receiver.until(1)) as [(typeof receiver.received)[0]];
    expect(message).toMatchObject({ masked: true, reveal: 'sallyport approvals reveal 0.scope.one' });
    expect(body.toString()).not.toMatch(/4000-1234|card/);
  });

  it('signs time and body, so that the receiver of the page takes it, and nothing else', async () => {
    ask();
    const [{ body, headers }] = (await receiver.until(1)) as [(typeof receiver.received)[0]];
    expect(isFromSallyport(headers, body, SECRET)).toBe(true);
    expect(isFromSallyport(headers, body, `${SECRET}x`)).toBe(false);
    expect(isFromSallyport(headers, Buffer.concat([body, Buffer.from(' ')]), SECRET)).toBe(false);
    const later = String(Number(headers['sallyport-timestamp']) + 1);
    expect(isFromSallyport({ ...headers, 'sallyport-timestamp': later }, body, SECRET)).toBe(false);
    expect(isFromSallyport({}, body, SECRET)).toBe(false);
  });

  it('sends how a question ended and who decided; for an expired one, no name', async () => {
    const by = { kind: 'subject', name: 'acme/rita' };
    const resolved = { question: QUESTION, resolution: 'deny', resolvedAt: 7, votes: [{ by }] } as unknown as Approval;
    webhook.resolved(resolved);
    await receiver.until(1);
    webhook.resolved({ ...resolved, resolution: 'timeout' });
    const [first, second] = await receiver.until(2);
    expect(first?.message).toMatchObject({
      event: 'approval.resolved',
      approvalId: '0.scope.one',
      resolution: 'deny',
      by: 'subject acme/rita',
      resolvedAt: 7,
    });
    expect(second?.message).toMatchObject({ resolution: 'timeout' });
    expect(second?.message).not.toHaveProperty('by');
    expect(second?.body.toString()).not.toMatch(/4000-1234|approvers only/);
  });

  it.each([503, 429])('tries again after %i until it is taken', async (status) => {
    receiver.answer = (response, count) => void response.writeHead(count < 3 ? status : 200).end();
    ask();
    await receiver.until(3);
    await webhook.close(30_000);
    expect(receiver.received).toHaveLength(3);
    expect(lines).toStrictEqual([]);
  });

  it('gives up after a few attempts, and says so without the address', async () => {
    receiver.answer = (response) => void response.destroy();
    ask();
    await eventually(() => lines.length > 0);
    expect(receiver.received).toHaveLength(QUICK.attempts);
    expect(lines).toMatchObject([
      { level: 'warn', facts: { event: 'approval.requested', approval: '0.scope.one', attempts: 4 } },
    ]);
  });

  it('does not try again what was refused, and follows no redirect', async () => {
    receiver.answer = (response, count) =>
      void (count === 1
        ? response.writeHead(400).end()
        : response.writeHead(307, { location: `${new URL(receiver.url).origin}/elsewhere` }).end());
    ask();
    await eventually(() => lines.length === 1);
    ask();
    await eventually(() => lines.length === 2);
    expect(lines.map(({ facts }) => facts['problem'])).toStrictEqual(['HTTP 400', 'HTTP 307']);
    expect(receiver.received.map(({ path }) => path)).not.toContain('/elsewhere');
    expect(receiver.received).toHaveLength(2);
  });

  it('gives an attempt without an answer up when its time is over', async () => {
    open({ timeoutMs: 100 }, { ...QUICK, attempts: 2 });
    receiver.answer = () => undefined;
    ask();
    await eventually(() => lines.length > 0);
    expect(receiver.received).toHaveLength(2);
    expect(lines[0]?.facts).toMatchObject({ problem: 'TimeoutError', attempts: 2 });
  });

  it('keeps so many for a slow receiver and no more; those under way are given up when it closes', async () => {
    receiver.answer = () => undefined;
    for (let index = 0; index < 10; index += 1) ask(`0.scope.${index}`);
    await receiver.until(QUICK.atOnce);
    expect(lines).toMatchObject([{ facts: { dropped: 1 } }]);
    await webhook.close(0);
    expect(lines.map(({ facts }) => facts)).toContainEqual(expect.objectContaining({ unsent: QUICK.queued }));
    expect(receiver.received).toHaveLength(QUICK.atOnce);
  });

  it('sends what waits before it closes, and nothing after', async () => {
    for (let index = 0; index < 5; index += 1) ask(`0.scope.${index}`);
    await webhook.close(30_000);
    expect(receiver.received.map(({ message }) => String(message['approvalId'])).sort()).toStrictEqual(
      [0, 1, 2, 3, 4].map((index) => `0.scope.${index}`),
    );
    ask();
    await webhook.close(30_000);
    expect(receiver.received).toHaveLength(5);
  });

  it.each([
    ['http://example.com/x', SECRET, 'must be https://'],
    ['https://user:word@example.com/x', SECRET, 'must not hold a user or a password'],
    ['https://example.com/x', 'short', '16 characters'],
    ['file:///etc/passwd', SECRET, 'must be https://'],
    ['http://127.0.0.1.example.com/', SECRET, 'must be https://'],
  ])('is not made for %s with %s', (url, secret, problem) => {
    expect(() => open({ url, secret })).toThrow(problem);
  });
});

const ASKING: Policy = { ...OPEN_POLICY, rules: [{ id: 'look', verdict: 'ask', tools: ['basic.write'] }] };

describe.each(BACKENDS)('a worker with an approval webhook on %s', (backend) => {
  let plane: StagedPlane;
  let receiver: WebhookReceiver;
  let worker: RunningWorker;
  const told: DiagnosticEvent[] = [];
  const { lines, log } = recordingNeeds();
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(ASKING);
    writeFileSync(plane.effectFile, '');
    receiver = await startWebhookReceiver();
    worker = await startWorker({
      ...plane.storeOptions,
      modules: BASIC_MODULES,
      health: false,
      log,
      approvals: { webhook: { url: receiver.url, secret: SECRET } },
      onEvent: { kinds: ['approval.*'], listener: (event) => void told.push(event) },
    });
  });
  afterAll(async () => {
    await worker.drain();
    await receiver.stop();
    await plane.stop();
  });

  const requests = (event: string, approvalId: string) =>
    receiver.received.filter(({ message }) => message['event'] === event && message['approvalId'] === approvalId);

  it.each(['allow-once', 'deny'] as const)('sends a question and its end, once each: %s', async (decision) => {
    const session = await plane.openSession();
    const secret = `value-${decision}`;
    await plane.client.call(session, 'basic.write', { file: plane.effectFile, line: secret }, { waitMs: 0 });
    const operator = { kind: 'operator', name: 'ops' } as const;
    const [{ question }] = (await eventually(async () => {
      const pending = await plane.client.approvals.list(operator, { state: 'pending' });
      return pending.length > 0 ? pending : undefined;
    })) as [Approval];
    await eventually(() => requests('approval.requested', question.id).length > 0);
    await plane.client.approvals.decide(operator, question.id, { decision, binding: question.binding });
    await eventually(() => requests('approval.resolved', question.id).length > 0);
    await plane.client.wait(session, question.callId, { waitMs: 60_000 });
    await eventually(async () => (await plane.store.readApproval(question.id))?.callback === 'done');
    for (const event of ['approval.requested', 'approval.resolved']) {
      const sent = requests(event, question.id);
      expect(sent).toHaveLength(1);
      expect(isFromSallyport(sent[0]!.headers, sent[0]!.body, SECRET)).toBe(true);
      expect(sent[0]!.body.toString()).not.toContain(secret);
    }
    expect(requests('approval.resolved', question.id)[0]?.message).toMatchObject({
      resolution: decision,
      by: 'operator ops',
      binding: question.binding,
    });
    const resolved = told.filter((event) => event.kind === 'approval.resolved' && event.approvalId === question.id);
    expect(resolved).toMatchObject([{ resolution: decision, callId: question.callId, tool: 'basic.write' }]);
    // The Redis of the test has no users, which a worker warns of at its start.
    const warnings = lines.filter(({ level, message }) => level === 'warn' && !message.startsWith('Redis accepts'));
    expect(warnings).toStrictEqual([]);
  });
});
