import { agentsOf } from '../../domain/identity/agent.ts';
import { findSubject } from '../../domain/policy/policy.ts';
import { VERDICTS, type Rule, type RuleVerdict } from '../../domain/policy/rule.ts';
import { UNMATCHED, type AskingRule, type RuleCall, type RuleDecision } from '../../domain/policy/rule-decision.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { conditionIsMet } from './compile-condition.ts';
import type { CompiledRule, CompiledRules } from './compile-rules.ts';
import { ruleDigest } from './rule-digest.ts';

const ASKED_BY_UNMATCHED: AskingRule = Object.freeze({
  asker: Object.freeze({ kind: 'rule', id: UNMATCHED, digest: ruleDigest({ unmatched: 'ask' }), grantable: true }),
  options: Object.freeze({}),
});

const decidedByNone = (verdict: RuleVerdict): RuleDecision =>
  Object.freeze({
    verdict,
    by: UNMATCHED,
    matched: Object.freeze([]),
    askers: Object.freeze(verdict === 'ask' ? [ASKED_BY_UNMATCHED] : []),
  });
const DECIDED_BY_NONE: Readonly<Record<RuleVerdict, RuleDecision>> = {
  allow: decidedByNone('allow'),
  ask: decidedByNone('ask'),
  deny: decidedByNone('deny'),
};

/**
 * Decides over all matching rules: deny before ask before allow. An agent that acts for others is judged once for each of them and the
 * strictest answer counts, so it can do no more than any of them.
 */
export function decideByRules(compiled: CompiledRules, call: RuleCall): RuleDecision {
  const matched = compiled
    .about(call.tool)
    .filter((one) => isAboutCaller(one, call) && conditionsAreMet(one, call.arguments));
  const unmatched = unmatchedVerdict(call.policy);
  if (matched.length === 0) return DECIDED_BY_NONE[unmatched];
  const { verdict, by } = strictest(matched, call.identity, unmatched);
  return {
    verdict,
    by,
    matched: matched.map(({ rule }) => rule),
    askers: verdict === 'ask' ? askersOf(matched, call.identity, unmatched) : NO_ASKERS,
  };
}

const NO_ASKERS: readonly AskingRule[] = Object.freeze([]);

export function isAboutCaller(
  { rule, agents }: CompiledRule,
  { policy, identity }: Pick<RuleCall, 'policy' | 'identity'>,
): boolean {
  if (
    agents !== undefined &&
    !agents.has(identity.agent) &&
    identity.delegators?.some((name) => agents.has(name)) !== true
  )
    return false;
  return rule.subjects === undefined || findSubject(policy, rule.subjects, identity) !== undefined;
}

function conditionsAreMet({ conditions, verdict }: CompiledRule, args: RuleCall['arguments']): boolean {
  for (const condition of conditions) if (!conditionIsMet(condition, args, verdict === 'allow')) return false;
  return true;
}

/** The verdict if no rule matches. An unknown verdict counts as the strictest one, `deny`. */
export function unmatchedVerdict({ unmatched = 'allow' }: RuleCall['policy']): RuleVerdict {
  return VERDICTS.includes(unmatched) ? unmatched : 'deny';
}

interface Answer {
  readonly verdict: RuleVerdict;
  readonly by: Rule | typeof UNMATCHED;
}

/** The strictest answer of the matching rules; of two equally strict rules the first one. */
export function strictest(matched: readonly CompiledRule[], identity: Identity, unmatched: RuleVerdict): Answer {
  const byNone: Answer = { verdict: unmatched, by: UNMATCHED };
  let found = strictestFor(identity.agent, matched) ?? byNone;
  for (const agent of identity.delegators ?? []) {
    const answer = strictestFor(agent, matched) ?? byNone;
    if (rank(answer.verdict) > rank(found.verdict)) found = answer;
  }
  return found;
}

function strictestFor(agent: string, matched: readonly CompiledRule[]): Answer | undefined {
  let found: CompiledRule | undefined;
  for (const one of matched) {
    if (one.agents?.has(agent) === false) continue;
    if (found === undefined || rank(one.verdict) > rank(found.verdict)) found = one;
  }
  return found === undefined ? undefined : { verdict: found.verdict, by: found.rule };
}

function rank(verdict: RuleVerdict): number {
  return VERDICTS.indexOf(verdict);
}

function askersOf(matched: readonly CompiledRule[], identity: Identity, unmatched: RuleVerdict): readonly AskingRule[] {
  const askers = matched.flatMap(({ rule, asker }): AskingRule[] => {
    if (asker === undefined) return [];
    return [{ asker, options: rule.ask ?? {}, ...(rule.reason === undefined ? {} : { reason: rule.reason }) }];
  });
  const noneMatches = agentsOf(identity).some((agent) => strictestFor(agent, matched) === undefined);
  return unmatched === 'ask' && noneMatches ? [...askers, ASKED_BY_UNMATCHED] : askers;
}
