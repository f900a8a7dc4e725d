import { describe, expect, it } from 'vitest';
import type { ApprovalId, ApprovalQuestion, Asker, Grant, GrantId } from '../../domain/policy/approval.ts';
import { toolId, type CallId, type RunId, type SessionId } from '../../domain/identity/ids.ts';
import { sha256 } from '../../base/sha256.ts';
import { grantMatches, makeGrant, type AskedCall } from './grants.ts';

const RULE: Asker = { kind: 'rule', id: 'writes', digest: 'r1', grantable: true };
const QUESTION: ApprovalQuestion = {
  id: 'a' as ApprovalId,
  callId: 'c' as CallId,
  tool: toolId('files', 'write'),
  toolDigest: 'd1',
  arguments: '{"path":"a"}',
  session: 's' as SessionId,
  run: 'r' as RunId,
  identity: { tenant: 'acme', subject: 'ann', agent: 'helper' },
  askers: [RULE],
  title: '',
  description: '',
  reasons: [],
  severity: 'info',
  decisions: ['allow-once', 'allow-always', 'deny'],
  approvers: [],
  requesterMayDecide: false,
  quorum: 1,
  binding: 'b',
};
const stored = (options: Parameters<typeof makeGrant>[2] = {}): Grant => {
  const { lifetimeMs, ...grant } = makeGrant('g' as GrantId, QUESTION, options);
  const by = { kind: 'operator', name: 'root' } as const;
  return { ...grant, approval: QUESTION.id, by, createdAt: 0, expiresAt: lifetimeMs, revoked: false };
};
const call = (more: Partial<AskedCall> = {}): AskedCall => ({ ...QUESTION, ...more });

describe('makeGrant', () => {
  it('is as narrow as possible unless a wider one is requested', () => {
    expect(makeGrant('g' as GrantId, QUESTION)).toEqual({
      id: 'g',
      tenant: 'acme',
      subject: 'ann',
      agent: 'helper',
      tool: 'files.write',
      toolDigest: 'd1',
      matches: { kind: 'exact', argumentsDigest: sha256('{"path":"a"}') },
      askers: ['r1'],
      lifetimeMs: 30 * 86_400_000,
    });
    const wide = makeGrant('g' as GrantId, QUESTION, { arguments: 'any', anyAgent: true, lifetimeMs: 5, uses: 2 });
    expect(wide).toMatchObject({ matches: { kind: 'any' }, lifetimeMs: 5, usesLeft: 2 });
    expect(wide).not.toHaveProperty('agent');
  });

  it('of edited arguments is for those, and not for the ones asked about', () => {
    const grant = makeGrant('g' as GrantId, QUESTION, {}, '{"path":"b"}');
    expect(grant.matches).toEqual({ kind: 'exact', argumentsDigest: sha256('{"path":"b"}') });
  });

  it.each([{ lifetimeMs: 0 }, { lifetimeMs: 1.5 }, { lifetimeMs: 366 * 86_400_000 }, { uses: 0 }, { uses: 1.5 }])(
    'refuses %j',
    (options) => {
      expect(() => makeGrant('g' as GrantId, QUESTION, options)).toThrow(
        expect.objectContaining({ code: 'APPROVAL_INVALID' }),
      );
    },
  );
});

describe('grantMatches', () => {
  it('lets the call through that it was made for', () => {
    expect(grantMatches(stored(), call())).toBe(true);
  });

  it.each<[string, Partial<AskedCall>]>([
    ['another tool', { tool: toolId('files', 'read') }],
    ['a changed tool', { toolDigest: 'd2' }],
    ['other arguments', { arguments: '{"path":"b"}' }],
    ['another subject', { identity: { ...QUESTION.identity, subject: 'bob' } }],
    ['the same name in another tenant', { identity: { ...QUESTION.identity, tenant: 'other' } }],
    ['another agent', { identity: { ...QUESTION.identity, agent: 'other' } }],
    ['a changed rule', { askers: [{ ...RULE, digest: 'r2' }] }],
    ['one more rule', { askers: [RULE, { ...RULE, id: 'more', digest: 'r9' }] }],
    ['a hook that wants to be asked every time', { askers: [{ ...RULE, grantable: false }] }],
  ])('does not answer for %s', (_what, change) => {
    expect(grantMatches(stored(), call(change))).toBe(false);
  });

  it('that was revoked answers nothing', () => {
    expect(grantMatches({ ...stored(), revoked: true }, call())).toBe(false);
  });

  it('for any arguments or any agent answers for those, and still for no other subject', () => {
    const other = call({ arguments: '{}', identity: { ...QUESTION.identity, agent: 'other' } });
    const grant = stored({ arguments: 'any', anyAgent: true });
    expect(grantMatches(grant, other)).toBe(true);
    expect(grantMatches(grant, call({ identity: { ...QUESTION.identity, subject: 'bob' } }))).toBe(false);
  });

  it('with conditions checks whether they hold, and does not answer where that cannot be judged', () => {
    const grant = stored({ arguments: { conditions: '[]' } });
    const asked: string[][] = [];
    expect(grantMatches(grant, call(), (...given) => asked.push(given) > 0)).toBe(true);
    expect(asked).toEqual([['[]', '{"path":"a"}']]);
    expect(grantMatches(grant, call(), () => false)).toBe(false);
    expect(grantMatches(grant, call())).toBe(false);
  });
});
