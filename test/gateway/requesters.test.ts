import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallId } from '../../src/domain/identity/ids.ts';
import { createLoginLink } from '../../src/gateway/login-link.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { MadeToken } from '../support/create-token.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

interface Question {
  readonly id: string;
  readonly callId: string;
  readonly binding: string;
  readonly mayDecide: boolean;
  readonly state: string;
  readonly votes: readonly { readonly by: { readonly kind: string; readonly name: string } }[];
}

const RULES = [
  { id: 'ask-echo', verdict: 'ask', tools: ['basic.echo'], ask: { approvers: ['role:reviewers'], timeoutMs: 60_000 } },
];

describe.each(['embedded', 'redis'] as const)('who decides and who opens sessions, on %s', (store) => {
  let gateway: GatewayFixture;
  let viewer: MadeToken;
  let admin: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({
      store,
      config: { gateway: { http: { rate: { perSecond: 5000, burst: 5000 } } } },
    });
    viewer = await gateway.makeToken({ name: 'vera', scopes: ['operator'] });
    admin = await gateway.makeToken({ name: 'root', scopes: ['admin'] });
    const current = (await (await gateway.request('/v1/policy', { token: admin })).json()) as { version: number };
    const policy = { permissions: { '*': { allow: ['*'] } }, roles: { reviewers: ['rita'] }, rules: RULES };
    const json = { expectedVersion: current.version, policy };
    const set = await gateway.request('/v1/policy', { method: 'PUT', token: admin, json });
    if (set.status !== 200) throw new Error(`the policy was refused: ${await set.text()}`);
  });
  afterAll(async () => {
    await gateway?.stop();
    failOnLeaks();
  });

  let runs = 0;
  /** Makes a call that needs an approval, in a new run, and returns its question. */
  async function ask(token: { readonly text: string }): Promise<Question> {
    const answer = await gateway.request('/v1/calls', {
      method: 'POST',
      headers: { 'sallyport-run': `run-${(runs += 1)}`, authorization: `Bearer ${token.text}` },
      json: { tool: 'basic.echo', arguments: { text: `please ${runs}` }, waitMs: 0 },
    });
    const { callId } = (await answer.json()) as { callId: string };
    const pending = async () => (await gateway.store.readCall(callId as CallId))?.approval;
    await expect.poll(pending).toBeDefined();
    return read((await pending())!, viewer);
  }
  async function read(id: string, token: MadeToken): Promise<Question> {
    return (await (await gateway.request(`/v1/approvals/${id}`, { token })).json()) as Question;
  }
  async function decide({ id, binding }: Question, token: MadeToken): Promise<{ status: number; code?: string }> {
    const json = { decision: 'allow-once', binding };
    const answer = await gateway.request(`/v1/approvals/${id}/decide`, { method: 'POST', token, json });
    const { code } = (await answer.json()) as { code?: string };
    return { status: answer.status, ...(code === undefined ? {} : { code }) };
  }
  const NOT_YOURS = { status: 403, code: 'APPROVAL_NOT_YOURS' };

  /** Expects that another approver may decide the question: the refusals before depended only on who had asked for the call. */
  async function expectOthersMay(question: Question): Promise<void> {
    const olga = await gateway.makeToken({ name: 'olga', scopes: ['approver'] });
    expect(await decide(question, olga)).toEqual({ status: 200 });
  }

  it('a token with agent and approver decides neither its own calls nor others of its subject', async () => {
    const both = await gateway.makeToken({ name: 'both', scopes: ['agent', 'approver'] });
    const sibling = await gateway.makeToken({ name: 'sibling', scopes: ['agent'], identity: { agent: 'other' } });
    const asRita = await gateway.makeToken({
      name: 'both-as-rita',
      scopes: ['agent', 'approver'],
      decidesAs: 'default/rita',
    });
    for (const asking of [both, sibling]) {
      const question = await ask(asking);
      for (const token of [both, asRita]) {
        expect(await decide(question, token)).toEqual(NOT_YOURS);
        expect(await read(question.id, token)).toMatchObject({ state: 'pending', mayDecide: false });
        const reveal = { method: 'POST', token, json: { binding: question.binding } };
        expect((await gateway.request(`/v1/approvals/${question.id}/reveal`, reveal)).status).toBe(403);
      }
      await expectOthersMay(question);
    }
    const stranger = await gateway.makeToken({ name: 'bob', scopes: ['agent'], identity: { subject: 'bob' } });
    expect(await decide(await ask(stranger), both)).toEqual({ status: 200 });
  });

  it('no person is asked by an unattended token, session or run, and no request of the bearer makes one attended', async () => {
    const night = await gateway.makeToken({ name: 'night', scopes: ['agent', 'sessions'], unattended: true });
    const opens = await gateway.makeToken({ name: 'opens', scopes: ['sessions'] });
    const open = async (token: MadeToken, unattended: boolean): Promise<{ text: string; id: string; run: string }> => {
      const json = { subject: 'nina', agent: 'assistant', unattended };
      const opened = (await (await gateway.request('/v1/sessions', { method: 'POST', token, json })).json()) as {
        bearer: string;
        id: string;
        run: string;
      };
      return { ...opened, text: opened.bearer };
    };
    const bearer = ({ text }: { readonly text: string }) => ({ authorization: `Bearer ${text}` });
    const attended = await open(opens, false);
    const runs = `/v1/sessions/${attended.id}/runs?unattended=true`;
    const inRun = await gateway.request(runs, { method: 'POST', headers: bearer(attended) });
    const { run } = (await inRun.json()) as { run: string };
    const callers: [string, Record<string, string>][] = [
      ['token', bearer(night)],
      ['session of the token', bearer(await open(night, false))],
      ['session', bearer(await open(opens, true))],
      ['named run', { ...bearer(attended), 'sallyport-run': 'unattended-nightly' }],
      ['opened run', { ...bearer(attended), 'sallyport-run': run }],
    ];
    for (const [which, headers] of callers) {
      const json = { tool: 'basic.echo', arguments: { text: `please, ${which}` }, waitMs: 20_000 };
      const answer = await gateway.request('/v1/calls', { method: 'POST', headers, json });
      const { outcome } = (await answer.json()) as { outcome?: { error?: { code: string } } };
      expect([which, outcome?.error?.code]).toEqual([which, 'APPROVAL_DENIED_AT_ONCE']);
    }
    await expectOthersMay(await ask(attended));
    const me = (await (await gateway.request('/v1/me', { token: night })).json()) as object;
    expect(me).toMatchObject({ unattended: true });
    const asAdmin = { name: 'x', scopes: ['sessions', 'admin'], unattended: true };
    expect((await gateway.request('/v1/tokens', { method: 'POST', token: admin, json: asAdmin })).status).toBe(400);
  });

  it('an admin that calls tools does not decide for its own subject either', async () => {
    const all = await gateway.makeToken({
      name: 'all',
      scopes: ['agent', 'operator', 'approver', 'sessions', 'admin'],
    });
    const question = await ask(all);
    expect(await decide(question, all)).toEqual(NOT_YOURS);
    await expectOthersMay(question);
  });

  it('tokens of one name are one principal: the second does not allow what the first has asked for', async () => {
    const calls = await gateway.makeToken({ name: 'ada', scopes: ['agent'], identity: { subject: 'ada' } });
    const decides = await gateway.makeToken({ name: 'ada', scopes: ['approver'] });
    const question = await ask(calls);
    expect(await decide(question, decides)).toEqual(NOT_YOURS);
    await expectOthersMay(question);
  });

  it('opening sessions is a scope of its own, and operator is refused with its name', async () => {
    const json = { subject: 'carl', agent: 'assistant' };
    const open = (token: MadeToken) => gateway.request('/v1/sessions', { method: 'POST', token, json });
    for (const scope of ['operator', 'approver'] as const) {
      const answer = await open(await gateway.makeToken({ name: scope, scopes: [scope] }));
      expect(answer.status).toBe(403);
      expect(await answer.json()).toMatchObject({
        code: 'SCOPE_MISSING',
        detail: 'This needs a token with the scope sessions.',
      });
    }
    for (const scope of ['sessions', 'admin'] as const) {
      expect((await open(await gateway.makeToken({ name: scope, scopes: [scope] }))).status).toBe(201);
    }
    const opener = await gateway.makeToken({ name: 'front-desk', scopes: ['sessions'] });
    const { id } = (await (await open(opener)).json()) as { id: string };
    const openedBy = { by: 'operator front-desk', via: 'gateway', bearer: opener.id };
    const shown = await gateway.request(`/v1/sessions/${id}`, { token: viewer });
    expect(await shown.json()).toMatchObject({ id, identity: { subject: 'carl' }, openedBy });
    const page = (await (await gateway.request('/v1/sessions', { token: viewer })).json()) as { items: object[] };
    expect(page.items).toContainEqual(expect.objectContaining({ id, openedBy }));
    const listed = (await gateway.folder.json('sessions', 'list')) as unknown as { id: string; openedBy?: object }[];
    expect(listed.find((session) => session.id === id)).toMatchObject({ openedBy });
    expect((await gateway.folder.cli('sessions', 'list')).stdout).toMatch(/OPENED BY[^]*operator front-desk/);
    // The scope `sessions` allows nothing else.
    for (const path of ['/v1/sessions', '/v1/calls', '/v1/approvals', '/v1/tokens', '/v1/audit']) {
      expect([path, (await gateway.request(path, { token: opener })).status]).toEqual([path, 403]);
    }
  });

  it('who opened a session does not decide the calls that are made in it', async () => {
    const scopes = ['sessions', 'approver'] as const;
    const opener = await gateway.makeToken({ name: 'dora', scopes });
    const namesake = await gateway.makeToken({ name: 'dora', scopes: ['approver'] });
    const json = { subject: 'victim', agent: 'assistant' };
    const opened = await gateway.request('/v1/sessions', { method: 'POST', token: opener, json });
    const { bearer } = (await opened.json()) as { bearer: string };
    const question = await ask({ text: bearer });
    expect(await decide(question, opener)).toEqual(NOT_YOURS);
    expect(await decide(question, namesake)).toEqual(NOT_YOURS);
    const items = (await (await gateway.request('/v1/approvals?state=pending', { token: opener })).json()) as {
      items: Question[];
    };
    expect(items.items.find(({ id }) => id === question.id)).toMatchObject({ mayDecide: false });
    await expectOthersMay(question);
  });

  it('a console login has a name and scopes, and what it decides carries the name', async () => {
    const made = await gateway.folder.cli('gateway', 'login-link', '--name', 'rosa', '--scope', 'approver');
    const code = made.stdout.trim().split('#')[1]!;
    const headers = { origin: gateway.url, 'sallyport-console': '1', 'content-type': 'application/json' };
    const login = await gateway.request('/v1/login', { method: 'POST', headers, json: { code } });
    expect(login.status).toBe(204);
    const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
    const as = { ...headers, cookie };
    const me = await gateway.request('/v1/me', { headers: as });
    expect(await me.json()).toMatchObject({ name: 'rosa', scopes: ['approver'] });
    expect((await gateway.request('/v1/calls', { headers: as })).status).toBe(403);
    const question = await ask(
      await gateway.makeToken({ name: 'eve', scopes: ['agent'], identity: { subject: 'eve' } }),
    );
    const json = { decision: 'allow-once', binding: question.binding };
    const decided = await gateway.request(`/v1/approvals/${question.id}/decide`, { method: 'POST', headers: as, json });
    expect(decided.status).toBe(200);
    expect(await read(question.id, viewer)).toMatchObject({ votes: [{ by: { kind: 'operator', name: 'rosa' } }] });
    const records = async (): Promise<string> =>
      JSON.stringify(await (await gateway.request(`/v1/audit?callId=${question.callId}`, { token: admin })).json());
    await expect.poll(records).toContain('operator rosa');
    const logins = async (): Promise<string> =>
      JSON.stringify(await (await gateway.request('/v1/audit?event=login.succeeded', { token: admin })).json());
    await expect.poll(logins).toContain('"tokenName":"rosa"');
  });

  it('a login link without a name is for who makes it, and one of an earlier release logs in as console', async () => {
    const made = (await gateway.folder.json('gateway', 'login-link')) as { link: string; name: string };
    expect(made.name).not.toBe('');
    const old = await createLoginLink(
      gateway.store,
      gateway.url,
      { by: 'operator old', via: 'cli' },
      { name: 'login link' },
    );
    const headers = { origin: gateway.url, 'sallyport-console': '1', 'content-type': 'application/json' };
    for (const [link, name] of [[made.link, made.name] as const, [old, 'console'] as const]) {
      const json = { code: link.split('#')[1]! };
      const login = await gateway.request('/v1/login', { method: 'POST', headers, json });
      const cookie = login.headers.get('set-cookie')!.split(';')[0]!;
      const me = await gateway.request('/v1/me', { headers: { ...headers, cookie } });
      expect(await me.json()).toMatchObject({ name, scopes: ['operator', 'approver', 'admin'] });
    }
  });

  it.each(['agent', 'root'])('a login link with the scope %s is refused', async (scope) => {
    const refused = await gateway.folder.cli('gateway', 'login-link', '--scope', scope);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toContain('Expected one of operator, approver, sessions, admin.');
  });
});
