import type { Ask } from '../../domain/policy/hook.ts';
import type { RuleDecision } from '../../domain/policy/rule-decision.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { ruleDigest } from './rule-digest.ts';

/** The asker of each call of a tool that no operator has reviewed. Its name is in questions and grants, next to those of rules. */
const UNREVIEWED = 'unreviewed-tool';

const ASK_ABOUT_UNREVIEWED: Ask = Object.freeze({
  asker: Object.freeze({
    kind: 'rule',
    id: UNREVIEWED,
    digest: ruleDigest({ verdict: 'ask', id: UNREVIEWED }),
    grantable: true,
  }),
  reason: 'An MCP server published this tool, and no operator has reviewed it yet.',
});

/** The asks of the rules that want an approval, and the one about a tool that was not reviewed. */
export function asksOf({ askers }: RuleDecision, tool: Pick<ToolDeclaration, 'unreviewed'>): Ask[] {
  const asks = askers.map(({ asker, options, reason }) => ({
    ...options,
    asker,
    ...(reason === undefined ? {} : { reason }),
  }));
  return tool.unreviewed === true ? [...asks, ASK_ABOUT_UNREVIEWED] : asks;
}
