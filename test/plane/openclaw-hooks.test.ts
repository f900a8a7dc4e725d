import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SessionHandle } from '../../src/exports/client.ts';
import { canonicalJson } from '../../src/base/canonical-json.ts';
import { eventually } from '../support/process.ts';
import { decide, GATE_MODULES, letter, park, policyWith, sentLetters } from './support/gate-plane.ts';
import { BACKENDS, stagePlane, type PlaneWorker, type StagedPlane } from './support/stage-plane.ts';

const HOOKS = fileURLToPath(new URL('../fixtures/gate-plane/openclaw-hooks.mjs', import.meta.url));

/** The handler is in test/fixtures/gate-plane/openclaw-hooks.mjs; its names and members are those of OpenClaw. */
describe.each(BACKENDS)('a handler of OpenClaw in a worker on %s', (backend) => {
  let plane: StagedPlane;
  let worker: PlaneWorker;
  let session: SessionHandle;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    await plane.setPolicy(policyWith([]));
    worker = await plane.startWorker({ modules: GATE_MODULES, hooks: [{ file: HOOKS }] });
  });
  beforeEach(async () => {
    session = await plane.openSession();
  });
  afterAll(() => plane.stop());

  async function send(text: string) {
    const answer = await plane.client.call(session, 'desk.send', letter(plane, text), { waitMs: 60_000 });
    if (answer.kind !== 'settled') throw new Error(answer.kind);
    return answer.outcome;
  }

  const resolved = (): string => {
    const file = `${plane.effectFile}.resolved`;
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  };

  it('lets through and blocks, by the names it knows', async () => {
    expect((await send('plain')).kind).toBe('ok');
    const blocked = await send('secret');
    expect(blocked).toMatchObject({ kind: 'blocked', executed: 'no', error: { code: 'HOOK_BLOCKED' } });
    expect(blocked.error?.message).toContain('Secrets are not sent.');
  });

  it.each([
    ['allow-once', 'ok', 1],
    ['deny', 'denied', 0],
  ] as const)('asks, gets %s, and runs what the question shows', async (decision, kind, letters) => {
    const { approval, outcome, callId } = await park(plane, session, 'desk.send', letter(plane, `ask ${decision}`));
    const { question, requestedAt, expiresAt } = approval;
    expect(question).toMatchObject({
      title: 'Send a letter',
      severity: 'critical',
      arguments: canonicalJson(letter(plane, `ask ${decision} checked`)),
      decisions: ['allow-once', 'deny'],
      askers: [{ kind: 'hook', id: 'old-desk.before-tool-call' }],
    });
    expect(expiresAt - requestedAt).toBe(600_000);
    await decide(plane, approval, decision);
    expect((await outcome).kind).toBe(kind);
    expect(sentLetters(plane, `ask ${decision} checked`)).toHaveLength(letters);
    await eventually(() => resolved().includes(`${callId} ${decision}\n`), { what: `onResolution of ${callId}` });
    expect(worker.process.stderr).toContain('timeoutBehavior "allow" is taken as "deny"');
  });
});
