import type { Ask } from '../../domain/policy/hook.ts';
import type { RuleDecision } from '../../domain/policy/rule-decision.ts';

/** The asks of the rules that want an approval. */
export function asksOf({ askers }: RuleDecision): Ask[] {
  return askers.map(({ asker, options, reason }) => ({
    ...options,
    asker,
    ...(reason === undefined ? {} : { reason }),
  }));
}
