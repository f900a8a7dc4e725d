import {
  APPROVAL_DECISIONS,
  APPROVAL_LIMITS,
  SEVERITIES,
  type ApprovalDecision,
  type ApprovalQuestion,
  type Severity,
} from '../../domain/approval.ts';
import type { Ask } from '../../domain/hook.ts';
import { cutText } from './cut-text.ts';

/** What a deployment says where an asker says nothing. */
export interface AskDefaults {
  readonly title: string;
  readonly approvers: readonly string[];
}

type Merged = Pick<
  ApprovalQuestion,
  'askers' | 'title' | 'description' | 'reasons' | 'severity' | 'detail' | 'decisions' | 'approvers' | 'quorum'
>;

export interface MergedAsk extends Merged {
  readonly timeoutMs: number;
}

/**
 * Several who ask make one question, as strict as the strictest of them: highest severity, shortest timeout, only the decisions that all
 * offer, approvers whom each of them names, the largest quorum, and every reason. Texts are cut here and refused nowhere.
 */
export function mergeAsks(asks: readonly [Ask, ...Ask[]], defaults: AskDefaults): MergedAsk {
  const severity = strictest(asks.map((ask) => ask.severity ?? 'warning'));
  // Whoever is most worried speaks first.
  const ordered = asks.toSorted((a, b) => rank(b.severity) - rank(a.severity));
  const { titleLength, descriptionLength, detailLength } = APPROVAL_LIMITS;
  const title = ordered.find((ask) => ask.title !== undefined)?.title ?? defaults.title;
  const description = ordered.find((ask) => ask.description !== undefined)?.description ?? '';
  const details = ordered.flatMap(({ detail }) => (detail === undefined ? [] : [detail]));
  return {
    askers: asks.map(({ asker }) => asker),
    title: cutText(title, titleLength),
    description: cutText(description, descriptionLength),
    reasons: ordered.map(reasonOf),
    severity,
    ...(details.length === 0 ? {} : { detail: cutText(details.join('\n\n'), detailLength) }),
    decisions: mergeDecisions(asks),
    approvers: mergeApprovers(asks, defaults),
    quorum: Math.max(...asks.map(({ quorum = 1 }) => (Number.isSafeInteger(quorum) && quorum >= 1 ? quorum : 1))),
    timeoutMs: mergeTimeouts(asks),
  };
}

function rank(severity: Severity = 'warning'): number {
  return SEVERITIES.indexOf(severity);
}

function strictest(severities: readonly Severity[]): Severity {
  return severities.reduce((a, b) => (rank(b) > rank(a) ? b : a));
}

function reasonOf({ asker, reason, description }: Ask): string {
  const text = reason ?? description;
  const who = `${asker.kind} ${asker.id}`;
  return cutText(text === undefined ? `${who} asks` : `${who}: ${text}`, APPROVAL_LIMITS.reasonLength);
}

/** A no is always possible. A yes for always is offered only where a grant would answer everybody who asks. */
function mergeDecisions(asks: readonly Ask[]): ApprovalDecision[] {
  const grantable = asks.every(({ asker }) => asker.grantable);
  return APPROVAL_DECISIONS.filter((decision) => {
    if (decision === 'deny') return true;
    if (decision === 'allow-always' && !grantable) return false;
    return asks.every(({ decisions }) => decisions === undefined || decisions.includes(decision));
  });
}

/** A list per asker, the deployment's for those that name nobody; the same list twice says nothing new. */
function mergeApprovers(asks: readonly Ask[], defaults: AskDefaults): string[][] {
  const lists = asks.map(({ approvers = [] }) => [...new Set(approvers.length === 0 ? defaults.approvers : approvers)]);
  const byText = new Map(lists.map((list) => [JSON.stringify(list.toSorted()), list]));
  return [...byText.values()];
}

/** Only of those that say something about it. */
function mergeTimeouts(asks: readonly Ask[]): number {
  const { defaultTimeoutMs, leastTimeoutMs, mostTimeoutMs } = APPROVAL_LIMITS;
  const given = asks.flatMap(({ timeoutMs }) =>
    timeoutMs === undefined || Number.isNaN(timeoutMs) ? [] : [timeoutMs],
  );
  const shortest = given.length === 0 ? defaultTimeoutMs : Math.min(...given);
  return Math.min(Math.max(Math.ceil(shortest), leastTimeoutMs), mostTimeoutMs);
}
