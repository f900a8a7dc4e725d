import type { JsonObject } from '../../domain/json.ts';
import { UNMATCHED, type RuleDecision } from '../../domain/rule-decision.ts';
import type { Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import { compileRules } from '../../gate/rules/compile-rules.ts';
import { decideByRules } from '../../gate/rules/decide-by-rules.ts';
import type { Ask } from '../../gate/approvals/merge-asks.ts';
import type { GatedCall } from './gated-call.ts';
import { refuse } from './refuse.ts';

export function judgeRules({ claimed, tool, identity }: GatedCall, args: JsonObject): RuleDecision {
  const { policy } = claimed;
  return decideByRules(compileRules(policy), { tool: tool.declaration, identity, policy, arguments: args });
}

export function deniedByRule({ tool, claimed }: GatedCall, { by }: RuleDecision): Ending {
  const [rule, reason] = by === UNMATCHED ? [UNMATCHED, ''] : [by.id, by.reason ?? ''];
  return refuse(trouble('RULE_DENIED', { tool: tool.declaration.id, rule, reason }), claimed.events, 'rule', rule);
}

/** The rules that want a person to look, in the words of the question. */
export function asksOf({ askers }: RuleDecision): Ask[] {
  return askers.map(({ asker, options, reason }) => ({
    ...options,
    asker,
    ...(reason === undefined ? {} : { reason }),
  }));
}
