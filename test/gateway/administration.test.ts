import { writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toolId } from '../../src/domain/identity/ids.ts';
import { DEFAULT_LIMITS } from '../../src/domain/tool/tool.ts';
import { catalogDigest, moduleDigest, toolDigest } from '../../src/domain/tool/digest.ts';
import { MAIN } from '../cli/run-cli.ts';
import type { AuditRecordView } from '../../src/gateway/api/audit-schema.ts';
import type { MadeToken } from '../support/create-token.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

afterAll(failOnLeaks);

const TOOL = {
  id: toolId('ghost', 'run'),
  description: 'Served by no worker.',
  inputSchema: { type: 'object' },
  effect: 'read',
  privileged: false,
  serial: false,
} as const;
const GHOST = {
  id: 'ghost',
  description: 'Left behind.',
  version: '1.0.0',
  pool: 'default',
  tools: [{ ...TOOL, limits: DEFAULT_LIMITS, digest: toolDigest(TOOL) }],
};
const OPERATOR = `operator ${userInfo().username}`;

describe.each(['embedded', 'redis'] as const)('administration of a deployment on %s', (store) => {
  let gateway: GatewayFixture;
  let admin: MadeToken;
  beforeAll(async () => {
    gateway = await startGatewayFixture({ store });
    admin = await gateway.makeToken({ name: 'ops', scopes: ['operator', 'admin'] });
  });
  afterAll(() => gateway.stop());

  async function records(query: string): Promise<AuditRecordView[]> {
    const answer = await gateway.request(`/v1/audit?limit=100&${query}`, { token: admin });
    expect(answer.status).toBe(200);
    return ((await answer.json()) as { items: AuditRecordView[] }).items;
  }

  /** On Redis a record is in the sink a moment after it was written. */
  const untilRecorded = async (query: string, count = 1): Promise<AuditRecordView[]> => {
    await eventually(async () => (await records(query)).length >= count, { what: query });
    return (await records(query)).toReversed();
  };

  it('by commands is in the audit with the user of the operating system', async () => {
    const { folder } = gateway;
    writeFileSync(folder.file('agent.json'), '[{ "module": "basic", "tools": "all" }]');
    writeFileSync(
      folder.file('policy.json'),
      '{ "permissions": { "*": { "allow": ["*"] } }, "unattended": ["nightly"] }',
    );
    await folder.json('policy', 'set', 'policy.json', '--comment', 'nights are quiet');
    await folder.json('agents', 'set', 'cli', 'agent.json');
    await folder.json('pause', 'tool', 'basic.echo');
    const { id } = await folder.json('tokens', 'create', 'ci', '--scope', 'operator');
    await folder.json('tokens', 'revoke', String(id));
    const { id: session } = await folder.json('sessions', 'open', '--subject', 'ada');
    await folder.json('sessions', 'revoke', String(session));
    await folder.json('gateway', 'login-link');
    const by = `by=${encodeURIComponent(OPERATOR)}`;
    await untilRecorded(`${by}&event=login.offered`);
    const found = await untilRecorded(`${by}&event=session.revoked`);
    expect(found).toMatchObject([{ by: OPERATOR, via: 'cli', session, subject: 'ada', sessions: 1 }]);
    const comment = 'nights are quiet';
    const [policy] = await untilRecorded(`${by}&event=policy.changed&from=1`, store === 'redis' ? 2 : 1).then((all) =>
      all.slice(-1),
    );
    expect(policy).toMatchObject({ via: 'cli', comment, changed: ['setting unattended added'] });
    expect(await untilRecorded(`${by}&event=agents.changed`)).toMatchObject([
      { changed: ['selecting began', 'agent cli added'], policyVersion: policy!.policyVersion! + 1 },
    ]);
    expect(await untilRecorded(`${by}&event=plane.paused`)).toMatchObject([{ changed: ['tool basic.echo paused'] }]);
    expect(await untilRecorded(`${by}&event=token.revoked`)).toMatchObject([{ token: id, tokenName: 'ci' }]);
    const listed = await folder.json('audit', 'query', '--by', OPERATOR, '--event', 'token.created');
    expect(listed).toMatchObject([{ token: id, scopes: ['operator'], via: 'cli' }]);
  });

  it('over HTTP is in the audit with the token that proved it', async () => {
    const post = async (path: string, json: object, method = 'POST'): Promise<Record<string, unknown>> => {
      const answer = await gateway.request(path, { method, token: admin, json });
      expect(answer.ok).toBe(true);
      return (await answer.json()) as Record<string, unknown>;
    };
    await post('/v1/pause', { what: 'agent', name: 'rogue', comment: 'it misbehaves' });
    await post('/v1/pause', { what: 'agent', name: 'rogue', resume: true });
    const { id } = await post('/v1/sessions', { subject: 'eve', agent: 'cli' });
    await gateway.request(`/v1/sessions/${String(id)}`, { method: 'DELETE', token: admin });
    const { token: made } = await post('/v1/tokens', { name: 'bot', scopes: ['operator'] });
    const { id: token } = made as { id: string };
    await gateway.request(`/v1/tokens/${token}`, { method: 'DELETE', token: admin });
    const who = { by: 'operator ops', via: 'gateway', bearer: admin.id };
    const by = `by=${encodeURIComponent(who.by)}`;
    await untilRecorded(`${by}&event=token.revoked`);
    await untilRecorded(`${by}&event=session.revoked`);
    const found = (await records(by)).toReversed();
    expect(found.every((record) => record.bearer === admin.id && record.via === 'gateway')).toBe(true);
    const events = found.map(({ event }) => event).filter((event) => !event.startsWith('session.'));
    expect(events).toEqual(['plane.paused', 'plane.resumed', 'token.created', 'token.revoked']);
    expect(found).toContainEqual(expect.objectContaining({ event: 'plane.paused', comment: 'it misbehaves', ...who }));
    expect(found).toContainEqual(
      expect.objectContaining({ event: 'session.opened', session: id, subject: 'eve', ...who }),
    );
    expect(found).toContainEqual(expect.objectContaining({ event: 'token.created', token, tokenName: 'bot', ...who }));
    expect(JSON.stringify(found)).not.toContain(admin.text);
  });

  it('shows modules that no live worker serves, and takes them out', { timeout: 180_000 }, async () => {
    const ghost = { ...GHOST, digest: moduleDigest(GHOST) };
    const { sequence, modules } = await gateway.store.readCatalog();
    const published = [...modules, ghost];
    await gateway.store.writeCatalog({
      expectedSequence: sequence,
      digest: catalogDigest(published),
      modules: published,
    });
    const get = async (path: string, token = admin): Promise<Record<string, unknown>> =>
      (await (await gateway.request(path, { token })).json()) as Record<string, unknown>;
    const catalog = (await get('/v1/catalog')) as { modules: { id: string; serving: object }[] };
    const serving = Object.fromEntries(catalog.modules.map((module) => [module.id, module.serving]));
    expect(serving).toMatchObject({
      basic: { state: 'served', liveWorkers: 1 },
      ghost: { state: 'unserved', liveWorkers: 0 },
    });
    // Only the agent `cli` is declared.
    const agent = await gateway.agentToken({ agent: 'cli' });
    expect(await get('/v1/toolkit', agent)).toMatchObject({ unserved: [] });
    const { folder } = gateway;
    writeFileSync(folder.file('agent.json'), '[{ "module": "*", "tools": "all" }]');
    await folder.json('agents', 'set', 'cli', 'agent.json');
    expect(await get('/v1/toolkit', agent)).toMatchObject({ unserved: ['ghost.run'] });

    const [called, listed, shown, explained, unknown, nameless] = await Promise.all([
      folder.cli('call', 'ghost.run', '{}'),
      folder.cli('catalog'),
      folder.cli('catalog', 'show', 'ghost.run'),
      folder.cli('explain', 'cli', 'ghost.run'),
      folder.cli('catalog', 'withdraw', 'gost'),
      folder.cli('catalog', 'withdraw'),
    ]);
    expect(called.stderr).toContain('ghost.run is published, but no live worker serves it.');
    expect(called.stderr).not.toContain('Did you mean');
    expect(listed.stderr).toContain('published, but no live worker serves it: ghost');
    expect(shown.stdout).toContain('no live worker serves it');
    expect(explained.stdout).toContain('published, but no live worker serves it');
    expect(explained.stderr).toContain('sallyport catalog withdraw ghost');

    const withdraw = (json: object, token = admin): Promise<Response> =>
      gateway.request('/v1/catalog/withdraw', { method: 'POST', token, json });
    const operator = await gateway.makeToken({ scopes: ['operator'] });
    expect((await withdraw({ modules: 'unserved' }, operator)).status).toBe(403);
    const refused = await withdraw({ modules: ['ghost', 'basic'] });
    expect([refused.status, await refused.json()]).toMatchObject([409, { code: 'MODULE_SERVED' }]);
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('Did you mean ghost?') });
    expect(nameless.code).toBe(2);
    expect((await gateway.store.readCatalog()).modules).toHaveLength(published.length);

    const done = await withdraw({ modules: 'unserved', comment: 'no worker has it' });
    expect(await done.json()).toMatchObject({ withdrawn: [{ id: 'ghost', version: '1.0.0' }], broken: [] });
    expect((await gateway.store.readCatalog()).modules).toEqual(modules);
    expect(await folder.json('catalog', 'withdraw', '--unserved')).toMatchObject({ withdrawn: [] });
    expect(await untilRecorded('event=catalog.withdrawn')).toMatchObject([
      { by: 'operator ops', bearer: admin.id, comment: 'no worker has it', changed: ['module ghost 1.0.0 withdrawn'] },
    ]);
  });

  it('warns of a token for an agent that is not declared', async () => {
    const json = { name: 'typo', scopes: ['agent'], identity: { subject: 'ada', agent: 'cly' } };
    const made = await gateway.request('/v1/tokens', { method: 'POST', token: admin, json });
    const warning = 'no agent "cly" is declared, so it has no tools; did you mean cli?';
    expect(await made.json()).toMatchObject({ warnings: [warning] });
    const flags = ['--scope', 'agent', '--agent', 'cly', '--subject', 'ada'];
    const created = await gateway.folder.cli('tokens', 'create', 'typo', ...flags);
    expect(created).toMatchObject({ code: 0, stderr: expect.stringContaining(`warning: ${warning}`) });
    const mcp = await gateway.folder.shell(`node '${MAIN}' mcp --agent cly </dev/null`);
    expect(mcp).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining(`warning: ${warning}`) });
  });

  it('of the console: logins, refused ones and what is done there name the login', async () => {
    const origin = gateway.url;
    const headers = { origin, 'sallyport-console': '1', 'sec-fetch-site': 'same-origin' };
    const logIn = (json: object) => gateway.request('/v1/login', { method: 'POST', json, headers });
    const { link } = await gateway.folder.json('gateway', 'login-link', '--name', 'rosa');
    const code = String(link).split('#')[1]!;
    const loggedIn = await logIn({ code });
    expect(loggedIn.status).toBe(204);
    expect((await logIn({ code })).status).toBe(401);
    expect((await logIn({ token: admin.text })).status).toBe(204);
    const cookie = loggedIn.headers.get('set-cookie')!.split(';')[0]!;
    const paused = await gateway.request('/v1/pause', {
      method: 'POST',
      json: { what: 'tool', name: 'basic.privileged' },
      headers: { ...headers, cookie },
    });
    expect(paused.status).toBe(200);
    const [refused] = await untilRecorded('event=login.refused');
    expect(refused).toMatchObject({ by: 'unknown', via: 'console', detail: expect.stringContaining('a login link') });
    const logins = await untilRecorded('event=login.succeeded', 2);
    expect(logins).toMatchObject([
      { by: 'bearer of a login link', via: 'console', tokenName: 'rosa' },
      {
        by: 'operator ops',
        via: 'console',
        bearer: admin.id,
        token: admin.id,
        detail: expect.stringContaining('127.0.0.1'),
      },
    ]);
    const offered = await untilRecorded('event=login.offered');
    expect(offered.map(({ token }) => token)).toContain(logins[0]!.bearer);
    const [last] = (await untilRecorded('event=plane.paused', 3)).slice(-1);
    expect(last).toMatchObject({ by: 'operator rosa', via: 'console', bearer: logins[0]!.token });
    expect(JSON.stringify([...logins, ...offered])).not.toContain(code);
  });

  it('leaves a trail that verifies', async () => {
    const verified = await gateway.folder.cli('audit', 'verify');
    expect(verified).toMatchObject({ code: 0, stdout: expect.stringContaining('all in order') });
  });
});
