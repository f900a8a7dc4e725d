import { randomBytes } from 'node:crypto';
import { avoidDash } from './random-text.ts';
import { sha256 } from '../../base/sha256.ts';

/** The parts of a token's text: the id to find it by, and the digest that proves it. */
export interface ReadToken {
  readonly id: string;
  /** SHA-256 of the secret, hex. */
  readonly secretDigest: string;
}

const SHAPE = /^spt_([a-z2-7]{16})_([A-Za-z0-9_-]{43})$/;
const ID_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_LENGTH = 16;
const SECRET_BYTES = 32;

/** A new token: 80 random bits to find it by, 256 to prove it. The prefix is for people and for scanners of leaked secrets. */
export function newTokenText(): ReadToken & { readonly text: string } {
  // 32 letters divide 256, so every letter is equally likely.
  const id = Array.from(randomBytes(ID_LENGTH), (byte) => ID_LETTERS[byte % ID_LETTERS.length]).join('');
  const bytes = randomBytes(SECRET_BYTES);
  avoidDash(bytes);
  const secret = bytes.toString('base64url');
  return { text: `spt_${id}_${secret}`, id, secretDigest: sha256(secret) };
}

/** Undefined for text that does not have the form of a token. Only the secret's digest leaves this function. */
export function readTokenText(text: unknown): ReadToken | undefined {
  const match = typeof text === 'string' ? SHAPE.exec(text) : null;
  if (match === null) return undefined;
  return { id: match[1]!, secretDigest: sha256(match[2]!) };
}
