import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Policy } from '../../src/domain/policy/policy.ts';
import type { Approval, Principal } from '../../src/domain/policy/approval.ts';
import { OPEN_POLICY } from '../plane/support/stage-plane.ts';
import { DRESSED_COMMANDS } from '../support/dressed-commands.ts';
import { eventually } from '../support/process.ts';
import { stageMcp, type StagedMcp } from './stage-mcp.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const ASK = { id: 'letters', verdict: 'ask', tools: ['desk.send'], reason: 'Somebody should look.' } as const;

let staged: StagedMcp;
beforeAll(async () => {
  staged = await stageMcp({ waitMs: 2000 });
});
afterAll(() => staged.stop());

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> };
interface Asked {
  readonly message: string;
  readonly requestedSchema: { readonly properties: Record<string, unknown> };
}

const ERAS = ['2026-07-28', '2025-11-25'] as const;

async function connectAs(
  era: (typeof ERAS)[number],
  answer?: (asked: Asked) => Answer | Promise<Answer>,
): Promise<Client> {
  const client = new Client(
    { name: 'desk', version: '1' },
    {
      capabilities: answer === undefined ? {} : { elicitation: { form: {} } },
      ...(era === '2026-07-28' ? { versionNegotiation: { mode: { pin: era } } } : {}),
    },
  );
  if (answer !== undefined)
    client.setRequestHandler('elicitation/create', (request) => answer(request.params as unknown as Asked));
  const headers = { authorization: `Bearer ${staged.bearer()}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(staged.url), { requestInit: { headers } }));
  return client;
}

async function usePolicy(more: Partial<Policy>): Promise<void> {
  await staged.plane.setPolicy({ ...OPEN_POLICY, ...more });
}

function pendingQuestion(): Promise<Approval> {
  return eventually(async () => (await staged.plane.client.approvals.list(OPERATOR, { state: 'pending' }))[0], {
    what: 'a question',
  });
}

async function decide(decision: 'allow-once' | 'deny'): Promise<void> {
  const { question } = await pendingQuestion();
  await staged.plane.client.approvals.decide(OPERATOR, question.id, { decision, binding: question.binding });
}

const letter = (text: string) => ({ name: 'desk__send', arguments: { file: staged.plane.effectFile, text } });
const sent = (text: string): number => staged.plane.effects().filter((line) => line.startsWith(`${text} `)).length;
const codeOf = (result: { _meta?: unknown }): unknown =>
  (result._meta as Record<string, { code?: string }> | undefined)?.['sallyport/outcome']?.code;

describe.each(ERAS)('an approval at a client of %s that shows forms', (era) => {
  describe('where the requester may decide', () => {
    beforeEach(() => usePolicy({ rules: [{ ...ASK, ask: { approvers: ['default/*'] } }], requesterMayDecide: true }));

    it('runs the call once when its person allows it, and shows what runs', async () => {
      const text = `allowed-${era}`;
      let shown: Asked | undefined;
      const client = await connectAs(era, (asked) => {
        shown = asked;
        return { action: 'accept', content: { decision: 'allow-once' } };
      });
      const result = await client.callTool(letter(text));
      await client.close();
      expect(result.structuredContent).toEqual({ sent: text });
      expect(sent(text)).toBe(1);
      expect(shown!.message).toContain(`"text": "${text}"`);
      expect(shown!.message).toContain('Somebody should look.');
      const [approval] = await staged.plane.client.approvals.list(OPERATOR, { state: 'allowed', limit: 1 });
      expect(approval!.votes.map(({ by }) => by)).toEqual([{ kind: 'subject', name: 'default/alice' }]);
    });

    it.each([
      ['denies it', { action: 'accept', content: { decision: 'deny', comment: 'not today' } }],
      ['declines', { action: 'decline' }],
    ] as const)('denies the call when its person %s', async (_, answer) => {
      const client = await connectAs(era, () => answer);
      const result = await client.callTool(letter('denied'));
      await client.close();
      expect(result.isError).toBe(true);
      expect(codeOf(result)).toBe('APPROVAL_DENIED');
      expect(sent('denied')).toBe(0);
    });

    it('shows a command that was dressed up as a secret', async () => {
      const messages: string[] = [];
      const client = await connectAs(era, ({ message }) => {
        messages.push(message);
        return { action: 'decline' };
      });
      // A call that was denied twice is denied without a question the third time. These calls differ, so each one is asked about.
      for (const [, text] of DRESSED_COMMANDS) await client.callTool(letter(text));
      await client.close();
      expect(messages).toHaveLength(DRESSED_COMMANDS.length);
      for (const [index, [, text]] of DRESSED_COMMANDS.entries()) {
        expect(messages[index]).toContain(`"text": ${JSON.stringify(text)}`);
      }
    });

    it('offers no yes while something is masked, and names where it can be revealed', async () => {
      const text = `PASSWORD=hunter2-${era}`;
      let shown: Asked | undefined;
      const client = await connectAs(era, (asked) => {
        shown = asked;
        return { action: 'accept', content: { decision: 'wait' } };
      });
      const calling = client.callTool(letter(text));
      const { question } = await pendingQuestion();
      await eventually(() => (shown === undefined ? undefined : true), { what: 'the form' });
      expect(shown!.message).toContain(`"text": "PASSWORD=[secret, ${text.length - 9} characters]"`);
      expect(shown!.message).not.toContain('hunter2');
      expect(shown!.message).toContain(`sallyport approvals reveal ${question.id}`);
      expect(shown!.message).toContain(`/console/approvals/${encodeURIComponent(question.id)}`);
      expect(shown!.requestedSchema.properties['decision']).toMatchObject({
        oneOf: [{ const: 'deny' }, { const: 'wait' }],
      });
      const { approvals } = staged.plane.client;
      const yes = { decision: 'allow-once', binding: question.binding } as const;
      expect(await approvals.decide(OPERATOR, question.id, yes)).toEqual({ kind: 'not-revealed' });
      await approvals.reveal(OPERATOR, question.id, { binding: question.binding });
      await decide('allow-once');
      expect((await calling).structuredContent).toEqual({ sent: text });
      await client.close();
    });

    it('takes no yes from a form while something is masked', async () => {
      const answers: Answer[] = [
        { action: 'accept', content: { decision: 'allow-once' } },
        { action: 'accept', content: { decision: 'deny' } },
      ];
      const client = await connectAs(era, () => answers.shift()!);
      const text = `--token hunter2-${era}`;
      await client.callTool(letter(text));
      await client.close();
      // The client of 2026 gets the form again and denies. The SDK of 2025 rejects an answer that was not offered, which closes the form.
      if (era === '2025-11-25') await decide('deny');
      const [approval] = await staged.plane.client.approvals.list(OPERATOR, { state: 'denied', limit: 1 });
      expect(approval!.votes.map(({ decision }) => decision)).toEqual(['deny']);
      expect(sent(text)).toBe(0);
    });

    it('leaves the call pending when its person closes the form', async () => {
      const client = await connectAs(era, () => ({ action: 'cancel' }));
      const result = await client.callTool(letter(`closed-${era}`));
      await client.close();
      expect(result.isError).toBeUndefined();
      const state = (result._meta as Record<string, unknown>)['sallyport/state'];
      expect(state).toMatchObject({ state: 'pending' });
      await decide('deny');
      expect(sent(`closed-${era}`)).toBe(0);
    });
  });

  describe('where another approver decides', () => {
    beforeEach(() => usePolicy({ rules: [ASK] }));

    it('takes a yes of its person for "go on waiting", and runs when an operator allows it', async () => {
      const text = `waited-${era}`;
      let asked = 0;
      const client = await connectAs(era, ({ requestedSchema }) => {
        asked += 1;
        expect(requestedSchema.properties).toEqual({});
        return { action: 'accept', content: { decision: 'allow-once' } };
      });
      const calling = client.callTool(letter(text));
      await eventually(() => (asked > 0 ? true : undefined), { what: 'the form' });
      const { state } = await pendingQuestion();
      expect(state).toBe('pending');
      expect(sent(text)).toBe(0);
      await decide('allow-once');
      expect((await calling).structuredContent).toEqual({ sent: text });
      await client.close();
      expect(sent(text)).toBe(1);
    });

    it('calls the call off when its person declines', async () => {
      const client = await connectAs(era, () => ({ action: 'decline' }));
      const result = await client.callTool(letter('off'));
      await client.close();
      expect(result.isError).toBe(true);
      expect(codeOf(result)).toBe('APPROVAL_ABORTED');
      expect(sent('off')).toBe(0);
    });
  });
});

it('a form of 2025-11-25 is withdrawn when another approver decides first', async () => {
  await usePolicy({ rules: [ASK] });
  const client = await connectAs('2025-11-25', () => new Promise(() => undefined));
  const calling = client.callTool(letter('elsewhere'));
  await decide('allow-once');
  expect((await calling).structuredContent).toEqual({ sent: 'elsewhere' });
  await client.close();
});

describe.each(ERAS)('an approval at a client of %s that shows nothing', (era) => {
  beforeEach(() => usePolicy({ rules: [ASK] }));

  it('is reported as pending, and the same call again is the one that waits', async () => {
    const text = `again-${era}`;
    const client = await connectAs(era);
    const idOf = ({ _meta }: { _meta?: unknown }): unknown => (_meta as Record<string, unknown>)['sallyport/callId'];
    const pending = await client.callTool(letter(text));
    expect(idOf(await client.callTool(letter(text)))).toBe(idOf(pending));
    await decide('allow-once');
    const result = await client.callTool(letter(text));
    expect([idOf(result), result.structuredContent]).toEqual([idOf(pending), { sent: text }]);
    expect(sent(text)).toBe(1);
    // That call is over, so the same call is a new one now.
    expect(idOf(await client.callTool(letter(text)))).not.toBe(idOf(pending));
    await decide('deny');
    await client.close();
  });

  it('is reported as pending for a tool with an output schema too, to clients that check results against it', async () => {
    await usePolicy({ rules: [{ ...ASK, tools: ['desk.echo'] }] });
    const client = await connectAs(era);
    await client.listTools();
    const echo = { name: 'desk__echo', arguments: { text: `checked-${era}` } };
    const pending = await client.callTool(echo);
    expect(pending.isError).toBe(true);
    expect((pending.content as { text: string }[])[0]!.text).toContain('waits for a person to approve it');
    await decide('allow-once');
    expect((await client.callTool(echo)).structuredContent).toEqual({ text: `checked-${era}` });
    await client.close();
  });

  it('is reported as pending, and the same tool with the id of the call gives its result', async () => {
    const text = `plain-${era}`;
    const client = await connectAs(era);
    const pending = await client.callTool(letter(text));
    expect(pending.isError).toBeUndefined();
    const callId = (pending._meta as Record<string, string>)['sallyport/callId']!;
    expect((pending.content as { text: string }[])[0]!.text).toContain(callId);
    await decide('allow-once');
    const result = await client.callTool({ ...letter(text), _meta: { 'sallyport/callId': callId } });
    await client.close();
    expect(result.structuredContent).toEqual({ sent: text });
    expect(sent(text)).toBe(1);
  });
});
