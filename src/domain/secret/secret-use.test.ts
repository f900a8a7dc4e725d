import { describe, expect, it } from 'vitest';
import type { ToolId } from '../identity/ids.ts';
import type { Policy } from '../policy/policy.ts';
import { refuseSecret, refuseSecrets, type SecretUser } from './secret-use.ts';

const ID = 'mail.send' as ToolId;

function user(more: Partial<SecretUser> & { readonly secrets?: Policy['secrets'] } = {}): SecretUser {
  return {
    tool: { id: ID, secrets: ['MAIL_*', 'TOKEN'] },
    policy: { secrets: more.secrets ?? { main: ['MAIL_*', 'TOKEN'] } },
    identity: { tenant: 'default', subject: 'ann', agent: 'main' },
    knows: () => true,
    ...more,
  };
}
const codeFor = (name: string, asked: SecretUser): string | undefined =>
  refuseSecret(name, 'arguments', asked)?.error?.code;

describe('a secret', () => {
  it('may be used by a tool that declares it for an agent that is named', () => {
    expect(codeFor('TOKEN', user())).toBeUndefined();
    expect(codeFor('MAIL_HOME', user())).toBeUndefined();
    expect(codeFor('TOKEN', user({ secrets: { '*': ['TOKEN'] } }))).toBeUndefined();
    expect(codeFor('TOKEN', user({ secrets: { main: ['*'] } }))).toBeUndefined();
  });

  it('is refused otherwise: first by the tool, then by the policy, and only then as unknown', () => {
    const unknown = { knows: () => false };
    expect(codeFor('TOKENS', user(unknown))).toBe('SECRET_UNDECLARED');
    expect(codeFor('TOKEN', user({ ...unknown, tool: { id: ID } }))).toBe('SECRET_UNDECLARED');
    expect(codeFor('TOKEN', user({ ...unknown, secrets: {} }))).toBe('SECRET_DENIED');
    expect(codeFor('TOKEN', user({ ...unknown, policy: {} }))).toBe('SECRET_DENIED');
    expect(codeFor('TOKEN', user({ ...unknown, secrets: { other: ['TOKEN'] } }))).toBe('SECRET_DENIED');
    expect(codeFor('TOKEN', user(unknown))).toBe('SECRET_UNKNOWN');
  });

  it('needs to be open to every agent that the caller acts for', () => {
    const identity = { tenant: 'default', subject: 'ann', agent: 'main', delegators: ['chief', 'boss'] };
    const secrets = { main: ['TOKEN'], chief: ['TOKEN'] };
    expect(refuseSecret('TOKEN', 'arguments', user({ identity, secrets }))).toMatchObject({
      kind: 'denied',
      error: { code: 'SECRET_DENIED', facts: { agent: 'boss' } },
    });
    expect(
      refuseSecret('TOKEN', 'arguments', user({ identity, secrets: { ...secrets, boss: ['*'] } })),
    ).toBeUndefined();
  });

  it('that a tool declares as its own is not for its arguments', () => {
    const asked = user({ tool: { id: ID, secrets: ['own:TOKEN', 'own:MAIL_*'] } });
    expect(['TOKEN', 'MAIL_HOME'].map((name) => refuseSecret(name, 'own', asked))).toStrictEqual([
      undefined,
      undefined,
    ]);
    expect(codeFor('TOKEN', asked)).toBe('SECRET_UNDECLARED');
    expect(codeFor('MAIL_HOME', asked)).toBe('SECRET_UNDECLARED');
    const given = { canonical: '{"a":"secret:TOKEN"}', arguments: { a: 'secret:TOKEN' }, setup: { b: 'secret:TOKEN' } };
    expect(refuseSecrets(asked, given)?.error?.code).toBe('SECRET_UNDECLARED');
    expect(refuseSecrets(asked, { ...given, canonical: '{}', arguments: {} })).toBeUndefined();
  });

  it('of the setup is looked at where the tool declares it', () => {
    const given = { canonical: '{}', arguments: {}, setup: { a: 'secret:OTHER', b: 'secret:TOKEN' } };
    expect(refuseSecrets(user(), given)).toBeUndefined();
    expect(refuseSecrets(user({ secrets: {} }), given)?.error?.facts).toMatchObject({ secret: 'TOKEN' });
    expect(refuseSecrets(user({ tool: { id: ID }, secrets: {} }), given)).toBeUndefined();
  });
});
