import type { Severity, ApprovalDecision } from './approval.ts';
import type { JsonValue } from './json.ts';
import type { Effect } from './tool.ts';

/** What a check says to a call. Of several the strictest counts: deny before ask before allow. */
export const VERDICTS = ['allow', 'ask', 'deny'] as const;
export type RuleVerdict = (typeof VERDICTS)[number];

/** A check written down instead of programmed. It matches a call when everything it names does; what it leaves out matches all. */
export interface Rule {
  /** Named in every verdict, in the audit and by `explain`. */
  readonly id: string;
  readonly verdict: RuleVerdict;
  /** `module.tool`, `module.*` or `*`. */
  readonly tools?: readonly string[];
  readonly effects?: readonly Effect[];
  readonly privileged?: boolean;
  readonly agents?: readonly string[];
  /** Subjects, `role:NAME` or `*`, as in permissions. */
  readonly subjects?: readonly string[];
  /** All of them must hold. */
  readonly arguments?: readonly ArgumentCondition[];
  /** A sentence for the model, and for the person who is asked. */
  readonly reason?: string;
  /** Only with `ask`. */
  readonly ask?: AskOptions;
}

/**
 * Exactly one comparison beside `at` and `not`. With several elements, all must meet it in a rule that allows, one in a rule that asks or
 * denies. What is missing meets no comparison; `not` turns that round, except in a rule that allows. What cannot be judged, such as a
 * list where a text is compared, does not meet the condition of a rule that allows and does meet that of a rule that asks or denies,
 * with and without `not`.
 */
export interface ArgumentCondition {
  /** JSON pointer (RFC 6901) into the arguments; a segment `*` stands for every element of a list or member of a group. */
  readonly at: string;
  /** Turns the comparison round. */
  readonly not?: boolean;
  /** Whether it is there; null is. In the other comparisons null is like missing, except in `equals` and `in`. */
  readonly exists?: boolean;
  readonly equals?: JsonValue;
  readonly in?: readonly JsonValue[];
  readonly prefix?: string;
  /** Of the whole text: `*` and `?` stop at a slash, `**` does not. */
  readonly glob?: string;
  /** RE2, anywhere in the text: time is linear in its length. */
  readonly pattern?: string;
  /** Of a number; both bounds belong to it. */
  readonly range?: { readonly min?: number; readonly max?: number };
  /** Characters of a text, elements of a list. */
  readonly length?: { readonly min?: number; readonly max?: number };
  /** Host names of an address; `*.example.com` is every name below it. */
  readonly host?: readonly string[];
  /** Folders: the text is one of them or a path below, after `..` and `.` are taken out. Links are the tool's business. */
  readonly root?: readonly string[];
}

export interface AskOptions {
  readonly title?: string;
  readonly description?: string;
  readonly severity?: Severity;
  readonly timeoutMs?: number;
  readonly decisions?: readonly ApprovalDecision[];
  /** Subjects or `role:NAME` who may decide; without them the policy's. */
  readonly approvers?: readonly string[];
  /** How many of them must say yes. */
  readonly quorum?: number;
}
