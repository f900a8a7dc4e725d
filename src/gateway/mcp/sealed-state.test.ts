import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSeals, type StateOwner } from './sealed-state.ts';

afterEach(() => void vi.useRealTimers());

const KEY = randomBytes(32);
const BEARER = { id: 'one', identity: { tenant: 'acme', subject: 'ann', agent: 'main' }, expiresAt: 0 };
const OWNER: StateOwner = { bearer: BEARER, method: 'tools/call', params: { name: 'send', arguments: { text: 'x' } } };
const STATE = { callId: 'call', approval: 'question' };

/** Like a real store, accepts only the first attempt to use a digest. */
function store() {
  const used = new Map<string, string>();
  return {
    used,
    async useOnce({ digest, attempt }: { digest: string; attempt: string }) {
      if (!used.has(digest)) used.set(digest, attempt);
      return used.get(digest) === attempt ? ('first' as const) : ('used' as const);
    },
  };
}

describe('a sealed state', () => {
  it('comes back to its owner, once, also from another gateway with the same key and store', async () => {
    const kept = store();
    const sealed = createSeals(() => KEY, kept).seal(OWNER, STATE, 1000);
    const other = createSeals(() => KEY, kept);
    expect(await other.open(OWNER, sealed)).toEqual(STATE);
    expect(await other.open(OWNER, sealed)).toBeUndefined();
    expect(await createSeals(() => KEY, kept).open(OWNER, sealed)).toBeUndefined();
  });

  it('is opened by one of many who try at the same time', async () => {
    const seals = createSeals(() => KEY, store());
    const sealed = seals.seal(OWNER, STATE, 1000);
    const opened = await Promise.all(Array.from({ length: 20 }, () => seals.open(OWNER, sealed)));
    expect(opened.filter((state) => state !== undefined)).toHaveLength(1);
  });

  it.each<[string, StateOwner]>([
    ['another bearer', { ...OWNER, bearer: { ...BEARER, id: 'two' } }],
    ['another subject', { ...OWNER, bearer: { ...BEARER, identity: { ...BEARER.identity, subject: 'bob' } } }],
    ['another agent', { ...OWNER, bearer: { ...BEARER, identity: { ...BEARER.identity, agent: 'other' } } }],
    ['another method', { ...OWNER, method: 'prompts/get' }],
    ['another tool', { ...OWNER, params: { ...OWNER.params, name: 'other' } }],
    ['other arguments', { ...OWNER, params: { name: 'send', arguments: { text: 'y' } } }],
  ])('is none for %s, and is not used up by trying', async (_, owner) => {
    const kept = store();
    const seals = createSeals(() => KEY, kept);
    const sealed = seals.seal(OWNER, STATE, 1000);
    expect(await seals.open(owner, sealed)).toBeUndefined();
    expect(kept.used.size).toBe(0);
    expect(await seals.open(OWNER, sealed)).toEqual(STATE);
  });

  it('is none when a single bit of it is changed, wherever that is', async () => {
    const seals = createSeals(() => KEY, store());
    const [version, text] = seals.seal(OWNER, STATE, 1000).split('.') as [string, string];
    const bytes = Buffer.from(text, 'base64url');
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << (at % 8);
      expect(await seals.open(OWNER, `${version}.${changed.toString('base64url')}`)).toBeUndefined();
    }
  });

  it.each(['', 'sp1.', 'sp2.AAAA', 'sp1.AAAA', 'sp1.AAAA.AAAA', '{}', `sp1.${'A'.repeat(600_000)}`])(
    'is not %.20s',
    async (text) => {
      expect(await createSeals(() => KEY, store()).open(OWNER, text)).toBeUndefined();
    },
  );

  it('is none in another spelling of the same bytes', async () => {
    const seals = createSeals(() => KEY, store());
    expect(await seals.open(OWNER, `${seals.seal(OWNER, STATE, 1000)}=`)).toBeUndefined();
  });

  it('is none with another key', async () => {
    const sealed = createSeals(() => randomBytes(32), store()).seal(OWNER, STATE, 1000);
    expect(await createSeals(() => KEY, store()).open(OWNER, sealed)).toBeUndefined();
  });

  it('is none when its time is over', async () => {
    vi.useFakeTimers();
    const seals = createSeals(() => KEY, store());
    const sealed = seals.seal(OWNER, STATE, 1000);
    vi.advanceTimersByTime(1000);
    expect(await seals.open(OWNER, sealed)).toBeUndefined();
  });

  it('does not reveal its content', () => {
    const sealed = createSeals(() => KEY, store()).seal(OWNER, STATE, 1000);
    expect(Buffer.from(sealed.slice(4), 'base64url').toString('latin1')).not.toContain('question');
  });
});
