import { describe, expect, it } from 'vitest';
import type { Actor } from '../domain/identity/actor.ts';
import type { SessionId } from '../domain/identity/ids.ts';
import type { Session } from '../domain/identity/session.ts';
import type { Authenticated } from './authenticated.ts';
import { createRequesters } from './requesters.ts';

const QUESTION = { session: 's' as SessionId, identity: { tenant: 'acme', subject: 'ann', agent: 'main' } };

function bearer(more: Partial<Authenticated> = {}): Authenticated {
  return { via: 'token', id: 'token-1', name: 'olga', scopes: new Set(['approver']), expiresAt: 1, ...more };
}

async function isRequester(auth: Authenticated, openedBy?: Actor): Promise<boolean> {
  const session = (openedBy === undefined ? {} : { openedBy }) as Session;
  return createRequesters({ readSession: async () => session })(auth, QUESTION);
}

const opened = (by: string, token?: string): Actor => ({
  by,
  via: 'gateway',
  ...(token === undefined ? {} : { bearer: token }),
});

describe('a bearer counts as the requester if it', () => {
  it('calls for the subject of the question, as any agent', async () => {
    const identity = { tenant: 'acme', subject: 'ann', agent: 'other' };
    expect(await isRequester(bearer({ identity }))).toBe(true);
    expect(await isRequester(bearer({ identity, decidesAs: 'acme/rita' }))).toBe(true);
    expect(await isRequester(bearer({ identity: { ...identity, tenant: 'else' } }))).toBe(false);
    expect(await isRequester(bearer({ identity: { ...identity, subject: 'bob' } }))).toBe(false);
  });

  it('opened the session, whomever it decides as', async () => {
    for (const more of [{}, { decidesAs: 'acme/rita' }]) {
      expect(await isRequester(bearer({ name: 'renamed', ...more }), opened('operator olga', 'token-1'))).toBe(true);
    }
  });

  it('has the name of the token that opened the session, and decides by it', async () => {
    for (const by of ['operator olga', 'token olga']) {
      expect(await isRequester(bearer(), opened(by, 'token-2'))).toBe(true);
      expect(await isRequester(bearer({ decidesAs: 'acme/rita' }), opened(by, 'token-2'))).toBe(false);
    }
    expect(await isRequester(bearer(), opened('operator olga the second', 'token-2'))).toBe(false);
    expect(await isRequester(bearer({ name: 'front desk' }), opened('operator front desk', 'token-2'))).toBe(true);
  });

  it('and not for sessions without a token: of the command line, of programs, of earlier releases', async () => {
    expect(await isRequester(bearer(), opened('operator olga'))).toBe(false);
    expect(await isRequester(bearer())).toBe(false);
    const gone = createRequesters({ readSession: async () => undefined });
    expect(await gone(bearer(), QUESTION)).toBe(false);
  });
});
