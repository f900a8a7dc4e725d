import type { Asker } from './approval.ts';
import type { JsonObject } from './json.ts';
import type { Policy } from './policy.ts';
import type { AskOptions, Rule, RuleVerdict } from './rule.ts';
import type { Identity } from './session.ts';
import type { ToolDeclaration } from './tool.ts';

/** What rules are asked about. */
export interface RuleCall {
  readonly tool: Pick<ToolDeclaration, 'id' | 'effect' | 'privileged'>;
  readonly identity: Identity;
  /** For its roles, and for what holds where no rule matches. Its rules are the compiled ones. */
  readonly policy: Policy;
  readonly arguments: JsonObject;
}

/** A matching rule that wants a person to look; several of them become one question. */
export interface AskingRule {
  readonly asker: Asker;
  readonly options: AskOptions;
  readonly reason?: string;
}

export interface RuleDecision {
  readonly verdict: RuleVerdict;
  /** The first of the strictest rules that match; `unmatched` when none does. */
  readonly by: Rule | 'unmatched';
  /** All that match, in the order in which they are written. */
  readonly matched: readonly Rule[];
  /** Everybody who asks, if the verdict is `ask`; otherwise empty. */
  readonly askers: readonly AskingRule[];
}

/** What rules say to a call whose arguments may not be known yet. */
export type RuleForesight =
  | { readonly kind: 'certain'; readonly verdict: RuleVerdict; readonly by: Rule | 'unmatched' }
  /** The arguments decide: these rules are about them, and another verdict follows if they match. */
  | { readonly kind: 'depends'; readonly among: readonly Rule[] };

/** Matching rules are reported under their own id, so no rule may be called this. */
export const UNMATCHED = 'unmatched';
