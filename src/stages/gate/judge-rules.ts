import type { Ending } from '../../domain/call/ending.ts';
import type { JsonObject } from '../../base/json.ts';
import type { RuleDecision } from '../../domain/policy/rule-decision.ts';
import { opposedByRule } from '../../gate/judge.ts';
import { PASS, type LoopVerdict } from '../../domain/policy/loop-verdict.ts';
import { compileRules } from '../../gate/rules/compile-rules.ts';
import { decideByRules } from '../../gate/rules/decide-by-rules.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { endOpposed } from './verdict.ts';

const NO_RULES: RuleDecision = Object.freeze({ verdict: 'allow', by: 'unmatched', matched: [], askers: [] });

export function judgeRules({ admitted, tool, identity }: IdentifiedCall, args: JsonObject): RuleDecision {
  const { policy } = admitted;
  if (policy.rules === undefined && policy.unmatched === undefined) return NO_RULES;
  return decideByRules(compileRules(policy), { tool: tool.declaration, identity, policy, arguments: args });
}

export function deniedByRule(
  { tool, admitted }: IdentifiedCall,
  decision: RuleDecision,
  loop: LoopVerdict = PASS,
): Ending {
  return endOpposed(opposedByRule({ tool: tool.declaration }, decision, loop), admitted.events);
}
