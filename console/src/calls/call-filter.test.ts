import { describe, expect, test } from 'vitest';
import type { CallRow } from '../api-types.ts';
import { byNewest, matchesFilter, readFilter, toQuery } from './call-filter.ts';

const call: CallRow = {
  callId: '0.a.1',
  tool: 'mail.send',
  agent: 'support',
  subject: 'lena',
  tenant: 'acme',
  session: 's',
  run: 'r',
  state: 'settled',
  outcome: 'denied',
  acceptedAt: 1000,
  settledAt: 2000,
};

describe('the filter of calls', () => {
  test('takes from the address only what it knows', () => {
    expect(readFilter({ tool: 'mail.send', state: '', cursor: 'x', evil: 'y' })).toEqual({ tool: 'mail.send' });
  });

  test('asks for a moving period by its beginning', () => {
    expect(toQuery({ last: '1h', tool: 't' }, 10_000_000)).toEqual({ tool: 't', from: 6_400_000 });
  });

  test('lets a live call in exactly if the list would have it', () => {
    expect(matchesFilter(call, {})).toBe(true);
    expect(matchesFilter(call, { state: 'live' })).toBe(false);
    expect(matchesFilter(call, { outcome: 'not-ok', tool: 'mail.send' })).toBe(true);
    expect(matchesFilter({ ...call, outcome: undefined, state: 'running' }, { outcome: 'not-ok' })).toBe(false);
    expect(matchesFilter(call, { from: '2001' })).toBe(false);
    expect(matchesFilter(call, { to: '1999' })).toBe(false);
    expect(matchesFilter(call, { subject: 'len' })).toBe(false);
    expect(matchesFilter(call, { text: 'len', run: 'r' })).toBe(true);
    expect(matchesFilter(call, { run: 's' })).toBe(false);
  });

  test('puts what goes on before what is settled, and the newest first', () => {
    const running: CallRow = { ...call, callId: '0.a.0', state: 'running', acceptedAt: 1, settledAt: undefined };
    const newer: CallRow = { ...call, callId: '0.a.2', settledAt: 3000 };
    expect([call, newer, running].toSorted(byNewest)).toEqual([running, newer, call]);
  });
});
