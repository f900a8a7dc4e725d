import type { Grant } from '../../domain/policy/approval.ts';
import type { JsonObject } from '../../base/json.ts';
import type { GrantView } from './approval-schema.ts';

/**
 * A grant as the API and the command line show it. The digest of exact arguments stays in the store: it has no salt, so a short secret that
 * is masked in the question could be found by trying digests. Conditions are shown with marks, to all: not every reader of grants has revealed the question.
 */
export function showGrant(
  { matches, agent, usesLeft, askers: _, ...grant }: Grant,
  maskConditions: (grant: Pick<Grant, 'tool' | 'toolDigest'>, conditions: string) => JsonObject[],
): GrantView {
  return {
    ...grant,
    ...(agent === undefined ? {} : { agent }),
    ...(usesLeft === undefined ? {} : { usesLeft }),
    matches:
      matches.kind === 'conditions'
        ? { kind: 'conditions', conditions: maskConditions(grant, matches.conditions) }
        : { kind: matches.kind },
  };
}
