import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallId } from '../../src/domain/identity/ids.ts';
import type { Rule } from '../../src/domain/policy/rule.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { eventually } from '../support/process.ts';
import {
  decide,
  GATE_HOOKS,
  GATE_MODULES,
  letter,
  park,
  policyWith,
  recordOf,
  sentLetters,
  toldLetters,
} from './support/gate-plane.ts';
import { audit } from './support/watch-plane.ts';
import { BACKENDS, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';

const NO_ENEMY: Rule = { id: 'no-enemy', verdict: 'deny', arguments: [{ at: '/to', equals: 'the enemy' }] };

/** The plugin file does what the first word of a letter says: see test/fixtures/gate-plane/hooks.mjs. */
describe.each(BACKENDS)('hooks of a worker on %s', (backend) => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(policyWith([NO_ENEMY]));
    worker = await plane.startWorker({ modules: GATE_MODULES, hooks: [{ file: GATE_HOOKS }] });
  });
  beforeEach(async () => {
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  async function send(text: string) {
    const answer = await plane.client.call(session, 'desk.send', letter(plane, text), { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    return answer;
  }

  /** What the after hook got for this call. Waits until the hook has got the next call too: nothing more about this one can come then. */
  async function toldOf(callId: string) {
    await eventually(() => toldLetters(plane, callId).length > 0, { what: `the after hook of ${callId}` });
    const { callId: next } = await send('plain');
    await eventually(() => toldLetters(plane, next).length > 0, { what: `the after hook of ${next}` });
    return toldLetters(plane, callId);
  }

  it('that have no objection let the call through as it is', async () => {
    const { outcome, callId } = await send('plain');
    expect(outcome.kind).toBe('ok');
    expect(await toldOf(callId)).toEqual([{ callId, ran: { text: 'plain' }, changedBy: [], kind: 'ok' }]);
  });

  it('block with their reason; the tool is not entered, and the after hook is invoked once', async () => {
    const { outcome, callId } = await send('block');
    expect(outcome).toMatchObject({ kind: 'blocked', executed: 'no', error: { code: 'HOOK_BLOCKED' } });
    expect(outcome.error?.message).toContain('Not this one.');
    expect(sentLetters(plane, 'block')).toEqual([]);
    expect((await recordOf(plane, callId, 'call.settled')).detail).toMatchObject({ hook: 'desk-hooks.editor' });
    expect(await toldOf(callId)).toEqual([{ callId, ran: { text: 'block' }, changedBy: [], kind: 'blocked' }]);
  });

  it('rewrite what runs; the audit has its digest, and the after hook gets what ran', async () => {
    const { outcome, callId } = await send('rewrite');
    expect(outcome.kind).toBe('ok');
    expect(sentLetters(plane).filter((sent) => sent.callId === callId)).toEqual([
      { text: 'rewrite rewritten', callId },
    ]);
    const { detail, bodyDigest } = await recordOf(plane, callId, 'call.settled');
    expect(detail).toMatchObject({
      effectiveDigest: sha256(canonicalJson(letter(plane, 'rewrite rewritten'))),
      changedBy: ['desk-hooks.editor'],
    });
    expect(bodyDigest).not.toBe(detail['effectiveDigest']);
    expect(await toldOf(callId)).toEqual([
      { callId, ran: { text: 'rewrite rewritten' }, changedBy: ['desk-hooks.editor'], kind: 'ok' },
    ]);
  });

  it('that make wrong arguments block the call with their name', async () => {
    const { outcome, callId } = await send('spoil');
    expect(outcome).toMatchObject({ kind: 'blocked', executed: 'no', error: { code: 'HOOK_ARGUMENTS_INVALID' } });
    expect(outcome.error?.message).toContain('desk-hooks.editor');
    expect(sentLetters(plane, 'spoil')).toEqual([]);
    expect((await recordOf(plane, callId, 'call.settled')).detail).toMatchObject({ hook: 'desk-hooks.editor' });
  });

  it('make nothing of the arguments that a rule denies', async () => {
    const { outcome } = await send('forbidden');
    expect(outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { facts: { rule: 'no-enemy' } } });
    expect(sentLetters(plane, 'forbidden')).toEqual([]);
  });

  it('and rules that refuse the same kind of call again and again give the advice of loop detection with it', async () => {
    await plane.setPolicy(policyWith([NO_ENEMY], { loops: { default: { sameFailure: { warn: 3, block: 9 } } } }));
    for (const [word, code] of [
      ['block', 'HOOK_BLOCKED'],
      ['spoil', 'HOOK_ARGUMENTS_INVALID'],
      ['throw', 'HOOK_FAILED'],
      ['forbidden', 'RULE_DENIED'],
    ] as const) {
      session = await plane.openSession();
      const answers = [];
      for (let number = 1; number <= 5; number += 1) answers.push(await send(`${word} ${number}`));
      expect(answers.map(({ outcome }) => outcome.error?.code)).toEqual(Array(5).fill(code));
      expect(answers.flatMap(({ outcome }, index) => (outcome.advice === undefined ? [] : [index + 1]))).toEqual([4]);
      const { outcome, callId } = answers[3]!;
      expect(outcome.advice).toMatch(/^desk\.send has failed 3 times in the same way/);
      expect(JSON.stringify(outcome.content)).not.toContain('has failed 3 times');
      expect((await recordOf(plane, callId, 'call.settled')).detail).toMatchObject({ detector: 'same-failure' });
    }
    await plane.setPolicy(policyWith([NO_ENEMY]));
  });

  it('that fail block with one sentence for every cause; the log has the cause, and the audit names the hook', async () => {
    const { outcome, callId } = await send('throw');
    expect(outcome).toMatchObject({ kind: 'blocked', executed: 'no', error: { code: 'HOOK_FAILED' } });
    expect(JSON.stringify(outcome)).not.toContain('a cause that nobody outside may read');
    expect(JSON.stringify(outcome)).not.toContain('desk-hooks');
    expect(sentLetters(plane, 'throw')).toEqual([]);
    expect((await recordOf(plane, callId, 'call.settled')).detail).toMatchObject({
      code: 'HOOK_FAILED',
      hook: 'desk-hooks.editor',
    });
    await eventually(() => worker.process.stderr.includes('a cause that nobody outside may read'), {
      what: 'the cause in the log',
    });
  });

  it('that rewrite and ask show and bind the rewritten arguments, and these run after a yes', async () => {
    const parked = await park(plane, session, 'desk.send', letter(plane, 'rewrite-and-ask'));
    const rewritten = canonicalJson(letter(plane, 'rewrite-and-ask rewritten'));
    expect(parked.approval.question).toMatchObject({
      arguments: rewritten,
      askers: [{ kind: 'hook', id: 'desk-hooks.editor' }],
    });
    await decide(plane, parked.approval, 'allow-once');
    expect((await parked.outcome).kind).toBe('ok');
    const { callId } = parked;
    expect(sentLetters(plane).filter((sent) => sent.callId === callId)).toEqual([
      { text: 'rewrite-and-ask rewritten', callId },
    ]);
    const { detail } = await recordOf(plane, callId, 'call.settled');
    expect(detail).toMatchObject({
      effectiveDigest: sha256(rewritten),
      approval: parked.approval.question.id,
      changedBy: ['desk-hooks.editor'],
    });
    expect(await toldOf(callId)).toMatchObject([
      { ran: { text: 'rewrite-and-ask rewritten' }, changedBy: ['desk-hooks.editor'], kind: 'ok' },
    ]);
  });

  it('that rewrite and ask change nothing after a no', async () => {
    const parked = await park(plane, session, 'desk.send', letter(plane, 'rewrite-and-ask in vain'));
    await decide(plane, parked.approval, 'deny');
    expect(await parked.outcome).toMatchObject({ executed: 'no', error: { code: 'APPROVAL_DENIED' } });
    expect(sentLetters(plane).filter((sent) => sent.callId === parked.callId)).toEqual([]);
  });

  async function open(text: string, key = randomId()) {
    const options = { key, waitMs: 60_000 };
    const answer = await plane.client.call(session, 'desk.open', letter(plane, text), options);
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    return answer;
  }

  /** Everything that is stored or logged about a call outside of its tool: the outcome, its audit records, the log. */
  async function traces(callId: string): Promise<string> {
    const record = await plane.store.readCall(callId as CallId);
    const entries = (await audit(plane)).filter((entry) => entry.callId === callId);
    const bytes = [record!.outcome!, ...entries.map(({ detail }) => detail)];
    return [...bytes.map((one) => Buffer.from(one).toString('latin1')), worker.process.stderr].join('\n');
  }

  it('replace a result: only that is stored, replayed and audited, with digests of both', async () => {
    const key = randomId();
    const { outcome, callId } = await open('mask', key);
    expect(outcome).toMatchObject({ kind: 'ok', executed: 'yes', structured: { body: 'dear ***, mask' } });
    const { outcome: replayed } = await open('mask', key);
    expect(replayed).toEqual(outcome);
    expect(sentLetters(plane).filter((sent) => sent.callId === callId)).toHaveLength(1);
    const digestOf = (body: string): string => sha256(canonicalJson({ content: [], structured: { body } }));
    expect((await recordOf(plane, callId, 'call.settled')).detail).toMatchObject({
      outcome: 'ok',
      resultChangedBy: ['desk-hooks.censor'],
      ownResultDigest: digestOf('dear mistress quickly, mask'),
      resultDigest: digestOf('dear ***, mask'),
    });
    expect(await traces(callId)).not.toContain('quickly');
  });

  it.each(['quote-and-throw', 'never-answer', 'spoil-result'])(
    'that %s withhold a result: the tool ran once, and nothing of its result is stored, replayed, audited or logged',
    async (text) => {
      const key = randomId();
      const { outcome, callId } = await open(text, key);
      expect(outcome).toMatchObject({
        kind: 'blocked',
        executed: 'yes',
        retryable: false,
        error: { code: 'HOOK_RESULT_WITHHELD', facts: { tool: 'desk.open', hook: 'desk-hooks.censor' } },
      });
      expect((await open(text, key)).outcome).toEqual(outcome);
      expect(sentLetters(plane).filter((sent) => sent.callId === callId)).toHaveLength(1);
      expect((await recordOf(plane, callId, 'call.settled')).detail).toMatchObject({
        code: 'HOOK_RESULT_WITHHELD',
        executed: 'yes',
        hook: 'desk-hooks.censor',
        ownResultDigest: expect.any(String) as string,
      });
      await eventually(() => worker.process.stderr.includes(callId), { what: 'the failed hook in the log' });
      expect(await traces(callId)).not.toContain('quickly');
    },
  );

  it('that have nothing to say about a result leave it as it is, and the audit has no digests of it', async () => {
    const { outcome, callId } = await open('plain');
    expect(outcome).toMatchObject({ kind: 'ok', structured: { body: 'dear mistress quickly, plain' } });
    expect((await recordOf(plane, callId, 'call.settled')).detail).not.toHaveProperty('resultDigest');
  });
});
