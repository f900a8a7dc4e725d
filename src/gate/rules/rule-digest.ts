import type { Rule, RuleVerdict } from '../../domain/policy/rule.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';

/** Digest of the rule as it is written: a changed text is another rule and asks again. */
export function ruleDigest(rule: Rule | { readonly unmatched: RuleVerdict }): string {
  return sha256(canonicalJson(rule));
}

/**
 * Digest of the calls that a rule is about, whatever its verdict. If two rules have the same digest, the stricter one matches every call
 * that the other one matches, because conditions are read more narrowly in an allow rule.
 */
export function callsDigest({ tools, effects, privileged, agents, subjects, arguments: conditions }: Rule): string {
  const lists = [tools, effects, agents, subjects].map((list) =>
    list === undefined ? null : [...new Set(list)].sort(),
  );
  return sha256(canonicalJson([...lists, privileged ?? null, conditions ?? null]));
}
