import type { Ask } from '../../domain/hook.ts';
import type { RuleDecision } from '../../domain/rule-decision.ts';

/** The asks of the rules that want an approval. */
export function asksOf({ askers }: RuleDecision): Ask[] {
  return askers.map(({ asker, options, reason }) => ({
    ...options,
    asker,
    ...(reason === undefined ? {} : { reason }),
  }));
}
