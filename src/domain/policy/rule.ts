import type { Severity, ApprovalDecision } from './approval.ts';
import type { JsonValue } from '../../base/json.ts';
import type { Effect } from '../tool/tool.ts';

/** What a check decides about a call. Of several verdicts the strictest counts: deny before ask before allow. */
export const VERDICTS = ['allow', 'ask', 'deny'] as const;
export type RuleVerdict = (typeof VERDICTS)[number];

/**
 * A check that is written in the policy instead of programmed. It matches a call if every field that it names matches; a field that is left
 * out matches all calls.
 */
export interface Rule {
  /** The id is named in every verdict, in the audit and by `explain`. */
  readonly id: string;
  readonly verdict: RuleVerdict;
  /** `module.tool`, `module.*` or `*`. */
  readonly tools?: readonly string[];
  readonly effects?: readonly Effect[];
  readonly privileged?: boolean;
  readonly agents?: readonly string[];
  /** Subjects, `role:NAME` or `*`, as in permissions. */
  readonly subjects?: readonly string[];
  /** Conditions on the arguments; all of them must hold. */
  readonly arguments?: readonly ArgumentCondition[];
  /** A sentence for the model, and for the person who is asked. */
  readonly reason?: string;
  /** Options for the question. Only with the verdict `ask`. */
  readonly ask?: AskOptions;
}

/**
 * One condition on the arguments: exactly one comparison, in addition to `at` and `not`.
 * If `at` selects several elements, all of them must meet the comparison in a rule that allows; one is enough in a rule that asks or
 * denies.
 * A missing value meets no comparison. `not` reverses that, except in a rule that allows.
 * A value that cannot be compared, such as a list where a text is expected, must not help a call to pass. So it does not meet the condition
 * of a rule that allows, and does meet that of a rule that asks or denies, with and without `not`.
 */
export interface ArgumentCondition {
  /** JSON pointer (RFC 6901) into the arguments; a segment `*` stands for every element of a list or every member of an object. */
  readonly at: string;
  /** Reverses the comparison. */
  readonly not?: boolean;
  /** Whether the value is present; null counts as present. In the other comparisons null counts as missing, except in `equals` and `in`. */
  readonly exists?: boolean;
  readonly equals?: JsonValue;
  readonly in?: readonly JsonValue[];
  readonly prefix?: string;
  /** Glob for the whole text: `*` and `?` do not match a slash, `**` does. */
  readonly glob?: string;
  /** RE2 pattern that matches anywhere in the text. Its time is linear in the length of the text. */
  readonly pattern?: string;
  /** Bounds of a number, both inclusive. */
  readonly range?: { readonly min?: number; readonly max?: number };
  /** Bounds on the number of characters of a text, or of elements of a list, both inclusive. */
  readonly length?: { readonly min?: number; readonly max?: number };
  /** Host names that the host of an address is compared with. `*.example.com` means every name below `example.com`. */
  readonly host?: readonly string[];
  /**
   * Folders. The text must be one of them or a path below one, after `..` and `.` are removed. Symbolic links are not resolved; the tool
   * must handle them.
   */
  readonly root?: readonly string[];
}

/** What a condition can compare with. Each condition has exactly one of them. */
export type Comparison = Exclude<keyof ArgumentCondition, 'at' | 'not'>;

export interface AskOptions {
  readonly title?: string;
  readonly description?: string;
  readonly severity?: Severity;
  readonly timeoutMs?: number;
  readonly decisions?: readonly ApprovalDecision[];
  /** Subjects or `role:NAME` that may decide. Absent: the approvers of the policy. */
  readonly approvers?: readonly string[];
  /** Number of approvers who must allow the call. */
  readonly quorum?: number;
}
