import type { Rule, RuleVerdict } from '../../domain/policy/rule.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';

/**
 * Digest of the rule's content. A changed rule has another digest, so grants for the old rule do not answer it and approvers are asked
 * again.
 */
export function ruleDigest(rule: Rule | { readonly unmatched: RuleVerdict }): string {
  return sha256(canonicalJson(rule));
}

/**
 * Digest of everything in a rule that selects calls, without its verdict. If two rules have the same digest, the stricter one matches every
 * call that the other one matches, because an allow rule reads its conditions more narrowly.
 */
export function callsDigest({ tools, effects, privileged, agents, subjects, arguments: conditions }: Rule): string {
  const lists = [tools, effects, agents, subjects].map((list) =>
    list === undefined ? null : [...new Set(list)].sort(),
  );
  return sha256(canonicalJson([...lists, privileged ?? null, conditions ?? null]));
}
