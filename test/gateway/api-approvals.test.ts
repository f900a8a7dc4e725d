import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failOnLeaks } from '../support/reaper.ts';
import { eventually } from '../support/process.ts';
import { DRESSED_COMMANDS } from '../support/dressed-commands.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';
import type { MadeToken } from '../support/create-token.ts';

interface Question {
  readonly id: string;
  readonly callId: string;
  readonly binding: string;
  readonly state: string;
  readonly arguments: { shown: string; bytes: number; digest: string; redacted: boolean };
  readonly mayDecide: boolean;
  readonly detail?: string;
}

const RULES = [
  { id: 'ask-echo', verdict: 'ask', tools: ['basic.echo'], ask: { approvers: ['role:reviewers'], timeoutMs: 60_000 } },
  { id: 'ask-wait', verdict: 'ask', tools: ['basic.wait'], ask: { timeoutMs: 1000 } },
];

const LONG = { at: '/text', length: { min: 20 } };
const SHORT = { at: '/text', length: { max: 10 } };

describe.each(['embedded', 'redis'] as const)('approvals over HTTP on %s', (store) => {
  let gateway: GatewayFixture;
  let agent: MadeToken;
  let approver: MadeToken;
  let reviewer: MadeToken;
  let requester: MadeToken;
  let stranger: MadeToken;
  let viewer: MadeToken;
  let admin: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({
      store,
      config: { gateway: { http: { rate: { perSecond: 5000, burst: 5000 } } } },
    });
    agent = await gateway.agentToken();
    approver = await gateway.makeToken({ name: 'olga', scopes: ['approver'] });
    reviewer = await gateway.makeToken({ scopes: ['approver'], decidesAs: 'default/rita' });
    requester = await gateway.makeToken({ scopes: ['approver'], decidesAs: 'default/local' });
    stranger = await gateway.makeToken({ scopes: ['approver'], decidesAs: 'default/stranger' });
    viewer = await gateway.makeToken({ scopes: ['operator'] });
    admin = await gateway.makeToken({ scopes: ['admin'] });
    const current = (await (await gateway.request('/v1/policy', { token: admin })).json()) as { version: number };
    const policy = { permissions: { '*': { allow: ['*'] } }, roles: { reviewers: ['rita'] }, rules: RULES };
    const set = await gateway.request('/v1/policy', {
      method: 'PUT',
      token: admin,
      json: { expectedVersion: current.version, policy },
    });
    if (set.status !== 200) throw new Error(`the policy was refused: ${await set.text()}`);
  });
  afterAll(async () => {
    await gateway?.stop();
    failOnLeaks();
  });

  /** Makes a call that needs an approval, each in a new run, because repeated denials in one run would count as a loop. */
  let runs = 0;
  async function ask(args: object = { text: 'please' }, tool = 'basic.echo'): Promise<Question> {
    const answer = await gateway.request('/v1/calls', {
      method: 'POST',
      headers: { 'sallyport-run': `run-${(runs += 1)}` },
      token: agent,
      json: { tool, arguments: args, waitMs: 0 },
    });
    const { callId } = (await answer.json()) as { callId: string };
    const pending = async (): Promise<string | undefined> => {
      const state = await gateway.request(`/v1/calls/${callId}`, { token: agent });
      return ((await state.json()) as { approval?: string }).approval;
    };
    await expect.poll(pending).toBeDefined();
    return read((await pending())!);
  }
  async function read(id: string, token: MadeToken = viewer): Promise<Question> {
    return (await (await gateway.request(`/v1/approvals/${id}`, { token })).json()) as Question;
  }
  const decide = (id: string, json: object, token: MadeToken = approver) =>
    gateway.request(`/v1/approvals/${id}/decide`, { method: 'POST', token, json });
  const settled = async (callId: string): Promise<object> =>
    (await (await gateway.request(`/v1/calls/${callId}/wait?waitMs=20000`, { token: agent })).json()) as object;

  it('a yes lets exactly what was shown run', async () => {
    const question = await ask({ text: 'run me' });
    expect(question).toMatchObject({
      state: 'pending',
      tool: 'basic.echo',
      subject: 'local',
      arguments: { shown: '{\n  "text": "run me"\n}', bytes: 17, redacted: false },
      editable: true,
    });
    const answer = await decide(question.id, { decision: 'allow-once', binding: question.binding });
    expect({ status: answer.status, body: await answer.json() }).toEqual({
      status: 200,
      body: { id: question.id, state: 'allowed' },
    });
    expect(await settled(question.callId)).toMatchObject({ outcome: { kind: 'ok', structured: { text: 'run me' } } });
    expect(await read(question.id)).toMatchObject({
      state: 'allowed',
      votes: [{ by: { kind: 'operator', name: 'olga' } }],
      editable: false,
    });
  });

  const reveal = (id: string, binding: string, token: MadeToken = approver) =>
    gateway.request(`/v1/approvals/${id}/reveal`, { method: 'POST', token, json: { binding } });
  const codeOf = async (answer: Response): Promise<unknown> => ({
    status: answer.status,
    code: ((await answer.json()) as { code?: string }).code,
  });

  it('a command that was dressed up as a secret is shown', async () => {
    const steps = DRESSED_COMMANDS.map(([, text]) => text);
    const question = await ask({ steps, text: 'x' });
    expect(question.arguments.shown).toBe(JSON.stringify({ steps, text: 'x' }, undefined, 2));
    expect(question).toMatchObject({ masked: false, arguments: { redacted: false } });
    await decide(question.id, { decision: 'deny', binding: question.binding });
  });

  it('what is masked is revealed to those who may decide, and only their own yes counts after it', async () => {
    const question = await ask({ text: 'token', password: 'hunter2hunter2' });
    expect(question).toMatchObject({ masked: true, revealed: false, arguments: { redacted: true } });
    const yes = { decision: 'allow-once', binding: question.binding };
    const always = { decision: 'allow-always', binding: question.binding, grant: { matches: 'any' } };
    const edited = { ...yes, arguments: { text: 'other' } };
    for (const body of [yes, always, edited]) {
      expect(await codeOf(await decide(question.id, body))).toEqual({ status: 409, code: 'APPROVAL_NOT_REVEALED' });
    }
    expect(await codeOf(await reveal(question.id, '0'.repeat(64)))).toMatchObject({ code: 'APPROVAL_MISMATCH' });
    expect(await codeOf(await reveal(question.id, question.binding, requester))).toMatchObject({ status: 403 });
    expect(await codeOf(await reveal(question.id, question.binding, stranger))).toMatchObject({ status: 404 });
    expect(await codeOf(await reveal(question.id, question.binding, viewer))).toMatchObject({ status: 403 });

    const answer = await reveal(question.id, question.binding, reviewer);
    expect(answer.status).toBe(200);
    const shown = (await answer.json()) as Question;
    expect(shown.arguments).toMatchObject({
      shown: '{\n  "password": "hunter2hunter2",\n  "text": "token"\n}',
      redacted: false,
    });
    expect(await read(question.id, reviewer)).toMatchObject({ revealed: true, arguments: { redacted: true } });
    expect(await read(question.id, approver)).toMatchObject({ revealed: false });
    expect(await codeOf(await decide(question.id, yes, approver))).toMatchObject({ code: 'APPROVAL_NOT_REVEALED' });
    expect((await decide(question.id, yes, reviewer)).status).toBe(200);
    expect(await codeOf(await reveal(question.id, question.binding))).toMatchObject({
      status: 409,
      code: 'APPROVAL_ALREADY_DECIDED',
    });
    const revealed = async (): Promise<unknown> => {
      const path = `/v1/audit?event=approval.revealed&callId=${question.callId}`;
      return ((await (await gateway.request(path, { token: viewer })).json()) as { items: unknown }).items;
    };
    await expect
      .poll(revealed)
      .toMatchObject([{ by: 'subject default/rita', binding: question.binding, approval: question.id }]);
  });

  it('the arguments are shown from the bytes that would run, secrets marked and hidden characters spelled out', async () => {
    const question = await ask({ text: 'a\u202eb <img src=x onerror=alert(1)>', password: 'hunter2hunter2' });
    expect(question.arguments.shown).not.toContain('hunter2');
    expect(question.arguments.shown).toMatch(/"password": \[secret [0-9a-f]{8}, 14 characters\]/);
    expect(question.arguments.shown).toContain('\\u202e');
    expect(question.arguments).toMatchObject({ redacted: true });
    // A short secret could be found by trying digests.
    expect(question.arguments).not.toHaveProperty('digest');
    await decide(question.id, { decision: 'deny', binding: question.binding });
  });

  it('other arguments run instead of those that were asked about', async () => {
    const question = await ask({ text: 'before' });
    const answer = await decide(question.id, {
      decision: 'allow-once',
      binding: question.binding,
      arguments: { text: 'after' },
    });
    expect(answer.status).toBe(200);
    expect(await settled(question.callId)).toMatchObject({ outcome: { kind: 'ok', structured: { text: 'after' } } });
    expect(await read(question.id)).toMatchObject({ editedArguments: { shown: '{\n  "text": "after"\n}' } });
  });

  it('R10 a decision is never made by GET', async () => {
    const question = await ask();
    const answer = await gateway.request(`/v1/approvals/${question.id}/decide?decision=allow-once`, {
      token: approver,
    });
    expect(answer.status).toBe(405);
    expect(await read(question.id)).toMatchObject({ state: 'pending' });
    await decide(question.id, { decision: 'deny', binding: question.binding });
  });

  it('R11 who asked, who may only look, and who is not named cannot decide', async () => {
    const question = await ask();
    const body = { decision: 'allow-once', binding: question.binding };
    const own = await decide(question.id, body, requester);
    expect({ status: own.status, ...((await own.json()) as object) }).toMatchObject({
      status: 403,
      code: 'APPROVAL_NOT_YOURS',
    });
    expect((await decide(question.id, body, viewer)).status).toBe(403);
    expect((await decide(question.id, body, agent)).status).toBe(403);
    const foreign = await decide(question.id, body, stranger);
    const nobodys = await decide(`${question.id.slice(0, -22)}${'A'.repeat(22)}`, body, stranger);
    expect([foreign.status, nobodys.status]).toEqual([404, 404]);
    expect((await foreign.text()).replaceAll(question.id, 'ID')).toBe(
      (await nobodys.text()).replaceAll(`${question.id.slice(0, -22)}${'A'.repeat(22)}`, 'ID'),
    );
    expect(await read(question.id)).toMatchObject({ state: 'pending', votes: [], mayDecide: false });
    expect(await read(question.id, reviewer)).toMatchObject({ mayDecide: true });
    expect(await read(question.id, requester)).toMatchObject({ mayDecide: false });
    expect((await decide(question.id, body, reviewer)).status).toBe(200);
    expect(await read(question.id)).toMatchObject({ votes: [{ by: { kind: 'subject', name: 'default/rita' } }] });
  });

  it('R12 what is unknown, cut short, decided, expired or cancelled is not decided again', async () => {
    const question = await ask();
    const yes = { decision: 'allow-once', binding: question.binding };
    expect((await decide('nothing', yes)).status).toBe(404);
    expect((await decide(question.id.slice(0, -4), yes)).status).toBe(404);
    expect((await decide(question.id, { ...yes, decision: 'deny' })).status).toBe(200);
    const second = await decide(question.id, yes);
    expect({ status: second.status, ...((await second.json()) as object) }).toMatchObject({
      status: 409,
      code: 'APPROVAL_ALREADY_DECIDED',
      facts: { state: 'denied' },
    });
    const cancelled = await ask();
    await gateway.request(`/v1/calls/${cancelled.callId}/cancel`, { method: 'POST', token: viewer });
    expect((await decide(cancelled.id, { decision: 'deny', binding: cancelled.binding })).status).toBe(410);
    const late = await ask({ ms: 1 }, 'basic.wait');
    await expect.poll(async () => (await read(late.id)).state).toBe('expired');
    expect((await decide(late.id, { decision: 'allow-once', binding: late.binding })).status).toBe(410);
  });

  it.each([
    { decision: 'ALLOW' },
    { decision: true },
    { decision: 'allow' },
    { decision: ['allow-once'] },
    { decision: 'allow-once', binding: '' },
    { decision: 'allow-once', grant: { matches: 'exact' } },
    { decision: 'allow-always', grant: { matches: { conditions: [{ at: 'no pointer' }] } } },
    { decision: 'allow-always', grant: { matches: { conditions: [{ at: '/txt', exists: false }] } } },
    { decision: 'allow-always', grant: { matches: { conditions: [LONG, SHORT] } } },
    { decision: 'allow-always', grant: { matches: 'everything' } },
    { decision: 'deny', arguments: { text: 'x' } },
    { decision: 'allow-once', approved: true },
  ])('R13 the decision %j is refused', async (body) => {
    const question = await ask();
    const answer = await decide(question.id, { binding: question.binding, ...body });
    expect(answer.status).toBe(400);
    expect(await read(question.id)).toMatchObject({ state: 'pending' });
    expect((await decide(question.id, { decision: 'deny', binding: question.binding })).status).toBe(200);
  });

  it('R14 a decision on something else than what would run decides nothing', async () => {
    const [question, other] = [await ask({ text: 'one' }), await ask({ text: 'two' })];
    const answer = await decide(question.id, { decision: 'allow-once', binding: other.binding });
    expect({ status: answer.status, ...((await answer.json()) as object) }).toMatchObject({
      status: 409,
      code: 'APPROVAL_MISMATCH',
    });
    expect(await read(question.id)).toMatchObject({ state: 'pending', votes: [] });
    for (const one of [question, other]) await decide(one.id, { decision: 'deny', binding: one.binding });
  });

  it('R15 of a yes and a no at once, one counts and the other learns which', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { id, binding } = await ask({ text: `round ${round}` });
      const answers = await Promise.all(
        (['allow-once', 'deny'] as const).map((decision) => decide(id, { decision, binding })),
      );
      expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 409]);
      const [won, lost] = answers[0]!.status === 200 ? answers : answers.toReversed();
      const { state } = (await won!.json()) as { state: string };
      expect(await lost!.json()).toMatchObject({ facts: { state } });
    }
  });

  it('R16 a comment is kept as text, cut to its length; a flood of it is refused', async () => {
    const { id, binding } = await ask();
    expect((await decide(id, { decision: 'deny', binding, comment: 'x'.repeat(1_000_000) })).status).toBe(400);
    const comment = '<script>alert(1)</script> why not';
    expect((await decide(id, { decision: 'deny', binding, comment })).status).toBe(200);
    expect(await read(id)).toMatchObject({ votes: [{ comment }] });
  });

  it('always makes a grant that answers the next time, until it is taken back', async () => {
    const first = await ask({ text: 'always' });
    const answer = await decide(first.id, {
      decision: 'allow-always',
      binding: first.binding,
      grant: { matches: 'exact', uses: 5 },
    });
    const { grant } = (await answer.json()) as { grant: string };
    expect(grant).toBeTypeOf('string');
    await settled(first.callId);
    const call = () =>
      gateway.request('/v1/calls', {
        method: 'POST',
        token: agent,
        json: { tool: 'basic.echo', arguments: { text: 'always' }, waitMs: 20_000 },
      });
    const granted = await call();
    expect(granted.status).toBe(200);
    const list = (await (await gateway.request('/v1/grants', { token: viewer })).json()) as { items: { id: string }[] };
    expect(list.items).toEqual([
      expect.objectContaining({
        id: grant,
        usesLeft: 4,
        // No digest of the arguments: a short masked secret could be guessed from it.
        matches: { kind: 'exact' },
      }),
    ]);
    expect((await gateway.request(`/v1/grants/${grant}`, { method: 'DELETE', token: stranger })).status).toBe(404);
    expect((await gateway.request(`/v1/grants/${grant}`, { method: 'DELETE', token: approver })).status).toBe(204);
    const asked = await ask({ text: 'always' });
    await decide(asked.id, { decision: 'deny', binding: asked.binding });
  });

  it('the second of two decisions gets the answer that the first stands and that it made no grant', async () => {
    const { id, binding } = await ask({ text: 'twice' });
    const always = { decision: 'allow-always', binding, grant: { matches: 'exact', uses: 5 } };
    const first = (await (await decide(id, always)).json()) as { grant: string };
    expect(await (await decide(id, always)).json()).toEqual({ id, state: 'allowed', grant: first.grant });
    const others = [
      { ...always, grant: { matches: 'any', uses: 5 } },
      { ...always, grant: { matches: 'exact', uses: 5, agentOnly: false } },
      { ...always, grant: { matches: 'exact', uses: 2 } },
      { ...always, grant: { matches: 'exact', uses: 5, lifetimeMs: 1000 } },
    ];
    for (const json of others) {
      const answer = await decide(id, json);
      expect(answer.status).toBe(409);
      expect(await answer.json()).toMatchObject({
        code: 'APPROVAL_ALREADY_DECIDED',
        detail: 'It was already allowed; nothing was changed. The first decision stands, and no grant was made.',
      });
    }
    expect((await gateway.request(`/v1/grants/${first.grant}`, { method: 'DELETE', token: approver })).status).toBe(
      204,
    );
  });

  it('the detail of a call shows the approvers and their decisions', async () => {
    const question = await ask({ text: 'told' });
    await decide(question.id, { decision: 'deny', binding: question.binding, comment: 'not today' });
    await settled(question.callId);
    const detail = async (): Promise<{ audit: unknown[] }> =>
      (await (await gateway.request(`/v1/calls/${question.callId}`, { token: viewer })).json()) as { audit: unknown[] };
    await expect.poll(async () => (await detail()).audit.length).toBeGreaterThanOrEqual(3);
    expect(await detail()).toMatchObject({
      approvals: [{ id: question.id, state: 'denied' }],
      verdict: expect.arrayContaining([
        { by: 'approval', id: question.id, decision: 'deny', reason: 'not today' },
      ]) as object,
      stages: expect.arrayContaining([expect.objectContaining({ stage: 'gate', result: 'denied' })]) as object,
    });
  });

  it('the conditions of a grant compare what was revealed, and show marks to every reader', async () => {
    const args = { text: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' };
    const { id, binding, callId } = await ask(args);
    await reveal(id, binding, reviewer);
    const conditions = [
      { at: '/text', equals: args.text },
      { at: '/text', length: { min: 4 } },
    ];
    const given = { decision: 'allow-always', binding, grant: { matches: { conditions } } };
    expect((await decide(id, given, reviewer)).status).toBe(200);
    const again = { method: 'POST', token: agent, headers: { 'sallyport-run': `run-${(runs += 1)}` } };
    const second = await gateway.request('/v1/calls', { ...again, json: { tool: 'basic.echo', arguments: args } });
    expect(await second.json()).toMatchObject({ outcome: { kind: 'ok' } });
    const mark = expect.stringMatching(/^\[secret [0-9a-f]{8}\]$/) as string;
    const shown = [{ at: '/text', equals: mark }, conditions[1]];
    for (const token of [viewer, approver, reviewer]) {
      const { items } = (await (await gateway.request('/v1/grants', { token })).json()) as { items: object[] };
      expect(items).toContainEqual(expect.objectContaining({ matches: { kind: 'conditions', conditions: shown } }));
    }
    // On Redis, records are in the trail only after the gateway has moved them there.
    const records = await eventually(
      async () => {
        const listed = await gateway.request(`/v1/audit?limit=100&callId=${callId}`, { token: viewer });
        const text = await listed.text();
        return text.includes('approval.decided') ? text : undefined;
      },
      { what: 'the record of the decision' },
    );
    expect(records).not.toContain('16C7e42F');
  });
});
