import type { SessionId } from '../domain/identity/ids.ts';
import type { SessionHandle } from '../domain/identity/session.ts';
import { sha256 } from '../base/sha256.ts';
import { newTokenText, readTokenText } from '../domain/identity/token-text.ts';

/** The value after `Bearer` in the Authorization header: a token of the gateway, or a session's own token. */
export type Bearer =
  | { readonly kind: 'token'; readonly id: string; readonly secretDigest: string }
  | { readonly kind: 'session'; readonly id: SessionId; readonly token: string };

const SESSION = /^sps_(\d{1,4}\.[A-Za-z0-9_-]{12}\.[A-Za-z0-9_-]{22})~([A-Za-z0-9_-]{43})$/;
const LOGIN_CODE = /^spl_([a-z2-7]{16})_([A-Za-z0-9_-]{43})$/;

/** Parses a bearer. Returns undefined unless the text has exactly the expected form: nothing is trimmed or repaired. */
export function readBearer(text: string): Bearer | undefined {
  const token = readTokenText(text);
  if (token !== undefined) return { kind: 'token', ...token };
  const session = SESSION.exec(text);
  if (session !== null) return { kind: 'session', id: session[1]! as SessionId, token: session[2]! };
  return undefined;
}

/** The bearer text of one session. Its holder may act in that session and nowhere else. */
export function sessionBearer({ id, token }: Pick<SessionHandle, 'id' | 'token'>): string {
  return `sps_${id}~${token}`;
}

/**
 * A code that can be used once to log in. Its digest differs from that of a token with the same secret, so the code cannot be used as a
 * bearer.
 */
export function newLoginCode(): { readonly id: string; readonly text: string; readonly secretDigest: string } {
  const text = newTokenText().text.replace(/^spt_/, 'spl_');
  return { text, ...readLoginCode(text)! };
}

export function readLoginCode(text: string): { readonly id: string; readonly secretDigest: string } | undefined {
  const code = LOGIN_CODE.exec(text);
  return code === null ? undefined : { id: code[1]!, secretDigest: loginDigest(code[2]!) };
}

function loginDigest(secret: string): string {
  return sha256(`login\0${secret}`);
}
