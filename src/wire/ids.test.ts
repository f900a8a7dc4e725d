import { describe, expect, it } from 'vitest';
import { callIdFor, newApprovalId, newGrantId, newSessionId, randomId } from './ids.ts';

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

describe('newApprovalId', () => {
  it('is of the lane and scope of its call, with 128 bits that nobody can guess, as is the grant that comes of it', () => {
    const callId = callIdFor(newSessionId('t', 's', 4), 'my key')!;
    const scope = callId.slice(0, callId.lastIndexOf('.') + 1);
    const ids = new Set(Array.from({ length: 1000 }, () => newApprovalId(callId)));
    expect(ids.size).toBe(1000);
    for (const id of ids) {
      expect(id.startsWith(scope)).toBe(true);
      expect(id.slice(scope.length)).toMatch(/^[\w-]{22}$/);
      expect(newGrantId(id).startsWith(scope)).toBe(true);
    }
  });
});
