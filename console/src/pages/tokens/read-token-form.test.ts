import { expect, test } from 'vitest';
import { readTokenForm, type TokenForm } from './read-token-form.ts';

const form: TokenForm = {
  name: ' ci ',
  scopes: ['agent'],
  agent: ' bot ',
  subject: 'ada',
  tenant: '',
  decidesAs: 'default/ada',
  unattended: false,
  days: '2',
};

test('a token for an agent has its identity, and no word about deciding', () => {
  expect(readTokenForm(form)).toEqual({
    name: 'ci',
    scopes: ['agent'],
    identity: { tenant: 'default', subject: 'ada', agent: 'bot' },
    lifetimeMs: 2 * 86_400_000,
  });
});

test('a token for an approver has no identity', () => {
  expect(readTokenForm({ ...form, scopes: ['approver'] })).toEqual({
    name: 'ci',
    scopes: ['approver'],
    decidesAs: 'default/ada',
    lifetimeMs: 2 * 86_400_000,
  });
});

test('only a token that opens sessions, and is no administrator, can be unattended', () => {
  const unattended = { ...form, unattended: true };
  expect(readTokenForm(unattended)).toMatchObject({ unattended: true });
  expect(readTokenForm({ ...unattended, scopes: ['sessions'] })).toMatchObject({ unattended: true });
  expect(readTokenForm({ ...unattended, scopes: ['approver'] })).not.toHaveProperty('unattended');
  expect(readTokenForm({ ...unattended, scopes: ['agent', 'admin'] })).not.toHaveProperty('unattended');
});
