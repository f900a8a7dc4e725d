import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startWorker, type RunningWorker, type WorkerOptions } from '../../src/compose/start-worker.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { Rule } from '../../src/domain/policy/rule.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import { decide, park, policyWith, recordOf, untilAsked } from './support/gate-plane.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const HOOKS = fileURLToPath(new URL('../fixtures/normalise-plane/hooks.mjs', import.meta.url));
const MODULES = fileURLToPath(new URL('../fixtures/normalise-plane/modules', import.meta.url));

const RULES: readonly Rule[] = [
  { id: 'no-prod', verdict: 'deny', tools: ['*'], arguments: [{ at: '/environment', equals: 'prod' }] },
  { id: 'no-north', verdict: 'deny', tools: ['*'], arguments: [{ at: '/where/region', equals: 'north' }] },
  {
    id: 'ask-stage',
    verdict: 'ask',
    tools: ['*'],
    arguments: [{ at: '/environment', equals: 'stage' }],
    reason: 'It is the stage.',
    ask: { approvers: ['rita'], severity: 'critical', decisions: ['allow-once', 'deny'], timeoutMs: 300_000 },
  },
  { id: 'ask-marked', verdict: 'ask', tools: ['*'], arguments: [{ at: '/text', prefix: 'ask' }] },
];

const DENIED = { kind: 'denied', executed: 'no', error: { code: 'RULE_DENIED', facts: { rule: 'no-prod' } } };
const TRANSFORMED = { kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_TRANSFORMED' } };

describe.each(BACKENDS)('the rules judge the bytes that run on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let worker: RunningWorker;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(policyWith(RULES));
    const options = {
      ...plane.storeOptions,
      modules: MODULES,
      hooks: [{ file: HOOKS }],
      health: false,
      log: SILENT_LOG,
    };
    worker = await startWorker(options as WorkerOptions);
  });
  beforeEach(async () => {
    session = await plane.openSession();
  });
  afterAll(async () => {
    await worker.drain();
    await plane.stop();
  });

  const withFile = (args: JsonObject): JsonObject => ({ file: plane.effectFile, ...args });
  async function call(tool: string, args: JsonObject) {
    const answer = await plane.client.call(session, tool, withFile(args), { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    return { ...answer.outcome, callId: answer.callId };
  }
  const ran = (callId: string): JsonObject | undefined =>
    plane
      .effects()
      .map((line) => JSON.parse(line) as JsonObject)
      .find((each) => each['callId'] === callId);

  describe.each(['inline', 'process'])('in the %s runner', (runner) => {
    it.each(['zod', 'valibot', 'arktype'])(
      'and %s that trims and lowers does not carry " PROD" past them',
      async (library) => {
        const outcome = await call(`${runner}.${library}`, { environment: ' PROD' });
        expect(outcome).toMatchObject(TRANSFORMED);
        expect(outcome.error?.message).toContain('environment: changed');
        expect(ran(outcome.callId)).toBeUndefined();
        expect(await call(`${runner}.${library}`, { environment: 'test' })).toMatchObject({ kind: 'ok' });
      },
    );

    it.each(['zod', 'valibot', 'arktype'])(
      'and %s with normalises hands them the normalised value',
      async (library) => {
        const denied = await call(`${runner}.${library}-normal`, { environment: ' PROD' });
        expect(denied).toMatchObject(DENIED);
        expect(ran(denied.callId)).toBeUndefined();
        const allowed = await call(`${runner}.${library}-normal`, { environment: ' Test ' });
        expect(allowed).toMatchObject({ kind: 'ok' });
        expect(ran(allowed.callId)).toMatchObject({ environment: 'test' });
        const effectiveDigest = sha256(canonicalJson(withFile({ environment: 'test' })));
        expect((await recordOf(plane, allowed.callId, 'call.settled')).detail).toMatchObject({ effectiveDigest });
      },
    );

    it('and arguments are parsed once, also over a question', async () => {
      const parked = await park(plane, session, `${runner}.marked`, withFile({ text: 'ask' }));
      expect(JSON.parse(parked.approval.question.arguments)).toMatchObject({ text: 'ask!' });
      await decide(plane, parked.approval, 'allow-once');
      expect((await parked.outcome).kind).toBe('ok');
      expect(ran(parked.callId)).toMatchObject({ text: 'ask!' });
      const straight = await call(`${runner}.marked`, { text: 'go' });
      expect(ran(straight.callId)).toMatchObject({ text: 'go!' });
    });

    it('and defaults of the published schema are filled in before them', async () => {
      expect(await call(`${runner}.defaults`, {})).toMatchObject(DENIED);
      const inBranch = { environment: 'test', where: { kind: 'cloud' } };
      expect(await call(`${runner}.defaults`, inBranch)).toMatchObject({ error: { facts: { rule: 'no-north' } } });
      const rack = await call(`${runner}.defaults`, { environment: 'test', where: { kind: 'rack' } });
      expect(rack).toMatchObject({ kind: 'ok' });
      expect(ran(rack.callId)).toMatchObject({ where: { kind: 'rack', slot: 1 } });
    });

    it('and what is stripped, coerced or no JSON any more is invalid', async () => {
      const stripped = await call(`${runner}.defaults`, { environment: 'test', extra: 1 });
      expect(stripped).toMatchObject({ kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_INVALID' } });
      expect(stripped.error?.message).toContain('it has no argument extra');
      expect(await call(`${runner}.dated`, { at: '2026-01-01T00:00:00.000Z' })).toMatchObject(TRANSFORMED);
      for (const tool of ['dated-normal', 'mapped-normal']) {
        const outcome = await call(`${runner}.${tool}`, { at: '2026-01-01T00:00:00.000Z' });
        expect(outcome).toMatchObject({ kind: 'invalid', executed: 'no', error: { code: 'ARGUMENTS_NOT_JSON' } });
        expect(ran(outcome.callId)).toBeUndefined();
      }
    });

    it.each(['live-getter', 'live-object'])('and a tool gets them, not the %s of its schema', async (tool) => {
      const outcome = await call(`${runner}.${tool}`, { environment: 'test' });
      expect(outcome).toMatchObject({ kind: 'ok' });
      expect(ran(outcome.callId)).toMatchObject({ environment: 'test' });
    });

    it('and what a hook rewrote is normalised again before them', async () => {
      expect(await call(`${runner}.zod-normal`, { environment: 'Rewrite-prod' })).toMatchObject(DENIED);
      const allowed = await call(`${runner}.zod-normal`, { environment: 'Rewrite-test' });
      expect(ran(allowed.callId)).toMatchObject({ environment: 'test' });
      const { detail } = await recordOf(plane, allowed.callId, 'call.settled');
      expect(detail).toMatchObject({ changedBy: ['normal-hooks.shouting'] });
    });

    it('and an asynchronous refinement is waited for', async () => {
      expect(await call(`${runner}.slow`, { environment: ' PROD ' })).toMatchObject(DENIED);
      expect(await call(`${runner}.slow`, { environment: 'NEVER' })).toMatchObject({
        kind: 'invalid',
        executed: 'no',
        error: { code: 'ARGUMENTS_INVALID' },
      });
    });
  });

  it('and the key of a call stands for what the caller sent', async () => {
    const send = (environment: string) =>
      plane.client.call(session, 'inline.zod-normal', withFile({ environment }), { key: 'k1', waitMs: 60_000 });
    expect(await send(' Once')).toMatchObject({ kind: 'settled', outcome: { kind: 'ok' } });
    expect(await send('once')).toMatchObject({ outcome: { kind: 'conflict' } });
    expect(await send(' Once')).toMatchObject({ outcome: { kind: 'ok' } });
    expect(plane.effects().filter((line) => line.includes('"once"'))).toHaveLength(1);
  });

  it('and edited arguments are normalised, judged, and asked about again when that changed them', async () => {
    const parked = await park(plane, session, 'inline.zod-normal', withFile({ environment: 'stage' }));
    await decide(plane, parked.approval, 'allow-once', { arguments: withFile({ environment: ' PROD' }) });
    expect(await parked.outcome).toMatchObject(DENIED);

    const other = await park(plane, session, 'inline.zod-normal', withFile({ environment: 'stage' }));
    await decide(plane, other.approval, 'allow-once', { arguments: withFile({ environment: ' STAGE' }) });
    const again = await untilAsked(plane, other.callId, [other.approval.question.id]);
    expect(again.question.arguments).toBe(canonicalJson(withFile({ environment: 'stage' })));
    await decide(plane, again, 'allow-once');
    expect((await other.outcome).kind).toBe('ok');
    expect(ran(other.callId)).toMatchObject({ environment: 'stage' });
  });

  it('and a call that was edited three times is not taken for one whose schema ends workers', async () => {
    const { callId, approval, outcome } = await park(
      plane,
      session,
      'inline.zod-normal',
      withFile({ environment: 'stage' }),
    );
    const asked = [approval.question.id];
    await decide(plane, approval, 'allow-once', { arguments: withFile({ environment: 'Stage' }) });
    for (const environment of ['sTage', 'stAge', undefined]) {
      const again = await Promise.race([untilAsked(plane, callId, asked), outcome]);
      if (!('question' in again)) throw new Error(`it ended with ${again.error?.code}`);
      asked.push(again.question.id);
      await decide(
        plane,
        again,
        'allow-once',
        environment === undefined ? {} : { arguments: withFile({ environment }) },
      );
    }
    expect(await outcome).toMatchObject({ kind: 'ok' });
  });

  it('and edited arguments are asked about again when a default was filled in, also if no rule asks about them', async () => {
    const parked = await park(plane, session, 'inline.defaults', withFile({ environment: 'stage' }));
    const edited = withFile({ environment: 'test', where: { kind: 'rack' } });
    await decide(plane, parked.approval, 'allow-once', { arguments: edited });
    const { question } = parked.approval;
    const again = await Promise.race([untilAsked(plane, parked.callId, [question.id]), parked.outcome]);
    if (!('question' in again)) throw new Error(`nobody was asked, and it ended ${again.kind}`);
    const { id: _id, binding: _binding, salt: _salt, arguments: _arguments, ...same } = question;
    expect(again.question).toMatchObject(same);
    expect(again.expiresAt - again.requestedAt).toBe(300_000);
    const filled = { ...edited, where: { kind: 'rack', slot: 1 } };
    expect(JSON.parse(again.question.arguments)).toEqual(filled);
    await decide(plane, again, 'allow-once');
    expect((await parked.outcome).kind).toBe('ok');
    expect(ran(parked.callId)).toMatchObject({ where: { kind: 'rack', slot: 1 } });
  });
});
