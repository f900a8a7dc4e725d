import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore, type StoreOptions } from '../../src/operate/open-store.ts';
import { startWorker, type RunningWorker, type WorkerOptions } from '../../src/compose/start-worker.ts';
import type { Approval } from '../../src/domain/policy/approval.ts';
import type { Rule } from '../../src/domain/policy/rule.ts';
import type { SessionHandle } from '../../src/exports/client.ts';
import type { AnyStore, Store } from '../../src/domain/ports/store.ts';
import { bindingOf } from '../../src/gate/approvals/binding.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
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

type Question = Approval['question'];

/** The source of a desk whose `send` does the same but has another definition. */
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

  /** Starts a worker in this process: these tests start and drain many, and processes would take long. */
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

  /** Returns a call that was allowed while no worker runs, so that a test can change things between the decision and the run. */
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

    /** Each case has its own subject, and one policy changes all of them: to stop and start a worker takes longer than all else here. */
    const JUDGED_ANEW: Readonly<Record<string, string>> = {
      'a rule denies the call': 'RULE_DENIED',
      'its asking rule denies now': 'RULE_DENIED',
      'the permission is taken away': 'PERMISSION_DENIED',
      'the agent does not select the tool any more': 'NOT_SELECTED',
      'the agent is paused': 'PAUSED',
      'the session is revoked': 'SESSION_ENDED',
      'nothing is changed for it': 'ok',
    };

    it('do not run when a rule, permission, selection, pause or the end of the session forbids them now', async () => {
      const names = Object.keys(JUDGED_ANEW);
      const [denied, deniedNow, closed, narrow, sleepy, revoked] = names;
      const roles = { others: names.filter((name) => name !== deniedNow) };
      const others: Rule = { ...OUTGOING, subjects: ['role:others'] };
      const own: Rule = { ...OUTGOING, id: 'own', subjects: [deniedNow!] };
      await plane.setPolicy(policyWith([others, own], { roles }));
      const parked = await Promise.all(
        names.map(async (subject) => {
          const agent = subject === narrow ? 'narrow' : subject === sleepy ? 'sleepy' : 'main';
          const each = await plane.client.openSession({ subject, agent });
          return { each, ...(await park(plane, each, 'desk.send', letter(plane, randomId()))) };
        }),
      );
      await stopWorker();
      for (const { approval } of parked) await decide(plane, approval, 'allow-once');

      const everything = { selection: [{ module: 'desk', tools: 'all' as const }] };
      await plane.setPolicy(
        policyWith([others, { ...own, verdict: 'deny' }, { ...NO_LETTERS, subjects: [denied!] }], {
          roles,
          permissions: { '*': { allow: ['*'], deny: [closed!] } },
          agents: {
            main: everything,
            sleepy: everything,
            narrow: { selection: [{ module: 'desk', tools: ['look'] }] },
          },
          paused: { agents: ['sleepy'] },
        }),
      );
      await plane.client.revokeSession(parked[names.indexOf(revoked!)]!.each.id);
      await startAnotherWorker();

      const found = await Promise.all(
        parked.map(async ({ callId, outcome }, index) => {
          await outcome.catch(() => undefined);
          const { detail } = await recordOf(plane, callId, 'call.settled');
          const ran = ranBy(callId).length;
          return [names[index], detail['code'] ?? detail['outcome'], ran] as const;
        }),
      );
      expect(found).toEqual(Object.entries(JUDGED_ANEW).map(([name, code]) => [name, code, code === 'ok' ? 1 : 0]));
      expect(await parked[0]!.outcome).toMatchObject({ executed: 'no', error: { code: 'RULE_DENIED' } });
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

    interface Tampered {
      /** Whether the approver replaced the arguments. */
      readonly edits?: boolean;
      readonly tamper: (approval: Approval) => Approval;
      readonly code?: string;
    }
    const TAMPERED: Readonly<Record<string, Tampered>> = {
      'other arguments': { tamper: (approval) => changed(approval, { arguments: otherText(approval) }) },
      'another tool': { tamper: (approval) => changed(approval, { tool: 'desk.copy' as Question['tool'] }) },
      'another definition of the tool': { tamper: (approval) => changed(approval, { toolDigest: 'f'.repeat(64) }) },
      'another session': { tamper: (approval) => changed(approval, { session: 'x' as Question['session'] }) },
      'another call': { tamper: (approval) => changed(approval, { callId: 'x' as Question['callId'] }) },
      'another asking rule': {
        tamper: (approval) =>
          changed(approval, { askers: [{ ...approval.question.askers[0]!, digest: 'f'.repeat(64) }] }),
      },
      'a state that is no yes': {
        tamper: (approval) => ({ ...approval, state: 'pending' }),
        code: 'APPROVAL_ALREADY_DECIDED',
      },
      'edited arguments that nobody gave': {
        tamper: (approval) => ({ ...approval, editedArguments: otherText(approval) }),
      },
      'other edited arguments': {
        edits: true,
        tamper: (approval) => ({ ...approval, editedArguments: otherText(approval) }),
      },
      'no edited arguments any more': {
        edits: true,
        tamper: ({ editedArguments: _edited, ...approval }) => approval,
      },
      'no vote any more': { tamper: (approval) => ({ ...approval, votes: [] }) },
    };

    it('do not run when the store has other arguments, edits, tool, session, call, rule or state in their place', async () => {
      const parked = await Promise.all(Object.keys(TAMPERED).map(() => send(randomId())));
      await stopWorker();
      const tamperOf = new Map<string, Tampered['tamper']>();
      for (const [index, { edits, tamper }] of Object.values(TAMPERED).entries()) {
        const { approval } = parked[index]!;
        const edited = edits === true ? { arguments: letter(plane, 'as the approver wants it') } : {};
        await decide(plane, approval, 'allow-once', edited);
        tamperOf.set(approval.question.id, tamper);
      }
      const tampered: ChangedStore = async (store) => ({
        async readApproval(id) {
          const approval = await store.readApproval(id);
          return approval === undefined ? undefined : tamperOf.get(id)!(approval);
        },
      });
      worker = await openWorker({}, (options) => openChangedStore(options, tampered));
      const found = await Promise.all(
        parked.map(async ({ callId, outcome }, index) => {
          const { kind, executed, error } = await outcome;
          return [Object.keys(TAMPERED)[index], kind, executed, error?.code, ranBy(callId).length];
        }),
      );
      expect(found).toEqual(
        Object.entries(TAMPERED).map(([name, { code = 'APPROVAL_MISMATCH' }]) => [name, 'denied', 'no', code, 0]),
      );
      await stopWorker();
    });

    it('are denied without a question when the store cannot keep it', async () => {
      await stopWorker();
      const failing: ChangedStore = async () => ({ askApproval: () => Promise.reject(new Error('disk full')) });
      worker = await openWorker({}, (options) => openChangedStore(options, failing));
      const text = randomId();
      const outcome = await callFor(plane, session, 'desk.send', letter(plane, text));
      expect(outcome).toMatchObject({ kind: 'denied', executed: 'no', error: { code: 'APPROVAL_STORE_FAILED' } });
      expect(sentLetters(plane, text)).toEqual([]);
      await stopWorker();
    });
  });

  describe('answered with always', () => {
    /** Returns a grant together with the session whose call was asked about. */
    async function granted(text: string, grant: { readonly uses?: number } = {}) {
      const parked = await send(text);
      const answer = await decide(plane, parked.approval, 'allow-always', { grant });
      expect((await parked.outcome).kind).toBe('ok');
      return { id: answer.grant!, parked };
    }

    it('are remembered: the next call runs unasked, and its audit names the grant', async () => {
      const text = randomId();
      const { id } = await granted(text);
      const answer = await plane.client.call(session, 'desk.send', letter(plane, text), { waitMs: 60_000 });
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

    /** Each case has its own subject and rule, so that one change of the policy tests all of them. */
    it('ask again when the grant is revoked, its rule has changed or one more asks, also about a call that waits', async () => {
      const subjects = ['revoked', 'changed', 'more', 'as-before'];
      const ruleOf = (subject: string): Rule => ({ ...OUTGOING, id: `of-${subject}`, subjects: [subject] });
      const [revoked, changedRule, more, same] = subjects.map(ruleOf);
      const text = randomId();
      await plane.setPolicy(policyWith(subjects.map(ruleOf)));
      const opened = await Promise.all(subjects.map((subject) => plane.client.openSession({ subject, agent: 'main' })));
      const grants = await Promise.all(
        opened.map(async (each) => {
          const parked = await park(plane, each, 'desk.send', letter(plane, text));
          const { grant } = await decide(plane, parked.approval, 'allow-always');
          expect((await parked.outcome).kind).toBe('ok');
          return grant!;
        }),
      );
      await stopWorker();
      const queued = opened.slice(0, 3).map((each) => park(plane, each, 'desk.send', letter(plane, text)));
      const unasked = callFor(plane, opened[3]!, 'desk.send', letter(plane, text));
      await plane.client.grants.revoke(OPERATOR, grants[0]!);
      const rules = [revoked!, { ...changedRule!, reason: 'other' }, more!, { ...LETTERS, subjects: ['more'] }, same!];
      await plane.setPolicy(policyWith(rules));
      await startAnotherWorker();
      for (const { approval, outcome } of await Promise.all(queued)) {
        await decide(plane, approval, 'deny');
        expect(await outcome).toMatchObject({ executed: 'no', error: { code: 'APPROVAL_DENIED' } });
      }
      expect((await unasked).kind).toBe('ok');
      expect(sentLetters(plane, text)).toHaveLength(subjects.length + 1);
    });
  });

  it('are no larger than their call, however long the keys above masked values are', async () => {
    const secrets = { [`${'a'.repeat(50_000)}_password`]: Array<number>(400).fill(1) };
    const { approval, outcome } = await park(plane, session, 'desk.send', letter(plane, randomId(), secrets));
    const { question } = approval;
    expect(JSON.stringify(question).length).toBeLessThan(2 * question.arguments.length);
    expect(question.masks).toEqual([{ of: 'arguments', pointer: '' }]);
    const refused = { decision: 'allow-once', binding: question.binding } as const;
    expect(await plane.client.approvals.decide(OPERATOR, question.id, refused)).toEqual({ kind: 'not-revealed' });
    await decide(plane, approval, 'deny');
    expect(await outcome).toMatchObject({ error: { code: 'APPROVAL_DENIED' } });
  });

  it('have a binding that does not give away what they mask', async () => {
    const { approval } = await send(randomId());
    const { salt, tool, toolDigest, arguments: args, session: asking, askers, binding } = approval.question;
    expect(salt).toMatch(/^[\w-]{20,}$/);
    expect(bindingOf({ tool, toolDigest, arguments: args, session: asking, askers })).not.toBe(binding);
    await decide(plane, approval, 'deny');
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

  // This test is the last one, because after it the catalog has the other desk.
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

type ChangedStore = (store: Store) => Promise<Partial<Store>>;

/** The real store with some methods replaced by ones that answer something else, or fail. */
async function openChangedStore(options: StoreOptions, change: ChangedStore): Promise<AnyStore> {
  const store = await openStore(options);
  return { ...store, lanes: store.lanes, ...(await change(store)) };
}
