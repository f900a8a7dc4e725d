import type { JsonObject } from '../../base/json.ts';
import type { RuleCall, RuleForesight } from '../../domain/policy/rule-decision.ts';
import { compileRules, type CompiledRule } from './compile-rules.ts';
import { decideByRules, isAboutCaller, strictest, unmatchedVerdict } from './decide-by-rules.ts';

/**
 * Predicts the verdict of a policy's rules on a call, as far as that is possible without its arguments. Used only to explain a policy to
 * people: the gate itself always has the arguments.
 */
export function foreseeRules(call: Omit<RuleCall, 'arguments'> & { readonly arguments?: JsonObject }): RuleForesight {
  const { arguments: args, ...rest } = call;
  const compiled = compileRules(call.policy);
  if (args !== undefined) {
    const { verdict, by } = decideByRules(compiled, { ...rest, arguments: args });
    return { kind: 'certain', verdict, by };
  }
  const rules = compiled.about(call.tool).filter((one) => isAboutCaller(one, call));
  const open = rules.filter(({ conditions }) => conditions.length > 0);
  const decide = (matching: readonly CompiledRule[]) =>
    strictest(
      rules.filter((one) => one.conditions.length === 0 || matching.includes(one)),
      call.identity,
      unmatchedVerdict(call.policy),
    );
  const certain = decide([]);
  const others = waysToMatch(open).filter((matching) => decide(matching).verdict !== certain.verdict);
  if (others.length === 0) return { kind: 'certain', ...certain };
  const among = open.filter((one) => others.some((matching) => matching.includes(one)));
  return { kind: 'depends', among: among.map(({ rule }) => rule) };
}

/** Sets of rules that may match together: enough sets to find every possible verdict. */
function waysToMatch(open: readonly CompiledRule[]): readonly (readonly CompiledRule[])[] {
  const allowing = open.filter(({ verdict }) => verdict === 'allow');
  const notDenying = open.filter(({ verdict }) => verdict !== 'deny');
  return [...open.map((one) => [one]), allowing, notDenying, open];
}
