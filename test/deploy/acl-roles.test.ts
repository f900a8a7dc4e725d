import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from '../../src/compose/connect.ts';
import { openRedisStore } from '../../src/stores/redis/redis-store.ts';
import type { Role } from '../../src/stores/redis/acl-roles.ts';
import { planeFolder, type PlaneFolder } from '../cli/plane-folder.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { newTokenText } from '../../src/domain/identity/token-text.ts';
import { startAclServer, type AclServer } from './acl-server.ts';

// Each test starts a dozen processes one after the other.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

let server: AclServer;
let worker: WatchedProcess | undefined;
const planes: PlaneFolder[] = [];

/** A working directory whose commands log in to Redis as this role. */
function as(role: Role): PlaneFolder {
  const plane = planeFolder([], server.login(role));
  planes.push(plane);
  return plane;
}

const redisOptions = (role: Role) => ({
  url: server.url,
  username: `sallyport-${role}`,
  password: server.password(role),
  create: false,
});

const POLICY = JSON.stringify({
  permissions: { '*': { allow: ['*'] } },
  rules: [{ id: 'ask', tools: ['basic.writeAgain'], verdict: 'ask' }],
});

beforeAll(async () => void (server = await startAclServer()));
afterAll(async () => {
  await worker?.stop();
  for (const plane of planes) plane.remove();
  await server.stop();
  failOnLeaks();
});

describe('with a user of its role', () => {
  it('a worker says what is missing while the functions are not loaded, and that the administrator can load them', async () => {
    const refused = await as('worker').cli('worker', '--modules', as('worker').modules);
    expect(refused.code).toBe(69);
    expect(refused.stderr).toContain('The server does not have the function library sallyport_1');
    expect(refused.stderr).toContain('sallyport store upgrade');
    expect(await server.redis.cli('DBSIZE')).toBe('0');
  });

  it('the administrator loads the functions; a worker then says that there is no store', async () => {
    const upgraded = await as('admin').cli('store', 'upgrade');
    expect([upgraded.code, upgraded.stdout]).toStrictEqual([
      0,
      'Loaded the functions sallyport_1.\nLoaded the functions sallyport_services_1.\nUpgraded.\n',
    ]);
    const again = await as('admin').json('store', 'upgrade');
    expect(again).toMatchObject({ state: 'current', done: [expect.any(String), expect.any(String)] });
    const refused = await as('worker').cli('worker', '--modules', as('worker').modules);
    expect(refused).toMatchObject({ code: 69 });
    expect(refused.stderr).toContain('Nothing is stored under the name sallyport');
    expect(refused.stderr).toContain('sallyport store adopt');
  });

  it('the administrator makes the store', async () => {
    // A new server has no functions: docs/deploy.md has no earlier step that loads them.
    await server.redis.cli('FUNCTION', 'FLUSH');
    const made = await as('admin').cli('store', 'adopt', '--yes');
    expect(made).toMatchObject({ code: 0 });
    expect(made.stdout).toContain('Loaded the functions sallyport_1.\nLoaded the functions sallyport_services_1.\n');
    await server.refusals();
  });

  it('the administrator adopts it again while records of the audit wait', async () => {
    expect(await as('operator').cli('pause', 'tool', 'echo.text')).toMatchObject({ code: 0 });
    expect(await as('operator').cli('pause', '--resume')).toMatchObject({ code: 0 });
    expect(await as('admin').cli('store', 'adopt', '--yes')).toMatchObject({ code: 0 });
    expect(await server.refusals()).toStrictEqual([]);
  });

  it('a worker starts and stays', async () => {
    worker = await as('worker').start('worker', [], { SALLYPORT_WORKER_LEASE_MS: '1500' });
    expect(await server.refusals()).toStrictEqual([]);
  });

  it('the operator sets policies, looks at everything, calls, cancels and resolves', async () => {
    const operator = as('operator');
    writeFileSync(operator.file('policy.json'), POLICY);
    expect((await operator.cli('policy', 'set', 'policy.json')).stderr).toBe('');
    expect(await operator.call('basic.echo', { text: 'x' })).toMatchObject({ code: 0 });
    const file = operator.file('slow.txt');
    const slow = await operator.call(
      'basic.slowWrite',
      { file, line: 'x', ms: 60_000 },
      '--detach',
      '--deadline',
      '1h',
    );
    await operator.untilWritten('slow.txt', 'S');
    const looks = [
      ['policy', 'show'],
      ['calls', 'list'],
      ['calls', 'show', slow.stdout.trim()],
      ['calls', 'cancel', slow.stdout.trim()],
      ['approvals', 'list'],
      ['grants', 'list'],
      ['sessions', 'list'],
      ['tokens', 'create', 'ci', '--scope', 'operator', '--out', 'ci.token'],
      ['tokens', 'list'],
      ['catalog'],
      ['workers'],
      ['agents'],
      ['explain', 'local', 'basic.echo'],
      ['pause', 'all'],
      ['pause', '--resume'],
      ['doctor'],
    ];
    expect((await operator.cli('sessions', 'open', '--subject', 'eve', '--out', 'eve.session')).code).toBe(0);
    for (const look of looks) expect([look, (await operator.cli(...look)).code]).toStrictEqual([look, 0]);
    expect(await server.refusals()).toStrictEqual([]);
  });

  it('a client opens sessions, calls, waits, attaches, cancels and answers approvals', async () => {
    const plane = as('client');
    const client = await connect({ store: 'redis', redis: redisOptions('client') });
    const session = await client.openSession({ subject: 'ada', agent: 'assistant' });
    expect(await client.call(session, 'basic.echo', { text: 'x' })).toMatchObject({
      kind: 'settled',
      outcome: { kind: 'ok' },
    });
    const file = plane.file('asked.txt');
    const asked = client.call(session, 'basic.writeAgain', { file, line: 'x' });
    const [question] = await eventually(
      async () => {
        const pending = await client.approvals.list({ kind: 'operator', name: 'boss' });
        return pending.length > 0 && pending;
      },
      { what: 'a question' },
    );
    const { id, binding } = question!.question;
    expect(await client.approvals.reveal({ kind: 'operator', name: 'boss' }, id, { binding })).toMatchObject({
      kind: 'revealed',
    });
    await client.approvals.decide({ kind: 'operator', name: 'boss' }, id, { decision: 'allow-once', binding });
    expect(await asked).toMatchObject({ kind: 'settled', outcome: { kind: 'ok' } });
    const slow = await client.call(session, 'basic.slowRead', { file, line: 'y', ms: 60_000 }, { waitMs: 1 });
    if (slow.kind === 'pending') await client.cancel(session, slow.callId);
    await client.revokeSession(session.id);
    await client.close();
    expect(await server.refusals()).toStrictEqual([]);
  });

  it('monitoring sees states and counts, and nothing that was said', async () => {
    const [monitor, operator] = [as('monitor'), as('operator')];
    const file = operator.file('never.txt');
    const asked = await operator.call('basic.writeAgain', { file, line: 'x' }, '--detach', '--deadline', '1h');
    const pending = async () =>
      (await operator.json('approvals', 'list')) as unknown as { question: { id: string; binding: string } }[];
    const [asking] = await eventually(async () => ((await pending()).length > 0 ? pending() : undefined), {
      what: 'a question',
    });
    await server.refusals();
    const doctor = await monitor.cli('doctor');
    expect(doctor).toMatchObject({ code: 0 });
    expect(doctor.stdout).toMatch(/ok +approvals +1 pending; this user may not see which/);
    expect(await monitor.cli('workers')).toMatchObject({ code: 0 });
    expect(await server.refusals()).toStrictEqual([]);
    const { id, binding } = asking!.question;
    const edited = ['--binding', binding, '--arguments', '{"wrong":1}'];
    const refused = await operator.cli('approvals', 'decide', id, 'allow-once', ...edited);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('Your answer counts, but the call ended without running (ARGUMENTS_INVALID)');
    expect((await operator.cli('calls', 'show', asked.stdout.trim())).stdout).toContain('ARGUMENTS_INVALID');
    expect((await monitor.cli('calls', 'list')).code).toBe(77);
    expect((await monitor.cli('sessions', 'open', '--subject', 'x')).code).toBe(77);
    expect((await monitor.cli('policy', 'set', as('operator').file('x'))).code).not.toBe(0);
    await server.refusals();
  });

  it('a client can neither govern nor work', async () => {
    const client = as('client');
    writeFileSync(client.file('policy.json'), POLICY);
    expect((await client.cli('policy', 'set', 'policy.json')).code).toBe(77);
    expect((await client.cli('store', 'backup', client.file('copy'))).code).toBe(77);
    expect((await client.cli('store', 'adopt', '--yes')).code).toBe(77);
    const store = await openRedisStore(redisOptions('client'));
    const claiming = store.claimCalls({ lane: 0, pool: 'default', workerId: 'w' as never, limit: 1, waitMs: 0 });
    await expect(claiming).rejects.toThrow('NOPERM');
    await expect(store.listTokens({ limit: 1 })).rejects.toThrow('NOPERM');
    expect((await client.cli('tokens', 'create', 'x', '--scope', 'admin')).code).toBe(77);
    await store.close();
    await server.refusals();
  });

  it('the gateway admits by tokens, makes and revokes them, and sets policies', async () => {
    const store = await openRedisStore(redisOptions('gateway'));
    const { id, secretDigest } = newTokenText();
    const token = { id, name: 'console', scopes: ['admin'] as const };
    expect(await store.createToken({ token, secretDigest, lifetimeMs: 60_000 })).toMatchObject({ kind: 'created' });
    expect(await store.proveToken({ id, secretDigest })).toMatchObject({ name: 'console' });
    expect(await store.useOnce({ digest: secretDigest, attempt: 'a', lifetimeMs: 60_000 })).toBe('first');
    expect(await store.useOnce({ digest: secretDigest, attempt: 'b', lifetimeMs: 60_000 })).toBe('used');
    expect((await store.listTokens({ limit: 10 })).map(({ name }) => name)).toStrictEqual(['console', 'ci']);
    expect(await store.revokeToken({ id })).toBe('revoked');
    const { version, policy } = await store.readPolicy();
    expect(await store.writePolicy({ expectedVersion: version, policy })).toMatchObject({ kind: 'written' });
    await Promise.all([
      store.listCalls({ limit: 10 }),
      store.listSessions(10),
      store.listWorkers(),
      store.queueState(),
    ]);
    await store.close();
    expect(await server.refusals()).toStrictEqual([]);
  });

  it('a worker drains in order', async () => {
    worker!.kill('SIGTERM');
    expect(await worker!.exited).toStrictEqual({ code: 0, signal: null });
    expect(await server.refusals()).toStrictEqual([]);
  });

  it('the administrator saves the store', async () => {
    const admin = as('admin');
    expect((await admin.cli('store', 'backup', admin.file('copy'))).stderr).not.toContain('sallyport:');
    expect(await server.refusals()).toStrictEqual([]);
  });
});
