import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type StoreOptions } from '../../src/compose/open-store.ts';
import { startWorker, type RunningWorker, type WorkerOptions } from '../../src/compose/start-worker.ts';
import type { Approval } from '../../src/domain/approval.ts';
import type { Rule } from '../../src/domain/rule.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import type { Store } from '../../src/ports/store.ts';
import { randomId } from '../../src/wire/ids.ts';
import { createModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { SILENT_LOG } from '../support/sample-call.ts';
import {
  decide,
  GATE_HOOKS,
  GATE_MODULES,
  letter,
  OPERATOR,
  park,
  policyWith,
  recordOf,
  recordsOf,
  sentLetters,
  untilAsked,
  type ParkedCall,
} from './support/gate-plane.ts';
import { BACKENDS, stagePlane, type StagedPlane } from './support/stage-plane.ts';
import { callFor } from './support/watch-plane.ts';

const OUTGOING: Rule = { id: 'outgoing', verdict: 'ask', tools: ['desk.send'], reason: 'It leaves the house.' };
const LETTERS: Rule = { id: 'letters', verdict: 'ask', tools: ['desk.send'], ask: { severity: 'info' } };
const NO_LETTERS: Rule = { id: 'no-letters', verdict: 'deny', tools: ['desk.send'] };

/** A desk whose `send` has another definition, and does the same. */
const OTHER_DESK = `import { appendFileSync } from 'node:fs';
import { defineModule, jsonSchema, tool } from 'sallyport/tool';
export default defineModule({
  id: 'desk',
  version: '1.1.0',
  description: 'Another desk.',
  tools: {
    send: tool({
      description: 'Sends a letter, by another way.',
      input: jsonSchema({ type: 'object' }),
      effect: 'unsafe',
      run: ({ file, ...args }, ctx) => appendFileSync(file, JSON.stringify({ ...args, callId: ctx.callId }) + '\\n'),
    }),
  },
});
`;

describe.each(BACKENDS)('approvals on %s', (backend) => {
  let plane: StagedPlane;
  let session: SessionHandle;
  let worker: RunningWorker | undefined;
  beforeAll(async () => {
    plane = await stagePlane(backend);
  });
  beforeEach(async () => {
    await plane.setPolicy(policyWith([OUTGOING]));
    session = await plane.openSession();
    worker ??= await openWorker();
  });
  afterAll(async () => {
    await worker?.drain();
    worker = undefined;
    await plane.stop();
  });

  /** In this process, because so many are started and drained here. */
  function openWorker(more: Partial<WorkerOptions> = {}, open = openStore): Promise<RunningWorker> {
    const options = { ...plane.storeOptions, modules: GATE_MODULES, health: false, log: SILENT_LOG, ...more };
    return startWorker(options as WorkerOptions, { openStore: open });
  }

  async function stopWorker(): Promise<void> {
    await worker?.drain();
    worker = undefined;
  }

  async function startAnotherWorker(more: Partial<WorkerOptions> = {}): Promise<void> {
    await stopWorker();
    worker = await openWorker(more);
  }

  const send = (text: string) => park(plane, session, 'desk.send', letter(plane, text));
  const ranBy = (callId: string) => sentLetters(plane).filter((sent) => sent.callId.startsWith(callId));

  /** Parked, no worker there any more, allowed: whatever changes now changes between the yes and the run. */
  async function allowed(): Promise<ParkedCall> {
    const parked = await send(randomId());
    await stopWorker();
    await decide(plane, parked.approval, 'allow-once');
    return parked;
  }

  describe('answered with yes, before something changes', () => {
    it('run when nothing has, or only what has nothing to do with them', async () => {
      const parked = await allowed();
      await plane.setPolicy(policyWith([{ ...NO_LETTERS, tools: ['desk.copy'] }, OUTGOING], { unattended: ['robot'] }));
      await startAnotherWorker();
      expect(await parked.outcome).toMatchObject({ kind: 'ok' });
      expect(ranBy(parked.callId)).toHaveLength(1);
      expect((await recordsOf(plane, parked.callId)).map(({ event }) => event)).toEqual([
        'approval.requested',
        'approval.decided',
        'call.settled',
      ]);
    });

    const REFUSED: Record<string, { change: (parked: ParkedCall) => Promise<unknown>; code: string }> = {
      'a rule denies the call': {
        change: () => plane.setPolicy(policyWith([OUTGOING, NO_LETTERS])),
        code: 'RULE_DENIED',
      },
      'its asking rule denies now': {
        change: () => plane.setPolicy(policyWith([{ ...OUTGOING, verdict: 'deny' }])),
        code: 'RULE_DENIED',
      },
      'the permission is taken away': {
        change: () =>
          plane.setPolicy(policyWith([OUTGOING], { permissions: { '*': { allow: ['*'], deny: ['alice'] } } })),
        code: 'PERMISSION_DENIED',
      },
      'the agent does not select the tool any more': {
        change: () =>
          plane.setPolicy(
            policyWith([OUTGOING], { agents: { main: { selection: [{ module: 'desk', tools: ['look'] }] } } }),
          ),
        code: 'NOT_SELECTED',
      },
      'the agent is paused': {
        change: () => plane.setPolicy(policyWith([OUTGOING], { paused: { agents: ['main'] } })),
        code: 'PAUSED',
      },
    };

    it.each(Object.keys(REFUSED))('do not run when %s', async (name) => {
      const { change, code } = REFUSED[name]!;
      const parked = await allowed();
      await change(parked);
      await startAnotherWorker();
      expect(await parked.outcome).toMatchObject({ executed: 'no', error: { code } });
      expect(ranBy(parked.callId)).toEqual([]);
    });

    it('do not run when the session is revoked', async () => {
      const parked = await allowed();
      await plane.client.revokeSession(session.id);
      await startAnotherWorker();
      expect(await parked.outcome.catch(() => undefined)).not.toMatchObject({ kind: 'ok' });
      expect((await recordOf(plane, parked.callId, 'call.settled')).detail).toMatchObject({ code: 'SESSION_ENDED' });
      expect(ranBy(parked.callId)).toEqual([]);
    });

    it('ask again when the asking rule has changed, and run after the second yes', async () => {
      const parked = await allowed();
      await plane.setPolicy(policyWith([{ ...OUTGOING, reason: 'It leaves the house and the country.' }]));
      await startAnotherWorker();
      const second = await untilAsked(plane, parked.callId, [parked.approval.question.id]);
      expect(second.question.reasons).toEqual(['rule outgoing: It leaves the house and the country.']);
      expect(second.question.arguments).toBe(parked.approval.question.arguments);
      expect(ranBy(parked.callId)).toEqual([]);
      await decide(plane, second, 'allow-once');
      expect(await parked.outcome).toMatchObject({ kind: 'ok', executed: 'yes' });
      expect(ranBy(parked.callId)).toHaveLength(1);
      expect((await recordOf(plane, parked.callId, 'call.settled')).approval).toBe(second.question.id);
    });

    it('ask once more, and not for ever, when one of two asking rules has changed', async () => {
      await plane.setPolicy(policyWith([OUTGOING, LETTERS]));
      const parked = await allowed();
      await plane.setPolicy(policyWith([OUTGOING, { ...LETTERS, reason: 'changed' }]));
      await startAnotherWorker();
      const second = await untilAsked(plane, parked.callId, [parked.approval.question.id]);
      expect(second.question.askers.map(({ id }) => id).sort()).toEqual(['letters', 'outgoing']);
      await decide(plane, second, 'allow-once');
      expect(await parked.outcome).toMatchObject({ kind: 'ok' });
      expect(ranBy(parked.callId)).toHaveLength(1);
    });

    const TAMPERED: Record<string, (approval: Approval) => Approval> = {
      'other arguments': (approval) => changed(approval, { arguments: otherText(approval) }),
      'another tool': (approval) => changed(approval, { tool: 'desk.copy' as Approval['question']['tool'] }),
      'another definition of the tool': (approval) => changed(approval, { toolDigest: 'f'.repeat(64) }),
      'another session': (approval) => changed(approval, { session: 'x' as SessionHandle['id'] }),
      'another call': (approval) => changed(approval, { callId: 'x' as Approval['question']['callId'] }),
      'another asking rule': (approval) =>
        changed(approval, { askers: [{ ...approval.question.askers[0]!, digest: 'f'.repeat(64) }] }),
      'a state that is no yes': (approval) => ({ ...approval, state: 'pending' }),
    };

    it.each(Object.keys(TAMPERED))('do not run when the store has %s in their place', async (name) => {
      const parked = await allowed();
      worker = await openWorker({}, (options) => openTamperedStore(options, TAMPERED[name]!));
      const code = name === 'a state that is no yes' ? 'APPROVAL_ALREADY_DECIDED' : 'APPROVAL_MISMATCH';
      expect(await parked.outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { code } });
      expect(ranBy(parked.callId)).toEqual([]);
      await stopWorker();
    });
  });

  describe('answered with always', () => {
    /** Makes a grant, and the session that asked for it. */
    async function granted(text: string, grant: { readonly uses?: number } = {}) {
      const parked = await send(text);
      const answer = await decide(plane, parked.approval, 'allow-always', { grant });
      expect((await parked.outcome).kind).toBe('ok');
      return { id: answer.grant!, parked };
    }

    it('are remembered: the next call runs unasked, and its audit names the grant', async () => {
      const text = randomId();
      const { id } = await granted(text);
      const answer = await plane.client.call(session, 'desk.send', letter(plane, text), { waitMs: 30_000 });
      if (answer.kind !== 'settled') throw new Error(answer.kind);
      expect(answer.outcome.kind).toBe('ok');
      const records = await recordsOf(plane, answer.callId);
      expect(records.map(({ event }) => event)).toEqual(['grant.used', 'call.settled']);
      expect(records[1]).toMatchObject({ grant: id, detail: { grant: id } });
      expect(sentLetters(plane, text)).toHaveLength(2);
    });

    it('are for these arguments, this agent and this subject only', async () => {
      const text = randomId();
      await granted(text);
      const other = await send(`${text} and more`);
      const agent = await plane.client.openSession({ subject: 'alice', agent: 'other' });
      const subject = await plane.client.openSession({ subject: 'bob', agent: 'main' });
      const asked = await Promise.all(
        [agent, subject].map((each) => park(plane, each, 'desk.send', letter(plane, text))),
      );
      for (const { approval } of [other, ...asked]) await decide(plane, approval, 'deny');
      expect(sentLetters(plane, text)).toHaveLength(1);
    });

    it('are used as often as was said, then ask again', async () => {
      const text = randomId();
      const { id } = await granted(text, { uses: 2 });
      for (let use = 0; use < 2; use += 1) {
        expect((await callFor(plane, session, 'desk.send', letter(plane, text))).kind).toBe('ok');
      }
      expect(await plane.store.readGrant(id as never)).toMatchObject({ usesLeft: 0 });
      await decide(plane, (await send(text)).approval, 'deny');
      expect(sentLetters(plane, text)).toHaveLength(3);
    });

    const TAKEN_BACK: Record<string, (id: string) => Promise<unknown>> = {
      'the grant is revoked': (id) => plane.client.grants.revoke(OPERATOR, id),
      'the rule has changed': () => plane.setPolicy(policyWith([{ ...OUTGOING, reason: 'other' }])),
      'one more rule asks': () => plane.setPolicy(policyWith([OUTGOING, LETTERS])),
    };
    it.each(Object.keys(TAKEN_BACK))('ask again when %s, also about a call that waits already', async (name) => {
      const text = randomId();
      const { id } = await granted(text);
      await stopWorker();
      const queued = park(plane, session, 'desk.send', letter(plane, text));
      await TAKEN_BACK[name]!(id);
      await startAnotherWorker();
      const { approval, outcome } = await queued;
      await decide(plane, approval, 'deny');
      expect(await outcome).toMatchObject({ executed: 'no', error: { code: 'APPROVAL_DENIED' } });
      expect(sentLetters(plane, text)).toHaveLength(1);
    });
  });

  it('asked for by a hook stay with whom it named, when a rule has changed and asks again', async () => {
    await startAnotherWorker({ hooks: [{ file: GATE_HOOKS }] });
    const parked = await send(`ask ${randomId()}`);
    expect(parked.approval.question.approvers).toContainEqual(['rita']);
    await stopWorker();
    await decide(plane, parked.approval, 'allow-once');
    await plane.setPolicy(policyWith([{ ...OUTGOING, reason: 'other' }], { approvers: ['bob'] }));
    await startAnotherWorker({ hooks: [{ file: GATE_HOOKS }] });
    const second = await untilAsked(plane, parked.callId, [parked.approval.question.id]);
    expect(second.question.approvers).toContainEqual(['rita']);
    await decide(plane, second, 'allow-once');
    expect((await parked.outcome).kind).toBe('ok');
    expect(ranBy(parked.callId)).toHaveLength(1);
    await stopWorker();
  });

  // The last one: from here on the catalog has the other desk.
  it('answered with yes do not run when the tool is another one: its call is asked about anew', async () => {
    const parked = await allowed();
    const folder = createModuleFolder({ 'desk.mjs': OTHER_DESK });
    await startAnotherWorker({ modules: folder.path });
    const second = await untilAsked(plane, `${parked.callId}~2`);
    expect(second.question.toolDigest).not.toBe(parked.approval.question.toolDigest);
    expect((await recordOf(plane, parked.callId, 'call.settled')).detail).toMatchObject({ code: 'TOOL_STALE' });
    expect(ranBy(parked.callId)).toEqual([]);
    await decide(plane, second, 'deny');
    expect(await parked.outcome).toMatchObject({ error: { code: 'APPROVAL_DENIED' } });
    await stopWorker();
    folder.dispose();
  });
});

function changed(approval: Approval, change: Partial<Approval['question']>): Approval {
  return { ...approval, question: { ...approval.question, ...change } };
}

function otherText({ question }: Approval): string {
  return JSON.stringify({ ...(JSON.parse(question.arguments) as object), text: 'somebody else wrote this' });
}

/** The real store, in which somebody has changed what was approved. */
async function openTamperedStore(options: StoreOptions, tamper: (approval: Approval) => Approval): Promise<Store> {
  const store = await openStore(options);
  return {
    ...store,
    lanes: store.lanes,
    async readApproval(id) {
      const approval = await store.readApproval(id);
      return approval === undefined ? undefined : tamper(approval);
    },
  };
}
