import { describe, expect, it } from 'vitest';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import type { HeldCall } from './owed-calls.ts';
import { isCalledOff, OwedRequest, type Sent } from './owed-request.ts';

/** A request that holds one entry. `released` records how the entry was released. */
async function holding(sent?: Promise<Sent>, signal = new AbortController().signal) {
  const released: string[] = [];
  const held: HeldCall = {
    key: 'key',
    callId: '0.scope.key' as CallId,
    digest: 'digest',
    leave: async () => void released.push('gone'),
    owe: async ({ afterMs = 0 } = {}) => void released.push(afterMs === 0 ? 'owed' : `owed after ${afterMs}`),
    lose: async () => void released.push('lost'),
  };
  const request = new OwedRequest(sent, signal);
  await request.keep(Promise.resolve({ kind: 'held', held }));
  return { request, released };
}

function later(): { readonly sent: Promise<Sent>; readonly end: (sent: Sent) => Promise<void> } {
  let resolve!: (sent: Sent) => void;
  const sent = new Promise<Sent>((done) => (resolve = done));
  const end = async (how: Sent): Promise<void> => {
    resolve(how);
    await new Promise((done) => setImmediate(done));
  };
  return { sent, end };
}

describe('a request among the calls owed', () => {
  it('holds its call until all of the answer was written', async () => {
    const { sent, end } = later();
    const { request, released } = await holding(sent);
    request.answer();
    await new Promise((done) => setImmediate(done));
    expect(released).toEqual([]);
    await end('finished');
    expect(released).toEqual(['gone']);
  });

  it('owes its call when the connection ends before the answer was written', async () => {
    const { sent, end } = later();
    const { request, released } = await holding(sent);
    request.answer();
    await end('closed');
    expect(released).toEqual(['lost']);
  });

  it.each(['finished', 'closed'] as const)(
    'owes its call at once when the response is %s before there is an answer, and whatever comes later',
    async (how) => {
      const { sent, end } = later();
      const { request, released } = await holding(sent);
      await end(how);
      expect(released).toEqual(['lost']);
      request.answer();
      await new Promise((done) => setImmediate(done));
      expect(released).toEqual(['lost']);
    },
  );

  it('owes its call at once when its client cancels, and also after later events', async () => {
    const { sent, end } = later();
    const client = new AbortController();
    const { request, released } = await holding(sent, client.signal);
    client.abort();
    expect(released).toEqual(['lost']);
    request.answer();
    await end('finished');
    expect(released).toEqual(['lost']);
  });

  it('owes a call that is held only after the connection was lost', async () => {
    const { request, released } = await holding(Promise.resolve<Sent>('closed'));
    await new Promise((done) => setImmediate(done));
    expect([request.hasEntry, released]).toEqual([true, ['lost']]);
  });

  it('owes its call when the client is asked to come back, and as a lost one when that cannot be written', async () => {
    for (const [how, rest] of [
      ['finished', []],
      ['closed', ['lost']],
    ] as const) {
      const { sent, end } = later();
      const { request, released } = await holding(sent);
      await request.owe(1000);
      await end(how);
      expect(released).toEqual(['owed', ...rest]);
    }
  });

  it('owes a call with a form when the form is too late', async () => {
    const { sent, end } = later();
    const { request, released } = await holding(sent);
    request.answer(1000);
    await end('finished');
    expect(released).toEqual(['owed after 1000']);
  });

  it('without a view of the response takes an answer for written', async () => {
    const { request, released } = await holding();
    request.answer();
    await new Promise((done) => setImmediate(done));
    expect(released).toEqual(['gone']);
  });
});

it('a call is called off by the request that made it, and by nothing that named it', () => {
  const by = ['request', 'caller', 'agent', 'parent', 'operator'] as const;
  expect(by.filter((each) => isCalledOff(errorOutcome('APPROVAL_ABORTED', { by: each })))).toEqual(['request']);
  expect(isCalledOff(errorOutcome('CALL_CANCELLED', {}))).toBe(false);
  expect(isCalledOff(errorOutcome('CALL_CANCELLED', { by: 'request' }, { executed: 'unknown' }))).toBe(false);
});
