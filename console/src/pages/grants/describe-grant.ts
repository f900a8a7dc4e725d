/** As `GET /v1/grants` answers. */
export interface Grant {
  readonly id: string;
  readonly tenant: string;
  readonly subject: string;
  /** Absent: any agent of the subject. */
  readonly agent?: string;
  readonly tool: string;
  readonly toolDigest: string;
  readonly matches: GrantMatches;
  readonly approval: string;
  readonly by: { readonly kind: string; readonly name: string };
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Absent: as often as needed. */
  readonly usesLeft?: number;
  readonly revoked: boolean;
}

export type GrantMatches =
  | { readonly kind: 'exact'; readonly argumentsDigest: string }
  | { readonly kind: 'any' }
  /** All of them must hold. */
  | { readonly kind: 'conditions'; readonly conditions: readonly unknown[] };

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
