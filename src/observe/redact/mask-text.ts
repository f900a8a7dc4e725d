import { createHmac } from 'node:crypto';
import { findAssignments } from './find-assignments.ts';
import { findCredentials, type Span } from './find-credentials.ts';
import { mayHoldSecret } from './may-hold-secret.ts';
import type { RedactionKey } from './redaction-key.ts';

/** Returns the mark that is shown in place of a secret. Equal secrets get equal marks, as long as the key is the same. */
export type Mask = (secret: string) => string;

const MARK_DIGITS = 8;
const FIRST_KEY = '1';

export function maskWith(key: RedactionKey): Mask {
  const nameOf = nameSecretsWith(key);
  return (secret) => `[secret ${nameOf(secret)}]`;
}

/** Returns short names for secrets. The same secret and key always give the same name. */
export function nameSecretsWith({ id, bytes }: RedactionKey): (secret: string) => string {
  const prefix = id === FIRST_KEY ? '' : `${id}:`;
  return (secret) => prefix + createHmac('sha256', bytes).update(secret).digest('hex').slice(0, MARK_DIGITS);
}

/** A text with its secrets masked; the same text if none was found. */
export function maskText(text: string, mask: Mask): string {
  if (!mayHoldSecret(text)) return text;
  const spans = joinSpans([...findCredentials(text), ...findAssignments(text)]);
  if (spans.length === 0) return text;
  let masked = '';
  let from = 0;
  for (const [start, end] of spans) {
    masked += text.slice(from, start) + mask(text.slice(start, end));
    from = end;
  }
  return masked + text.slice(from);
}

/** Sorts spans and joins those that overlap. */
export function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.filter(([start, end]) => end > start).sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = joined.at(-1);
    if (last === undefined || span[0] >= last[1]) joined.push(span);
    else if (span[1] > last[1]) joined[joined.length - 1] = [last[0], span[1]];
  }
  return joined;
}
