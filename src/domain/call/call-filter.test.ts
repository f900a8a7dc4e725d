import { expect, it } from 'vitest';
import { ERROR_KINDS, matchesCall, REFUSED_KINDS } from './call-filter.ts';
import { OUTCOME_KINDS } from '../outcome/outcome.ts';

const CALL = {
  callId: '0.AAAAAAAAAAAA.k3xQ9Zr7p1mVb2nS8tUwYc',
  tool: 'mail.send',
  agent: 'support',
  subject: 'lena',
  tenant: 'default',
  session: '0.AAAAAAAAAAAA.session-session-sessi',
  run: 'run-7',
  code: 'RULE_DENIED',
  outcome: 'denied',
  settledAt: 1000,
};
const finds = (text: string): boolean => matchesCall(CALL, { text });

it('a call is found by its whole id, by its beginning, by the beginning of its last part and by its end', () => {
  expect([CALL.callId, '0.AAAAAAAAAAAA.k3x', 'k3xQ9Z', 'tUwYc', 'run-'].map(finds)).not.toContain(false);
  expect(['3xQ9', 'K3XQ', 'un-'].map(finds)).toEqual([false, false, false]);
});

it('a call is found by a part of a name in any case, and by nothing else', () => {
  expect(['MAIL', 'send', 'Lena', 'rule_'].map(finds)).toEqual([true, true, true, true]);
  expect(['mail.*', 'nobody'].map(finds)).toEqual([false, false]);
});

it('a run is matched whole', () => {
  expect(matchesCall(CALL, { run: 'run-7' })).toBe(true);
  expect(matchesCall(CALL, { run: 'run' })).toBe(false);
});

it('every kind of outcome but ok and cancelled is an error or a refusal, and none is both', () => {
  expect([...ERROR_KINDS, ...REFUSED_KINDS, 'ok', 'cancelled'].toSorted()).toEqual([...OUTCOME_KINDS].toSorted());
  expect(matchesCall(CALL, { outcome: 'refused' })).toBe(true);
  expect(matchesCall(CALL, { outcome: 'errors' })).toBe(false);
  expect(matchesCall({ ...CALL, outcome: 'crashed' }, { outcome: 'errors' })).toBe(true);
});

it('a call that has not ended has no outcome to be found by', () => {
  expect(matchesCall({ ...CALL, outcome: undefined }, { outcome: 'not-ok' })).toBe(false);
});
