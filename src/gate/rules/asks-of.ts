import type { Ask } from '../../domain/hook.ts';
import type { RuleDecision } from '../../domain/rule-decision.ts';

/** The rules that want a person to look, in the words of the question. */
export function asksOf({ askers }: RuleDecision): Ask[] {
  return askers.map(({ asker, options, reason }) => ({
    ...options,
    asker,
    ...(reason === undefined ? {} : { reason }),
  }));
}
