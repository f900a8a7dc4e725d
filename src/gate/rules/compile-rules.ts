import type { Asker } from '../../domain/policy/approval.ts';
import { toolPatternMatches, type Policy } from '../../domain/policy/policy.ts';
import { VERDICTS, type Rule, type RuleVerdict } from '../../domain/policy/rule.ts';
import type { RuleCall } from '../../domain/policy/rule-decision.ts';
import { compileCondition, type CompiledCondition } from './compile-condition.ts';
import { ruleDigest } from './rule-digest.ts';

export interface CompiledRule {
  readonly rule: Rule;
  /** The rule's verdict. An unknown verdict counts as the strictest one, `deny`. */
  readonly verdict: RuleVerdict;
  readonly agents: ReadonlySet<string> | undefined;
  readonly conditions: readonly CompiledCondition[];
  /** Set only for a rule that asks. */
  readonly asker: Asker | undefined;
}

const KEYS: readonly string[] = [
  'id',
  'verdict',
  'tools',
  'effects',
  'privileged',
  'agents',
  'subjects',
  'arguments',
  'reason',
  'ask',
];
const MAX_KEPT = 10_000;

/** The compiled rules of one policy version. They never change, and the cache is derived only from them. */
export class CompiledRules {
  readonly #rules: readonly CompiledRule[];
  /** Cache of the rules that apply to a tool, so that rules for other tools cost nothing. */
  readonly #byTool = new Map<string, AboutTool>();

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  /** The rules whose `tools`, `effects` and `privileged` match the tool, in the order in which they are written. */
  about(tool: RuleCall['tool']): readonly CompiledRule[] {
    if (this.#rules.length === 0) return this.#rules;
    const known = this.#byTool.get(tool.id);
    // During a deployment two definitions of one tool can differ in effect or privilege. Then the cached entry is not used.
    if (known?.effect === tool.effect && known.privileged === tool.privileged) return known.rules;
    const rules = Object.freeze(this.#rules.filter(({ rule }) => isAbout(rule, tool)));
    if (this.#byTool.size >= MAX_KEPT) this.#byTool.clear();
    this.#byTool.set(tool.id, { effect: tool.effect, privileged: tool.privileged, rules });
    return rules;
  }
}

interface AboutTool extends Pick<RuleCall['tool'], 'effect' | 'privileged'> {
  readonly rules: readonly CompiledRule[];
}

export function isAbout(rule: Rule, { id, effect, privileged }: RuleCall['tool']): boolean {
  return (
    rule.tools?.some((pattern) => toolPatternMatches(pattern, id)) !== false &&
    rule.effects?.includes(effect) !== false &&
    (rule.privileged === undefined || rule.privileged === privileged)
  );
}

/** Compiled rules by the list of rules. Each version of a policy has its own list. */
const compiled = new WeakMap<readonly Rule[], CompiledRules>();
const NO_RULES: readonly Rule[] = Object.freeze([]);

/** Compiles a list of rules once. Never throws. A rule that is not understood matches if it asks or denies, and never matches if it allows. */
export function compileRules({ rules = NO_RULES }: Pick<Policy, 'rules'>): CompiledRules {
  let made = compiled.get(rules);
  if (made === undefined) {
    made = new CompiledRules(Object.freeze(rules.filter(isUsable).map(compileRule)));
    compiled.set(rules, made);
  }
  return made;
}

/**
 * A key that a later release added may narrow the rule. Ignoring the key makes a strict rule stricter, which is safe. An allow rule would
 * then allow too much, so an allow rule with an unknown key is dropped.
 */
function isUsable(rule: Rule): boolean {
  return rule.verdict !== 'allow' || Object.keys(rule).every((key) => KEYS.includes(key));
}

function compileRule(rule: Rule): CompiledRule {
  const verdict = VERDICTS.includes(rule.verdict) ? rule.verdict : 'deny';
  return Object.freeze({
    rule,
    verdict,
    agents: rule.agents === undefined ? undefined : new Set(rule.agents),
    conditions: Object.freeze((rule.arguments ?? []).map(compileCondition)),
    asker:
      verdict === 'ask'
        ? Object.freeze({ kind: 'rule' as const, id: rule.id, digest: ruleDigest(rule), grantable: true })
        : undefined,
  });
}
