import { describe, expect, it } from 'vitest';
import type { SessionId } from '../domain/identity/ids.ts';
import { newSessionId, newToken } from '../domain/identity/new-id.ts';
import { newTokenText } from '../domain/identity/token-text.ts';
import { newLoginCode, readBearer, readLoginCode, sessionBearer } from './bearer.ts';

describe('readBearer', () => {
  it('reads tokens and bearers of sessions', () => {
    const { text, id, secretDigest } = newTokenText();
    expect(readBearer(text)).toEqual({ kind: 'token', id, secretDigest });
    const session = { id: newSessionId('default', 'local', 1), token: newToken() };
    expect(readBearer(sessionBearer(session))).toEqual({ kind: 'session', ...session });
  });

  it('takes nothing else, and repairs nothing', () => {
    const { text } = newTokenText();
    const session = sessionBearer({ id: newSessionId('default', 'local', 1), token: newToken() });
    const wrong = ['', ' ', text.toUpperCase(), `${text} `, `${text}x`, text.slice(0, -1), session.replace('~', '_')];
    expect([...wrong, `${session}~2`, '0'.repeat(100_000)].map(readBearer)).toEqual(
      Array.from({ length: wrong.length + 2 }, () => undefined),
    );
  });

  it('takes no login code, and the digest of a code is none of a token with the same secret', () => {
    const code = newLoginCode();
    const asToken = readBearer(code.text.replace('spl_', 'spt_'));
    expect(readBearer(code.text)).toBeUndefined();
    expect(readLoginCode(code.text)).toEqual({ id: code.id, secretDigest: code.secretDigest });
    expect(asToken).toMatchObject({ kind: 'token', id: code.id as SessionId });
    expect(asToken).not.toMatchObject({ secretDigest: code.secretDigest });
  });
});
