import { expect, it } from 'vitest';
import type { Actor } from '../../../src/domain/identity/actor.ts';
import { isAdministrative, type AuditFacts, type AuditPayload } from '../../../src/domain/audit/audit-record.ts';
import type { RunId } from '../../../src/domain/identity/ids.ts';
import { CLOSED_POLICY, type Policy } from '../../../src/domain/policy/policy.ts';
import type { Identity } from '../../../src/domain/identity/session.ts';
import type { AuditEntry } from '../../../src/domain/ports/audit-store.ts';
import type { Store } from '../../../src/domain/ports/store.ts';
import { readAuditDetail } from '../../../src/domain/audit/audit-detail.ts';
import { canonicalJson } from '../../../src/base/canonical-json.ts';
import { sha256 } from '../../../src/base/sha256.ts';
import { newTokenText } from '../../../src/domain/identity/token-text.ts';
import { HOUR_MS, openSession } from '../fixtures.ts';
import { readWholeAudit } from '../observe.ts';
import type { Scene } from '../scene.ts';

const ADA: Actor = { by: 'operator ada', via: 'cli' };
const CI: Actor = { by: 'operator ci', via: 'gateway', bearer: 'abcdefghijklmnop' };
const OPEN: Policy = { roles: {}, permissions: { '*': { allow: ['*'] } }, paused: {} };

type Kept = Partial<Pick<AuditEntry, 'event' | 'session' | 'run' | 'callId' | 'tool'>> &
  AuditFacts &
  AuditPayload & { readonly identity?: Identity };

/** All administrative records of a store, from all of its lanes, each as a reader sees it. Also checks that the lanes have no gaps. */
async function administration(store: Store): Promise<Kept[]> {
  const entries: AuditEntry[] = [];
  for (const lane of store.auditLanes) entries.push(...(await readWholeAudit(store, lane)));
  return entries.filter(({ event }) => isAdministrative(event)).map(toKept);
}

function toKept({ detail, identity, lane: _lane, sequence: _sequence, at: _at, ...entry }: AuditEntry): Kept {
  const { facts, payload } = readAuditDetail(detail);
  return {
    ...entry,
    ...facts,
    ...payload,
    ...(identity === undefined ? {} : { identity: JSON.parse(identity) as Identity }),
  };
}

const digestOf = (policy: Policy): string => sha256(canonicalJson(policy as never));

function newToken(name = 'ci') {
  const { id, secretDigest } = newTokenText();
  return { token: { id, name, scopes: ['operator'] as const }, secretDigest, lifetimeMs: HOUR_MS };
}

export function describeAdministration(scene: Scene): void {
  it('a change of the policy is in the audit with who, why, its version, its digests and what is different', async () => {
    const [store, other] = await scene.openPair();
    await store.writePolicy({ expectedVersion: 0, policy: OPEN, actor: ADA, comment: 'a new start' });
    const rules = [{ id: 'no-mail', verdict: 'deny', tools: ['mail.*'] }] as const;
    await other.writePolicy({ expectedVersion: 1, policy: { ...OPEN, rules }, actor: CI });
    expect(await administration(store)).toEqual([
      {
        event: 'policy.changed',
        by: 'operator ada',
        via: 'cli',
        comment: 'a new start',
        policyVersion: 1,
        policyDigest: digestOf(OPEN),
        previousDigest: digestOf(CLOSED_POLICY),
        changed: ['permission * added'],
      },
      {
        event: 'policy.changed',
        by: 'operator ci',
        via: 'gateway',
        bearer: 'abcdefghijklmnop',
        policyVersion: 2,
        policyDigest: digestOf({ ...OPEN, rules }),
        previousDigest: digestOf(OPEN),
        changed: ['rule no-mail added'],
      },
    ]);
  });

  it('pausing, resuming and agents have events of their own, for every writer of the policy', async () => {
    const store = await scene.open();
    const agents = { helper: { selection: [] } };
    const steps: Policy[] = [
      { ...CLOSED_POLICY, paused: { all: true } },
      { ...CLOSED_POLICY, paused: { tools: ['mail.send'] } },
      CLOSED_POLICY,
      { ...CLOSED_POLICY, agents },
      { ...OPEN, agents, paused: { all: true } },
      { ...OPEN, agents, paused: { all: true }, tenants: { acme: { agents } } },
      { ...OPEN, agents, paused: { all: true }, tenants: { acme: { agents: {} } } },
    ];
    for (const [index, policy] of steps.entries()) await store.writePolicy({ expectedVersion: index, policy });
    expect((await administration(store)).map(({ event, by, changed }) => ({ event, by, changed }))).toEqual([
      { event: 'plane.paused', by: 'unknown', changed: ['everything paused'] },
      { event: 'plane.paused', by: 'unknown', changed: ['tool mail.send paused', 'everything resumed'] },
      { event: 'plane.resumed', by: 'unknown', changed: ['tool mail.send resumed'] },
      { event: 'agents.changed', by: 'unknown', changed: ['selecting began', 'agent helper added'] },
      { event: 'policy.changed', by: 'unknown', changed: ['everything paused', 'permission * added'] },
      {
        event: 'agents.changed',
        by: 'unknown',
        changed: ['tenant acme: selecting began', 'tenant acme: agent helper added'],
      },
      { event: 'agents.changed', by: 'unknown', changed: ['tenant acme: agent helper removed'] },
    ]);
  });

  it('a policy that was not written, or was written before, leaves no record', async () => {
    const store = await scene.open();
    const first = { expectedVersion: 0, policy: OPEN, actor: ADA };
    expect(await store.writePolicy(first)).toMatchObject({ kind: 'written' });
    expect(await store.writePolicy(first)).toMatchObject({ kind: 'written' });
    expect(await store.writePolicy({ ...first, policy: CLOSED_POLICY })).toMatchObject({ kind: 'conflict' });
    expect(await administration(store)).toHaveLength(1);
  });

  it('withdrawn modules are in the audit with who, why and which; what was not withdrawn leaves no record', async () => {
    const [store, other] = await scene.openPair();
    const left = { digest: 'left', modules: [] };
    const { sequence } = await store.writeCatalog({ expectedSequence: 0, ...left });
    const withdrawn = [
      { id: 'clock', version: '1.0.0' },
      { id: 'notes', version: '2.1.0' },
    ];
    const request = { expectedSequence: sequence, ...left, withdrawn, actor: ADA, comment: 'no worker has them' };
    const answer = await store.withdrawModules(request);
    expect(answer).toEqual({ kind: 'written', sequence: sequence + 1 });
    expect(await other.withdrawModules(request)).toEqual(answer);
    const late = { ...request, digest: 'late', expectedSequence: sequence + 5 };
    expect(await other.withdrawModules(late)).toEqual({ ...answer, kind: 'conflict' });
    expect(await administration(store)).toEqual([
      {
        event: 'catalog.withdrawn',
        by: 'operator ada',
        via: 'cli',
        comment: 'no worker has them',
        changed: ['module clock 1.0.0 withdrawn', 'module notes 2.1.0 withdrawn'],
      },
    ]);
  });

  it('of two writers at once only the one that won is in the audit', async () => {
    const stores = await scene.openMany(4);
    const answers = await Promise.all(
      stores.map((store, index) =>
        store.writePolicy({
          expectedVersion: 0,
          policy: { ...OPEN, unattended: [`agent-${index}`] },
          actor: { by: `operator ${index}`, via: 'cli' },
        }),
      ),
    );
    const won = answers.findIndex(({ kind }) => kind === 'written');
    expect((await administration(stores[0]!)).map(({ by }) => by)).toEqual([`operator ${won}`]);
    expect((await stores[0]!.readPolicy()).policy.unattended).toEqual([`agent-${won}`]);
  });

  it('tokens are in the audit when they are made and revoked, with id, name and scopes, and never a secret', async () => {
    const store = await scene.open();
    const identity = { tenant: 'acme', subject: 'ann', agent: 'helper' };
    const request = newToken();
    const agent = { ...newToken('bot'), token: { ...newToken('bot').token, scopes: ['agent'] as const, identity } };
    const made = await store.createToken({ ...request, actor: ADA });
    await store.createToken({ ...request, actor: CI });
    await store.createToken({ ...agent, actor: CI });
    const { id } = request.token;
    expect(await store.revokeToken({ id, actor: CI, comment: 'it leaked' })).toBe('revoked');
    expect(await store.revokeToken({ id, actor: ADA })).toBe('revoked');
    expect(await store.revokeToken({ id: newTokenText().id, actor: ADA })).toBe('unknown');
    const records = await administration(store);
    const { expiresAt } = made.kind === 'created' ? made.token : { expiresAt: 0 };
    const facts = { token: id, tokenName: 'ci', scopes: ['operator'] };
    expect(records).toEqual([
      { event: 'token.created', by: 'operator ada', via: 'cli', ...facts, expiresAt },
      expect.objectContaining({ event: 'token.created', token: agent.token.id, tokenName: 'bot', identity }),
      {
        event: 'token.revoked',
        by: 'operator ci',
        via: 'gateway',
        bearer: 'abcdefghijklmnop',
        comment: 'it leaked',
        ...facts,
      },
    ]);
    expect(JSON.stringify(records)).not.toContain(request.secretDigest);
  });

  it('a login is in the audit: the link that was offered, the token it became, a shown token, and a refusal', async () => {
    const store = await scene.open();
    const link = newToken('login link');
    await store.createToken({ ...link, token: { ...link.token, purpose: 'login-link' }, actor: ADA });
    const login = newToken('console');
    await store.createToken({
      ...login,
      token: { ...login.token, purpose: 'login' },
      actor: { by: 'bearer of a login link', via: 'console' },
    });
    const made = await store.createToken({ ...newToken('ops'), actor: ADA });
    const token = made.kind === 'created' ? made.token : undefined;
    const shown = { outcome: 'succeeded', attempt: 'one', detail: 'from 192.0.2.1', actor: CI } as const;
    await store.recordLogin({ ...shown, token: token! });
    await store.recordLogin({ ...shown, token: token! });
    await store.recordLogin({
      outcome: 'refused',
      attempt: 'two',
      detail: 'a token that is not valid, from 192.0.2.1',
    });
    const records = await administration(store);
    expect(records.map(({ event, by, tokenName, detail }) => [event, by, tokenName, detail])).toEqual([
      ['login.offered', 'operator ada', 'login link', undefined],
      ['login.succeeded', 'bearer of a login link', 'console', undefined],
      ['token.created', 'operator ada', 'ops', undefined],
      ['login.succeeded', 'operator ci', 'ops', 'from 192.0.2.1'],
      ['login.refused', 'unknown', undefined, 'a token that is not valid, from 192.0.2.1'],
    ]);
    const listed = await store.listTokens({ limit: 10 });
    expect(Object.fromEntries(listed.map(({ name, purpose }) => [name, purpose]))).toMatchObject({
      'login link': 'login-link',
      console: 'login',
      ops: undefined,
    });
  });

  it('a session is in the audit when it is opened and revoked, with whom it is for and how many it ended', async () => {
    const store = await scene.open();
    const boss = await openSession(store, { actor: ADA });
    const delegate = await openSession(store, { delegatedBy: boss.id, ...boss.identity });
    await store.revokeSession({ session: boss.id, actor: CI, comment: 'gone home' });
    await store.revokeSession({ session: boss.id, actor: ADA });
    expect(await administration(store)).toEqual([
      {
        event: 'session.opened',
        by: 'operator ada',
        via: 'cli',
        session: boss.id,
        run: boss.run,
        identity: boss.identity,
        expiresAt: (await store.readSession(boss.id))!.expiresAt,
      },
      expect.objectContaining({ event: 'session.opened', by: 'unknown', session: delegate.id, delegatedBy: boss.id }),
      {
        event: 'session.revoked',
        by: 'operator ci',
        via: 'gateway',
        bearer: 'abcdefghijklmnop',
        comment: 'gone home',
        session: boss.id,
        identity: boss.identity,
        sessions: 2,
      },
    ]);
  });

  it('opening a session again, revoking one that is unknown and ending a run without an actor leave no record', async () => {
    const store = await scene.open();
    const session = await openSession(store, { actor: ADA });
    const other = await openSession(store, { lane: session.lane });
    expect(await store.revokeSession({ session: `${session.id}x` as typeof session.id, actor: ADA })).toBe('unknown');
    await store.endRun({ session: other.id, run: other.run });
    await store.endRun({ session: session.id, run: session.run, actor: CI });
    await store.endRun({ session: session.id, run: session.run, actor: CI });
    await store.endRun({ session: session.id, run: 'never-opened' as RunId, actor: CI });
    const records = (await administration(store)).filter(({ event }) => event !== 'session.opened');
    expect(records).toEqual([
      {
        event: 'run.ended',
        by: 'operator ci',
        via: 'gateway',
        bearer: 'abcdefghijklmnop',
        session: session.id,
        run: session.run,
        identity: session.identity,
      },
    ]);
  });

  it('an administrative record is bounded, for any comment and any number of changes', async () => {
    const store = await scene.open();
    const names = Array.from({ length: 400 }, (_, index) => [`role-${index}-${'x'.repeat(300)}`, ['ann']]);
    await store.writePolicy({
      expectedVersion: 0,
      policy: { ...OPEN, roles: Object.fromEntries(names) as Policy['roles'] },
      actor: { by: 'o'.repeat(10_000), via: 'cli' },
      comment: 'c'.repeat(10_000),
    });
    const [record] = await administration(store);
    expect(record!.by).toHaveLength(256);
    expect(record!.comment).toHaveLength(512);
    expect(record!.changed).toHaveLength(50);
    expect(record!.changed!.at(-1)).toBe('352 more changes');
    expect(Buffer.byteLength(JSON.stringify(record))).toBeLessThan(16_384);
  });
}
