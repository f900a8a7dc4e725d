import type { GrantView } from '../../../../src/gateway/api/approval-schema.ts';

export type Grant = GrantView;
export type GrantMatches = Grant['matches'];

export function describeScope({ tenant, subject, agent }: Pick<Grant, 'tenant' | 'subject' | 'agent'>): string {
  const name = tenant === 'default' ? subject : `${tenant}/${subject}`;
  return agent === undefined ? `${name}, any agent` : `${name}, agent ${agent}`;
}

export function grantState(
  { revoked, expiresAt, usesLeft }: Grant,
  now: number,
): 'live' | 'revoked' | 'expired' | 'used up' {
  if (revoked) return 'revoked';
  if (expiresAt <= now) return 'expired';
  return usesLeft === 0 ? 'used up' : 'live';
}
