import { expect, test } from 'vitest';
import { describeScope, grantState, type Grant } from './describe-grant.ts';

const grant = { tenant: 'default', subject: 'ada', tool: 'mail.send', revoked: false, expiresAt: 1000 } as Grant;

test('the scope of a grant names the tenant only where it is not the usual one', () => {
  expect(describeScope(grant)).toBe('ada, any agent');
  expect(describeScope({ ...grant, tenant: 'acme', agent: 'bot' })).toBe('acme/ada, agent bot');
});

test('a grant is live until it is revoked, has expired or is used up', () => {
  expect(grantState(grant, 999)).toBe('live');
  expect(grantState(grant, 1000)).toBe('expired');
  expect(grantState({ ...grant, usesLeft: 0 }, 1)).toBe('used up');
  expect(grantState({ ...grant, usesLeft: 1 }, 1)).toBe('live');
  expect(grantState({ ...grant, revoked: true }, 1)).toBe('revoked');
});
