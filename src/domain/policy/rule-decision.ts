import type { Asker } from './approval.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Policy } from './policy.ts';
import type { AskOptions, Rule, RuleVerdict } from './rule.ts';
import type { Identity } from '../identity/session.ts';
import type { ToolDeclaration } from '../tool/tool.ts';

/** A call as rules judge it. */
export interface RuleCall {
  readonly tool: Pick<ToolDeclaration, 'id' | 'effect' | 'privileged'>;
  readonly identity: Identity;
  /** The policy whose compiled rules decide. It also gives the roles, and the verdict if no rule matches. */
  readonly policy: Policy;
  readonly arguments: JsonObject;
}

/** A matching rule that wants a person to be asked; several of them become one question. */
export interface AskingRule {
  readonly asker: Asker;
  readonly options: AskOptions;
  readonly reason?: string;
}

export interface RuleDecision {
  readonly verdict: RuleVerdict;
  /** The first of the strictest rules that match; `unmatched` if none matches. */
  readonly by: Rule | 'unmatched';
  /** All rules that match, in the order in which they are written. */
  readonly matched: readonly Rule[];
  /** All rules that ask, if the verdict is `ask`; otherwise empty. */
  readonly askers: readonly AskingRule[];
}

/** What rules decide about a call whose arguments may not be known yet. */
export type RuleForesight =
  | { readonly kind: 'certain'; readonly verdict: RuleVerdict; readonly by: Rule | 'unmatched' }
  /** The verdict depends on the arguments: it is different if one of these rules matches them. */
  | { readonly kind: 'depends'; readonly among: readonly Rule[] };

/** Stands in place of a rule's id if no rule matches, so no rule may have this id. */
export const UNMATCHED = 'unmatched';
