import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallEvent, CallOptions, SessionHandle } from '../../src/exports/client.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { renderQuestion } from '../../src/gate/approvals/render-question.ts';
import { decide, OPERATOR, park, policyWith } from './support/gate-plane.ts';
import { BACKENDS, OPEN_POLICY, stagePlane, type StagedPlane } from './support/stage-plane.ts';

const FILE = fileURLToPath(new URL('../fixtures/surfaces-plane/desk.mjs', import.meta.url));
/** One module, served from both runners by one worker. */
const IDS = { inline: 'desk', process: 'booth' } as const;
const RUNNERS = ['inline', 'process'] as const;
const ANN = { action: 'accept', content: { name: 'Ann', phone: '49' } };

describe.each(BACKENDS)('a tool that asks its caller, on %s', (backend) => {
  let plane: StagedPlane;
  beforeAll(async () => {
    plane = await stagePlane(backend);
    const modules = join(plane.folder, 'modules.json');
    writeFileSync(modules, JSON.stringify(RUNNERS.map((runner) => ({ id: IDS[runner], file: FILE, runner }))));
    await plane.startWorker({ modules });
  });
  afterAll(() => plane.stop());

  describe.each(RUNNERS)('from the %s runner', (runner) => {
    const id = IDS[runner];
    let session: SessionHandle;
    beforeEach(async () => {
      session = await plane.openSession();
    });

    /** Waits for the outcome. */
    async function call(tool: string, args: JsonObject = {}, options: CallOptions = {}) {
      const answer = await plane.client.call(session, `${id}.${tool}`, args, { waitMs: 60_000, ...options });
      if (answer.kind !== 'settled') throw new Error(`It is ${JSON.stringify(answer)}.`);
      return answer;
    }

    const runsOfBook = async (): Promise<unknown> => (await call('runs')).outcome.structured;

    it('ends its run with what it needs, and is run again by the call that brings it', async () => {
      const asked = await call('book', { guests: 4 });
      expect(asked.outcome).toMatchObject({
        kind: 'failed',
        executed: 'yes',
        retryable: false,
        error: { code: 'INPUT_REQUIRED', message: `${id}.book needs an answer first: who.` },
      });
      expect(asked.input).toStrictEqual({
        requests: {
          who: {
            kind: 'elicit',
            message: 'For whom?',
            schema: {
              type: 'object',
              properties: {
                name: { type: 'string', minLength: 2 },
                phone: { type: 'string' },
                table: { type: 'string', default: 'any' },
              },
              required: ['name'],
            },
          },
        },
      });
      const done = await call('book', { guests: 4 }, { input: { responses: { who: ANN } } });
      expect(done.outcome).toMatchObject({ kind: 'ok', content: [{ text: 'Booked for 4: Ann 49' }] });
      expect(done.input).toBeUndefined();
    });

    it('gets the answer that a person declined, and decides itself', async () => {
      const { outcome } = await call('book', { guests: 4 }, { input: { responses: { who: { action: 'decline' } } } });
      expect(outcome.content).toMatchObject([{ text: 'Not booked: decline.' }]);
    });

    it.each([
      ['of another name', { other: ANN }, undefined],
      ['that is no object', { who: 12_345 }, ['it is not an object']],
      ['with another action', { who: { action: 'maybe' } }, ['its action is none of accept, decline and cancel']],
      ['without what is required', { who: { action: 'accept', content: {} } }, ['name is missing']],
      ['of the wrong type', { who: { action: 'accept', content: { name: 7 } } }, ['name is not a text']],
      ['that is too short', { who: { action: 'accept', content: { name: 'A' } } }, ['name is too long or too short']],
    ])('asks again after a response %s', async (_what, responses, problems) => {
      const { input, outcome } = await call('book', { guests: 1 }, { input: { responses } });
      expect(outcome.error?.code).toBe('INPUT_REQUIRED');
      expect(input?.requests).toHaveProperty('who');
      expect(input?.problems).toStrictEqual(problems === undefined ? undefined : { who: problems });
    });

    it('ignores answers it did not ask for', async () => {
      const { outcome } = await call('book', { guests: 1 }, { input: { responses: { who: ANN, more: 1, other: {} } } });
      expect(outcome.kind).toBe('ok');
    });

    it('asks in rounds: what was answered, and what the tool kept, comes along in the state', async () => {
      const first = await call('rounds');
      expect(Object.keys(first.input!.requests)).toStrictEqual(['first']);
      const responses = { first: { action: 'accept', content: { a: 'one' } } };
      const second = await call('rounds', {}, { input: { responses } });
      expect(Object.keys(second.input!.requests)).toStrictEqual(['second']);
      const { state } = second.input!;
      const last = { second: { action: 'accept', content: { b: 2 } } };
      const done = await call('rounds', {}, { input: { responses: last, state: state! } });
      expect(done.outcome.structured).toStrictEqual({ first: { a: 'one' }, second: { b: 2 }, state: { seen: 'one' } });

      // With other arguments, or when it was changed, the state is ignored, and so are the responses that came with it.
      const elsewhere = await call('rounds', { about: 'y' }, { input: { responses: last, state: state! } });
      expect(Object.keys(elsewhere.input!.requests)).toStrictEqual(['first']);
    });

    it('is not run with a state that reads otherwise than it looks', async () => {
      const responses = { first: { action: 'accept', content: { a: 'one' } } };
      const { state } = (await call('rounds', {}, { input: { responses } })).input!;
      const [mark, kept] = [state!.slice(0, 33), state!.slice(33)];
      for (const forged of [
        `x${state!}`,
        `${mark}no JSON`,
        `${mark}[]`,
        mark + kept.replace('"one"', '"o\\u006ee"'),
        mark + kept.replace('"a":"one"', '"a":"two","a":"one"'),
        mark + kept.replace('{', '{ '),
        mark + kept.replace('{', '{"aside":1,'),
      ])
        expect(await plane.client.call(session, `${id}.rounds`, {}, { input: { state: forged } })).toMatchObject({
          kind: 'refused',
          outcome: { kind: 'invalid', executed: 'no', error: { code: 'ENVELOPE_INVALID' } },
        });
    });

    it('shows an approver the answers of earlier rounds as values', async () => {
      const responses = { first: { action: 'accept', content: { a: 'one' } } };
      const { state } = (await call('rounds', {}, { input: { responses } })).input!;
      await plane.setPolicy(policyWith([{ id: 'rounds', verdict: 'ask', tools: [`${id}.rounds`] }]));
      try {
        const last = { second: { action: 'accept', content: { b: 2 } } };
        const parked = await park(plane, session, `${id}.rounds`, {}, { input: { responses: last, state: state! } });
        expect(JSON.parse(parked.approval.question.answers!)).toStrictEqual({
          responses: last,
          state: { answers: responses, state: { seen: 'one' } },
        });
        await decide(plane, parked.approval, 'allow-once');
        expect((await parked.outcome).structured).toMatchObject({ first: { a: 'one' }, second: { b: 2 } });
      } finally {
        await plane.setPolicy(OPEN_POLICY);
      }
    });

    it('does not get an answer that its form made into another one', async () => {
      const answered = (to: string) =>
        call('deploy', {}, { input: { responses: { where: { action: 'accept', content: { to } } } } });
      expect((await answered(' prod')).outcome).toMatchObject({
        kind: 'invalid',
        executed: 'yes',
        error: { code: 'ANSWERS_TRANSFORMED', facts: { changes: ['where.to: changed'] } },
      });
      expect((await answered('PROD')).outcome).toMatchObject({ content: [{ text: 'Deployed to PROD' }] });
    });

    it('gets the state from the call that asked, if it is of this session and tool', async () => {
      const responses = { first: { action: 'accept', content: { a: 'one' } } };
      const asked = await call('rounds', {}, { input: { responses } });
      const last = { second: { action: 'accept', content: { b: 2 } } };
      const done = await call('rounds', {}, { input: { responses: last, of: asked.callId } });
      expect(done.outcome.structured).toMatchObject({ state: { seen: 'one' } });

      const book = await call('book', { guests: 1 });
      const other = await plane.openSession();
      const stranger = await plane.client.openSession({ subject: 'mallory', agent: 'main' });
      for (const [caller, of] of [
        [session, book.callId],
        [session, done.callId],
        [session, `${asked.callId}-TAMPERED`],
        [other, asked.callId],
        [stranger, asked.callId],
      ] as const)
        expect(await plane.client.call(caller, `${id}.rounds`, {}, { input: { responses: last, of } })).toMatchObject({
          kind: 'refused',
          outcome: { kind: 'invalid', executed: 'no', error: { code: 'INPUT_STALE' } },
        });
    });

    it('can ask for a model, for folders and for a page', async () => {
      const { input } = await call('several');
      expect(input?.requests).toStrictEqual({
        model: { kind: 'sample', messages: [{ role: 'user', text: 'Hi' }], maxTokens: 50, system: 'Be brief.' },
        folders: { kind: 'roots' },
        page: { kind: 'elicit-url', message: 'Sign in', url: 'https://example.org/login', id: 'page' },
      });
      const responses = {
        model: { role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'm', stopReason: 'endTurn' },
        folders: { roots: [{ uri: 'file:///a', name: 'A', more: 1 }] },
        page: { action: 'accept' },
      };
      const partly = await call('several', {}, { input: { responses: { model: responses.model } } });
      expect(Object.keys(partly.input!.requests)).toStrictEqual(['folders', 'page']);
      const { outcome } = await call('several', {}, { input: { responses } });
      expect(outcome.structured).toStrictEqual({
        text: 'Hello',
        roots: [{ uri: 'file:///a', name: 'A' }],
        page: 'accept',
      });
    });

    it('gets the kinds that the caller can be asked for, and ends when they are not enough', async () => {
      expect((await call('kinds')).outcome.structured).toStrictEqual({ input: null });
      const { outcome } = await call('kinds', {}, { input: { kinds: ['sample'] } });
      expect(outcome.structured).toStrictEqual({ input: { kinds: ['sample'], responses: {} } });
      expect((await call('book', { guests: 1 }, { input: { kinds: ['sample'] } })).outcome).toMatchObject({
        kind: 'failed',
        error: { code: 'INPUT_UNAVAILABLE', facts: { kinds: ['elicit'] } },
      });
      expect((await call('book', { guests: 1 }, { input: { kinds: ['elicit'] } })).input?.requests).toHaveProperty(
        'who',
      );
    });

    it('other answers under the same key are another call, the same ones are not', async () => {
      const key = `key-${runner}`;
      const before = (await runsOfBook()) as number;
      const first = await call('book', { guests: 1 }, { key, input: { responses: { who: ANN } } });
      const again = await call('book', { guests: 1 }, { key, input: { responses: { who: ANN } } });
      expect(again).toStrictEqual(first);
      expect(await runsOfBook()).toBe(before + 1);
      const bob = { action: 'accept', content: { name: 'Bob' } };
      for (const input of [{ responses: { who: bob } }, undefined]) {
        const options = { key, ...(input === undefined ? {} : { input }) };
        expect(await plane.client.call(session, `${id}.book`, { guests: 1 }, options)).toMatchObject({
          outcome: { kind: 'conflict', error: { code: 'KEY_CONFLICT' } },
        });
      }
    });

    it('does not see what is no JSON, or too much of it', async () => {
      const refusal = async (input: unknown) => {
        const answer = await plane.client.call(session, `${id}.kinds`, {}, { input } as CallOptions);
        return answer.kind === 'refused' ? answer.outcome.error?.code : answer.kind;
      };
      expect(await refusal(null)).toBe('ENVELOPE_INVALID');
      expect(await refusal({ responses: [] })).toBe('ENVELOPE_INVALID');
      expect(await refusal({ responses: { at: new Date() } })).toBe('ENVELOPE_INVALID');
      expect(await refusal({ state: 7 })).toBe('ENVELOPE_INVALID');
      expect(await refusal({ kinds: ['everything'] })).toBe('ENVELOPE_INVALID');
      expect(await refusal({ responses: { x: 'x'.repeat(600_000) } })).toBe('ARGUMENTS_TOO_LARGE');
    });

    it("is its author's business when it asks for too much, keeps too much, or catches the error", async () => {
      expect((await call('wrong')).outcome).toMatchObject({ kind: 'exception', error: { code: 'TOOL_THREW' } });
      expect((await call('large')).outcome).toMatchObject({ kind: 'exception', error: { code: 'TOOL_THREW' } });
      expect((await call('caught')).outcome).toMatchObject({ kind: 'ok', content: [{ text: 'caught' }] });
    });

    it('can hand on what a tool that it calls asks for', async () => {
      const asked = await call('asks', { tool: `${id}.book` });
      expect(asked.input?.requests).toMatchObject({ who: { kind: 'elicit', message: 'For whom?' } });
      const { outcome } = await call('asks', { tool: `${id}.book` }, { input: { responses: { who: ANN } } });
      expect(outcome.content).toMatchObject([{ text: 'Booked for 2: Ann 49' }]);
    });

    it('is asked about with all answers in sight, and only credentials in them masked', async () => {
      const rule = { id: 'tables', verdict: 'ask', tools: [`${id}.book`] } as const;
      await plane.setPolicy(policyWith([rule]));
      try {
        const long = `PASSWORD="x$(${'y '.repeat(2000)})"`;
        const content = { name: 'Ann', password: 'hunter2-hunter2', note: long };
        const responses = { who: { action: 'accept', content } };
        const parked = await park(plane, session, `${id}.book`, { guests: 3 }, { input: { responses } });
        const { question } = parked.approval;
        const { answers, masked } = renderQuestion(question);
        expect(answers!.text).toContain('"name": "Ann"');
        expect(answers!.text).toContain(JSON.stringify(long));
        expect(answers!.text).toContain('"password": [secret, 15 characters]');
        expect(masked).toBe(1);
        const { binding } = question;
        expect(await plane.client.approvals.reveal(OPERATOR, question.id, { binding })).toEqual({ kind: 'revealed' });
        await decide(plane, parked.approval, 'allow-once');
        expect(await parked.outcome).toMatchObject({ kind: 'ok', content: [{ text: 'Booked for 3: Ann' }] });
      } finally {
        await plane.setPolicy(OPEN_POLICY);
      }
    });

    it('notifies the callers that ask for events, within bounds', async () => {
      const events: CallEvent[] = [];
      await call('tells', { many: 1000 }, { onEvent: (event) => void events.push(event) });
      const told = events.filter((event) => event.kind === 'logged');
      expect(told.slice(0, 4)).toMatchObject([
        { kind: 'logged', level: 'info', data: 'It begins.' },
        { kind: 'logged', level: 'warn', data: { at: 1 } },
        { kind: 'logged', level: 'info', data: { problem: expect.any(String) as string } },
        { kind: 'logged', level: 'debug', data: 0 },
      ]);
      expect(told).toHaveLength(200);
    });
  });
});
