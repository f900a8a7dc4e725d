import { describe, expect, it } from 'vitest';
import { parseScopedId } from './ids.ts';
import {
  askedCallId,
  callIdFor,
  callIdOfAgents,
  newApprovalId,
  newGrantId,
  newKey,
  newSessionId,
  ownCallId,
  randomId,
} from './new-id.ts';

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
  it('has the lane and scope of its call and 128 random bits, as has the id of its grant', () => {
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

describe('ids of the agents of one subject', () => {
  const sessionOf = (...agents: string[]) => newSessionId('t', 's', 4, agents);
  const [main, again, other] = [sessionOf('main'), sessionOf('main'), sessionOf('other')];

  it('have one scope, and one id for a key of one agent in all of its sessions', () => {
    expect(main).toMatch(/^\d\.[\w-]{12}\.[\w-]{21}x$/);
    expect(callIdFor(main, 'k')).toBe(callIdFor(again, 'k'));
    expect(callIdFor(main, 'k')).not.toBe(callIdFor(other, 'k'));
    expect(callIdFor(main, 'k')).not.toBe(callIdFor(sessionOf('main', 'boss'), 'k'));
    expect(callIdFor(sessionOf('a', 'b'), 'k')).not.toBe(callIdFor(sessionOf('b', 'a'), 'k'));
    expect(new Set([main, other].map((id) => id.split('.')[1])).size).toBe(1);
  });

  it('take a minted key as it is, and the key of another agent for a text', () => {
    const key = newKey(main);
    expect(callIdFor(main, key)!.endsWith(`.${key}`)).toBe(true);
    expect(askedCallId(main, key)).toBe(callIdFor(main, key));
    expect(callIdFor(other, key)!.endsWith(`.${key}`)).toBe(false);
    expect(parseScopedId(callIdFor(other, key)!)).toBeDefined();
  });

  it('are what the store makes of the id that was asked for', () => {
    for (const key of ['k', randomId(), newKey(main), newKey(other)]) {
      const tag = parseScopedId(main)!.rest.slice(0, 8);
      expect(callIdOfAgents(tag, askedCallId(main, key)!)).toBe(callIdFor(main, key));
      expect(ownCallId(main, askedCallId(main, key)!)).toBe(callIdFor(main, key));
    }
  });

  it('of sessions of an earlier release are left to the store', () => {
    for (let count = 0; count < 100; count += 1) {
      const old = newSessionId('t', 's', 4);
      expect(old.endsWith('x')).toBe(false);
      expect(callIdFor(old, 'k')).toBe(askedCallId(old, 'k'));
    }
  });
});
