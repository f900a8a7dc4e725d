import type { Identity } from '../../domain/identity/session.ts';
import { sha256 } from '../../base/sha256.ts';

export const SCOPES = ['subject', 'channel', 'tenant'] as const;
export type ScopeKind = (typeof SCOPES)[number];

const DIGEST_CHARACTERS = 40;

/**
 * Names the owner of the documents that a call may see. The name is made only of what the session says. A session without a channel gets the
 * documents of its subject: otherwise all sessions without a channel would share one.
 */
export function scopeOf(kind: ScopeKind, identity: Identity): string {
  return `${kind}-${sha256(JSON.stringify(ownerOf(kind, identity))).slice(0, DIGEST_CHARACTERS)}`;
}

function ownerOf(kind: ScopeKind, identity: Identity): readonly string[] {
  const { tenant, subject, channel, space = '', platform = '' } = identity;
  if (kind === 'tenant') return ['tenant', tenant];
  if (kind === 'channel' && channel !== undefined) return ['channel', tenant, platform, space, channel];
  return ['subject', tenant, subject];
}
