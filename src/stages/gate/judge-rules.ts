import type { JsonObject } from '../../domain/json.ts';
import { UNMATCHED, type RuleDecision } from '../../domain/rule-decision.ts';
import type { Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import { compileRules } from '../../gate/rules/compile-rules.ts';
import { decideByRules } from '../../gate/rules/decide-by-rules.ts';
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
