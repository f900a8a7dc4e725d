import type { Rule, RuleVerdict } from '../../domain/rule.ts';
import { canonicalJson } from '../../wire/canonical-json.ts';
import { sha256 } from '../../wire/digest.ts';

/** Of the rule as it is written: another text is another rule, and asks again. */
export function ruleDigest(rule: Rule | { readonly unmatched: RuleVerdict }): string {
  return sha256(canonicalJson(rule));
}

/**
 * Of what a rule is about, whatever it says to that. Of two rules with one digest the stricter matches every call that the other one
 * matches: conditions are read more narrowly in a rule that allows.
 */
export function callsDigest({ tools, effects, privileged, agents, subjects, arguments: conditions }: Rule): string {
  const lists = [tools, effects, agents, subjects].map((list) =>
    list === undefined ? null : [...new Set(list)].sort(),
  );
  return sha256(canonicalJson([...lists, privileged ?? null, conditions ?? null]));
}
