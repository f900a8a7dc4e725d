import type { Grant } from '../../domain/policy/approval.ts';
import type { GrantView } from './approval-schema.ts';

/**
 * A grant as the API and the command line show it. The digest of exact arguments stays in the store: it has no salt, so a short secret that
 * is masked in the question could be found by trying digests.
 */
export function showGrant({ matches, agent, usesLeft, askers: _, ...grant }: Grant): GrantView {
  return {
    ...grant,
    ...(agent === undefined ? {} : { agent }),
    ...(usesLeft === undefined ? {} : { usesLeft }),
    matches:
      matches.kind === 'conditions'
        ? { kind: 'conditions', conditions: JSON.parse(matches.conditions) as Record<string, unknown>[] }
        : { kind: matches.kind },
  };
}
