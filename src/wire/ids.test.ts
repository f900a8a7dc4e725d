import { describe, expect, it } from 'vitest';
import { callIdFor, newSessionId, randomId } from './ids.ts';

describe('randomId', () => {
  it('gives keys that are all different and their own digests', () => {
    const session = newSessionId('tenant', 'subject', 1);
    const scope = session.slice(0, session.lastIndexOf('.') + 1);
    const keys = new Set(Array.from({ length: 10_000 }, randomId));
    expect(keys.size).toBe(10_000);
    for (const key of keys) expect(callIdFor(session, key)).toBe(scope + key);
  });
});

describe('callIdFor', () => {
  it('is the same for the same key and subject, in any session of it', () => {
    const [first, second] = [newSessionId('t', 's', 4), newSessionId('t', 's', 4)];
    expect(first).not.toBe(second);
    expect(callIdFor(first, 'my key')).toBe(callIdFor(second, 'my key'));
    expect(callIdFor(first, 'my key')).not.toBe(callIdFor(first, 'my other key'));
    expect(callIdFor(newSessionId('t', 'other', 4), 'my key')).not.toBe(callIdFor(first, 'my key'));
  });

  it.each(['', 'x', '0.short.BBBBBBBBBBBBBBBBBBBBBB'])('is nothing for a session that is none: %j', (session) => {
    expect(callIdFor(session as never, 'k')).toBeUndefined();
  });
});
