import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApprovals } from '../../src/client/approvals.ts';
import type { Approval, Principal } from '../../src/domain/policy/approval.ts';
import type { Session } from '../../src/domain/identity/session.ts';
import { openSession } from '../contract/fixtures.ts';
import { OPEN_POLICY } from '../plane/support/stage-plane.ts';
import { startChaosProxy, type ChaosProxy } from '../support/chaos-proxy.ts';
import type { MadeToken } from '../support/create-token.ts';
import { eventually } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';
import { startGatewayFixture, type GatewayFixture } from './gateway-fixture.ts';

const OPERATOR: Principal = { kind: 'operator', name: 'root' };
const MODULES = fileURLToPath(new URL('../fixtures/owed', import.meta.url));
const READY = /^Console: (http:\/\/[^/\s]+)/;
const LANES = 16;

interface Gateway {
  readonly url: string;
  readonly process: WatchedProcess;
}

/** A worker and two gateways on one store. Letters wait for a person before they are sent. */
let fixture: GatewayFixture;
let other: Gateway;
let approver: MadeToken;
let admin: MadeToken;

async function startGateway(...flags: string[]): Promise<Gateway> {
  const started = await fixture.folder.startWaiting(...flags, 'gateway', '--http-port', '0');
  return { process: started, url: READY.exec(await started.waitForLine(READY, 90_000))![1]! };
}

async function startPlane(store: 'embedded' | 'redis'): Promise<void> {
  fixture = await startGatewayFixture({ store, modules: MODULES, ...(store === 'redis' ? { lanes: LANES } : {}) });
  other = await startGateway();
  approver = await fixture.makeToken({ scopes: ['approver'] });
  admin = await fixture.makeToken({ scopes: ['admin'] });
  const { version } = await fixture.store.readPolicy();
  const rules = [{ id: 'letters', verdict: 'ask', tools: ['post.send'] } as const];
  await fixture.store.writePolicy({ expectedVersion: version, policy: { ...OPEN_POLICY, rules } });
}

async function stopPlane(): Promise<void> {
  await other.process.stop();
  await fixture.stop();
  failOnLeaks();
}

interface Wish {
  readonly token: { readonly text: string };
  readonly method?: string;
  readonly json?: unknown;
}

async function ask(url: string, path: string, { token, method = 'POST', json }: Wish): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token.text}`, 'content-type': 'application/json' },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Bearer = Wish['token'];
/** A bearer with the same id and a wrong secret. */
function wrongSecretOf({ text }: Bearer): Bearer {
  return { text: text.slice(0, -2) + (text.endsWith('AA') ? 'QQ' : 'AA') };
}

const letter = (text: string): object => ({
  tool: 'post.send',
  arguments: { file: fixture.folder.file('letters.txt'), text },
  waitMs: 0,
});
const callOf = (url: string, token: Wish['token'], text: string): Promise<Answer> =>
  ask(url, '/v1/calls', { token, json: letter(text) });

function sent(text: string): string[] {
  const file = fixture.folder.file('letters.txt');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  return lines.filter((line) => line.startsWith(`${text} `));
}

const approvals = () => createApprovals(fixture.store, { retentionMs: 86_400_000 });
async function questionOf(text: string): Promise<Approval> {
  return eventually(
    async () => {
      const all = await approvals().list(OPERATOR, { limit: 200 });
      return all.find(({ question }) => question.arguments.includes(`"${text}"`));
    },
    { what: `the question about ${text}` },
  );
}

/** Makes a call with this token that waits for a decision, and returns its question. */
async function park(url: string, token: Wish['token'], text: string): Promise<Approval> {
  expect((await callOf(url, token, text)).status).toBeLessThan(300);
  return questionOf(text);
}

const allow = (url: string, { question: { id, binding } }: Approval): Promise<Answer> =>
  ask(url, `/v1/approvals/${id}/decide`, { token: approver, json: { decision: 'allow-once', binding } });

/** Expects that the question ended without being allowed, and that its call did not run. */
async function expectEnded(text: string, { question }: Approval): Promise<void> {
  const ended = await eventually(
    async () => {
      const approval = await fixture.store.readApproval(question.id);
      const call = await fixture.store.readCall(question.callId);
      return approval?.state === 'pending' || call?.outcome === undefined ? undefined : approval;
    },
    { what: `the end of the question about ${text}` },
  );
  expect(ended?.state).toBe('cancelled');
  expect(sent(text)).toEqual([]);
}

const CANCELLED = { status: 410, body: { facts: { state: 'cancelled' } } };
const revoke = (url: string, { id }: MadeToken): Promise<Answer> =>
  ask(url, `/v1/tokens/${id}`, { token: admin, method: 'DELETE' });
const agentToken = (subject: string, lifetimeMs?: number): Promise<MadeToken> =>
  fixture.makeToken({
    scopes: ['agent'],
    identity: { agent: 'main', subject },
    ...(lifetimeMs === undefined ? {} : { lifetimeMs }),
  });
async function sessionsOf(subject: string): Promise<Session[]> {
  const all = await fixture.store.listSessions(1000);
  return all.filter(({ identity }) => identity.subject === subject || identity.subject.startsWith(`${subject}-`));
}
const areRevoked = async (subject: string): Promise<boolean[]> =>
  (await sessionsOf(subject)).map(({ revoked }) => revoked);

describe.each(['embedded', 'redis'] as const)('a token that is revoked, on %s', (store) => {
  beforeAll(() => startPlane(store));
  afterAll(stopPlane);

  it('has no session left when the API answers, and no question of it can be allowed', async () => {
    const token = await agentToken('mallory');
    // Each gateway has opened a session for the token; the revocation is sent to only one of them.
    const [here, there] = [await park(fixture.url, token, 'parked-here'), await park(other.url, token, 'parked-there')];
    expect((await revoke(fixture.url, token)).status).toBe(204);
    expect(await areRevoked('mallory')).toEqual([true, true]);
    for (const question of [here, there]) {
      for (const url of [fixture.url, other.url]) expect(await allow(url, question)).toMatchObject(CANCELLED);
    }
    await expectEnded('parked-here', here);
    await expectEnded('parked-there', there);
  });

  it('calls nothing at a gateway that has just proved it', async () => {
    const token = await agentToken('warm');
    await park(other.url, token, 'warm-before');
    expect((await revoke(fixture.url, token)).status).toBe(204);
    const after = await callOf(other.url, token, 'warm-after');
    expect(after.body).not.toHaveProperty('approval');
    expect(after).toEqual(await callOf(other.url, wrongSecretOf(token), 'warm-after'));
    const asked = (await approvals().list(OPERATOR, { limit: 200 })).map(({ question }) => question.arguments);
    expect(asked.filter((each) => each.includes('warm-'))).toEqual([expect.stringContaining('warm-before')]);
  });

  it.each([
    ['has called', (url: string, token: Bearer) => callOf(url, token, 'told')],
    ['has only read', (url: string, token: Bearer) => ask(url, '/v1/me', { token, method: 'GET' })],
  ])('gets the answer of a wrong token at a gateway where it %s just before', async (_, before) => {
    const token = await agentToken('told');
    const operator = await fixture.makeToken({ name: 'front-desk', scopes: ['sessions'] });
    const json = { subject: 'told', agent: 'main' };
    const opened = await ask(fixture.url, '/v1/sessions', { token: operator, json });
    const bearer = { text: opened.body['bearer'] as string };
    for (const each of [token, bearer]) expect((await before(other.url, each)).status).toBeLessThan(300);
    for (const each of [token, operator]) expect((await revoke(fixture.url, each)).status).toBe(204);
    for (const each of [token, bearer]) {
      const wrong = await callOf(other.url, wrongSecretOf(each), 'told');
      expect(wrong).toMatchObject({ status: 401, body: { code: 'TOKEN_REFUSED' } });
      expect(await callOf(other.url, each, 'told')).toEqual(wrong);
    }
  });

  it('has no session left when the command line answers', async () => {
    const token = await agentToken('eve');
    const question = await park(other.url, token, 'cli');
    expect((await fixture.folder.cli('tokens', 'revoke', token.text)).code).toBe(0);
    expect(await areRevoked('eve')).toEqual([true]);
    expect(await allow(other.url, question)).toMatchObject(CANCELLED);
    await expectEnded('cli', question);
  });

  it('takes along the sessions that it opened for others, in every lane', async () => {
    const operator = await fixture.makeToken({ name: 'front-desk', scopes: ['sessions'] });
    const open = (number: number): Promise<Answer> =>
      ask(fixture.url, '/v1/sessions', { token: operator, json: { subject: `staff-${number}`, agent: 'main' } });
    const opened = await Promise.all(Array.from({ length: 2 * LANES }, (_, number) => open(number)));
    const bearer = { text: opened[0]!.body['bearer'] as string };
    const question = await park(other.url, bearer, 'staff');
    expect((await revoke(fixture.url, operator)).status).toBe(204);
    expect(new Set(await areRevoked('staff'))).toEqual(new Set([true]));
    expect(await sessionsOf('staff')).toHaveLength(2 * LANES);
    expect(await allow(other.url, question)).toMatchObject(CANCELLED);
    await expectEnded('staff', question);
  });

  it('makes no other token, opens no session and decides nothing at a gateway that has just proved it', async () => {
    const token = await fixture.makeToken({ scopes: ['admin'] });
    const question = await park(fixture.url, await agentToken('bob'), 'late-yes');
    expect((await ask(other.url, '/v1/me', { token, method: 'GET' })).status).toBe(200);
    expect((await revoke(fixture.url, token)).status).toBe(204);
    const { id, binding } = question.question;
    const changes: [string, object][] = [
      ['/v1/tokens', { name: 'heir', scopes: ['admin'] }],
      ['/v1/sessions', { subject: 'heir', agent: 'main' }],
      [`/v1/approvals/${id}/decide`, { decision: 'allow-once', binding }],
    ];
    for (const [path, json] of changes) expect((await ask(other.url, path, { token, json })).status).toBe(401);
    expect((await fixture.store.readApproval(id))?.state).toBe('pending');
    expect(await sessionsOf('heir')).toEqual([]);
  });

  it('has sessions that end when it expires, and not a minute later', async () => {
    const token = await agentToken('short', 30_000);
    await park(other.url, token, 'short');
    const tokens = await fixture.store.listTokens({ limit: 100 });
    const { expiresAt } = tokens.find(({ id }) => id === token.id)!;
    const [session] = await sessionsOf('short');
    // The gateway reads the clock before it opens the session, so the session may outlive the token by the time in between.
    expect(session!.expiresAt - expiresAt).toBeLessThan(45_000);
  });

  it('leaves no session that a gateway opens while it is revoked', async () => {
    const operator = await fixture.makeToken({ name: 'front-desk', scopes: ['sessions'] });
    const open = (number: number): Promise<Answer> => {
      const url = number % 2 === 0 ? fixture.url : other.url;
      return ask(url, '/v1/sessions', { token: operator, json: { subject: `race-${number}`, agent: 'main' } });
    };
    const opening = Array.from({ length: 40 }, (_, number) => open(number));
    await Promise.any(opening);
    expect((await revoke(fixture.url, operator)).status).toBe(204);
    const given = (await Promise.all(opening)).filter(({ status }) => status === 201);
    expect(given.length).toBeGreaterThan(0);
    expect(new Set(await areRevoked('race'))).toEqual(new Set([true]));
  });
});

describe('a revocation that is killed with -9 in the middle', () => {
  let proxy: ChaosProxy;
  const killed: WatchedProcess[] = [];
  beforeAll(async () => {
    await startPlane('redis');
    proxy = await startChaosProxy(fixture.redis!);
  });
  afterAll(async () => {
    for (const each of killed) each.kill('SIGKILL');
    await stopPlane();
    await proxy.stop();
  });

  /** Kills the process when the token is marked as revoked and its first session is about to be revoked. */
  async function killInTheMiddle(victim: WatchedProcess): Promise<void> {
    killed.push(victim);
    await eventually(() => proxy.counts.heldRequests === killed.length, { what: 'the revocation to begin' });
    victim.kill('SIGKILL');
    await victim.exited;
    await proxy.cut();
    await proxy.setMode({ kind: 'pass' });
  }

  const holdSessions = (): Promise<void> => proxy.setMode({ kind: 'hold-request', request: 'sp1_change_session' });
  async function revokeAndKill(token: MadeToken): Promise<void> {
    await holdSessions();
    await killInTheMiddle(await fixture.folder.startWaiting('--redis', proxy.url, 'tokens', 'revoke', token.id));
  }

  it('is finished by a gateway that lives, before it lets a question of the token be allowed', async () => {
    const token = await agentToken('living');
    const question = await park(other.url, token, 'living');
    await revokeAndKill(token);
    expect(await allow(other.url, question)).toMatchObject(CANCELLED);
    expect(await areRevoked('living')).toEqual([true]);
    await expectEnded('living', question);
  });

  it('is finished by another gateway without any request, in every lane', async () => {
    const operator = await fixture.makeToken({ name: 'front-desk', scopes: ['sessions'] });
    for (let number = 0; number < 2 * LANES; number += 1) {
      const json = { subject: `fleet-${number}`, agent: 'main' };
      expect((await ask(other.url, '/v1/sessions', { token: operator, json })).status).toBe(201);
    }
    const victim = await startGateway('--redis', proxy.url);
    await holdSessions();
    const revoking = revoke(victim.url, operator).catch(() => undefined);
    await killInTheMiddle(victim.process);
    expect(await revoking).toBeUndefined();
    await eventually(async () => (await areRevoked('fleet')).every(Boolean), { what: 'a living gateway to finish' });
    expect(await sessionsOf('fleet')).toHaveLength(2 * LANES);
  });

  it('is finished by the command line, before it lets a question of the token be allowed', async () => {
    const token = await agentToken('alone');
    const question = await park(other.url, token, 'alone');
    fixture.gateway.kill('SIGKILL');
    other.process.kill('SIGKILL');
    await Promise.all([fixture.gateway.exited, other.process.exited]);
    await revokeAndKill(token);
    expect(await areRevoked('alone')).toEqual([false]);
    const { id, binding } = question.question;
    const decided = await fixture.folder.cli('approvals', 'decide', id, 'allow-once', '--binding', binding);
    expect(decided.code).not.toBe(0);
    expect(await areRevoked('alone')).toEqual([true]);
    await expectEnded('alone', question);
  });

  it('is finished by the next gateway before that serves its first request', async () => {
    // No gateway is running: the previous test has killed them.
    const token = await fixture.makeToken({ scopes: ['operator'] });
    const { id } = await openSession(fixture.store);
    await fixture.store.noteTokenSession({ id: token.id, session: id, lifetimeMs: 3_600_000 });
    await revokeAndKill(token);
    expect((await fixture.store.readSession(id))?.revoked).toBe(false);
    other = await startGateway();
    expect((await fixture.store.readSession(id))?.revoked).toBe(true);
  });
});
