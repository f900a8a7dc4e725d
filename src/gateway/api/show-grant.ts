import type { Grant } from '../../domain/approval.ts';
import type { GrantView } from './approval-schema.ts';

export function showGrant({ matches, agent, usesLeft, askers: _, ...grant }: Grant): GrantView {
  return {
    ...grant,
    ...(agent === undefined ? {} : { agent }),
    ...(usesLeft === undefined ? {} : { usesLeft }),
    matches:
      matches.kind === 'conditions'
        ? { kind: 'conditions', conditions: JSON.parse(matches.conditions) as Record<string, unknown>[] }
        : matches,
  };
}
