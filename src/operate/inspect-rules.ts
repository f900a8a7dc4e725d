import { findRuleProblems } from '../gate/policy/rule-problems.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import { countNoun } from '../base/count-noun.ts';
import { nearNames } from '../base/near-names.ts';
import type { Policy } from '../domain/policy/policy.ts';
import { entriesOf } from '../domain/tool/module.ts';
import type { Check } from './check.ts';

/**
 * Checks whether the current rules still apply to something. When they were set, they were compared with the tools and agents of that time, but
 * tools and agents come and go. `broken`: modules that could not be loaded, so that their tools are unknown.
 */
export function inspectRules(
  policy: Policy,
  { modules }: Pick<Catalog, 'modules'>,
  broken: readonly string[],
): Check[] {
  const count = policy.rules?.length ?? 0;
  if (count === 0) return [];
  const tools = modules.flatMap(entriesOf);
  const isPublished = tools.length > 0;
  const problems = findRuleProblems(policy, isPublished ? { tools, broken } : undefined, nearNames);
  const found = countNoun(count, 'rule');
  const summary: Check = isPublished
    ? { name: 'rules', state: 'ok', found: `${found}, compared with ${countNoun(tools.length, 'published tool')}` }
    : {
        name: 'rules',
        state: 'warn',
        found: `${found}, compared with no tool: none is published`,
        fix: 'Start a worker, then look again.',
      };
  const fix = 'sallyport policy set FILE, with the rule as it is meant or without it';
  return [summary, ...problems.map(({ text }): Check => ({ name: 'rule', state: 'warn', found: text, fix }))];
}
