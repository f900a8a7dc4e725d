import {
  APPROVAL_DECISIONS,
  APPROVAL_LIMITS,
  nameOfAsker,
  SEVERITIES,
  type Approval,
  type ApprovalDecision,
  type ApprovalQuestion,
  type Asker,
  type Severity,
} from '../../domain/policy/approval.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import { cutText } from './cut-text.ts';

/** The deployment's defaults, for askers that do not set a title or approvers. */
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
 * Merges all asks about a call into one question that is as strict as the strictest of them: highest severity, shortest timeout, only the
 * decisions that all offer, only approvers that each of them names, the largest quorum, and every reason. Texts that are too long are cut
 * here; no later step rejects them.
 */
export function mergeAsks(asks: readonly [Ask, ...Ask[]], defaults: AskDefaults): MergedAsk {
  const severity = strictest(asks.map((ask) => ask.severity ?? 'warning'));
  // The ask with the highest severity comes first: its title and description are used.
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

/** An earlier question in which an approver allowed the same call, and those of its askers that ask again. */
export interface AskedBefore {
  readonly approval: Approval;
  readonly askers: readonly Asker[];
}

/**
 * Makes a second question about a call that was already allowed. The limits of the earlier question stay in force for the askers that ask
 * again: a principal who could not answer that question cannot answer this one either. `asks` may be empty if `askers` is not.
 */
export function mergeAgain(asks: readonly Ask[], before: AskedBefore, defaults: AskDefaults): MergedAsk {
  const [first, ...rest] = asks;
  if (first === undefined) return saidBefore(before);
  const asked = mergeAsks([first, ...rest], defaults);
  if (before.askers.length === 0) return asked;
  const said = saidBefore(before);
  const lists = [...said.approvers, ...asked.approvers];
  const details = [...new Set([asked.detail, said.detail].filter((detail) => detail !== undefined))];
  return {
    ...asked,
    askers: [...asked.askers, ...said.askers],
    reasons: [...asked.reasons, ...said.reasons],
    severity: strictest([asked.severity, said.severity]),
    ...(details.length === 0 ? {} : { detail: cutText(details.join('\n\n'), APPROVAL_LIMITS.detailLength) }),
    decisions: asked.decisions.filter((decision) => said.decisions.includes(decision)),
    approvers: distinct(lists),
    quorum: Math.max(asked.quorum, said.quorum),
    timeoutMs: Math.min(asked.timeoutMs, said.timeoutMs),
  };
}

function saidBefore({ approval: { question, requestedAt, expiresAt }, askers }: AskedBefore): MergedAsk {
  const { title, description, reasons, severity, detail, decisions, approvers, quorum } = question;
  const isAgain = (reason: string): boolean => askers.some((asker) => isReasonOf(asker, reason));
  return {
    askers,
    title,
    description,
    reasons: reasons.filter(isAgain),
    severity,
    ...(detail === undefined ? {} : { detail }),
    decisions,
    approvers,
    quorum,
    timeoutMs: expiresAt - requestedAt,
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
  const who = nameOfAsker(asker);
  return cutText(text === undefined ? `${who} asks` : `${who}: ${text}`, APPROVAL_LIMITS.reasonLength);
}

/** Compares the whole name of the asker: a reason of `rule ab` is not a reason of `rule a`. */
function isReasonOf(asker: Asker, reason: string): boolean {
  const who = nameOfAsker(asker);
  return reason === `${who} asks` || reason.startsWith(`${who}: `);
}

/** `deny` is always offered. `allow-always` is offered only if a grant could answer every asker. */
function mergeDecisions(asks: readonly Ask[]): ApprovalDecision[] {
  const grantable = asks.every(({ asker }) => asker.grantable);
  return APPROVAL_DECISIONS.filter((decision) => {
    if (decision === 'deny') return true;
    if (decision === 'allow-always' && !grantable) return false;
    return asks.every(({ decisions }) => decisions === undefined || decisions.includes(decision));
  });
}

/** One list of approvers per asker; an asker that names none gets the deployment's list. Equal lists are kept once. */
function mergeApprovers(asks: readonly Ask[], defaults: AskDefaults): Merged['approvers'] {
  return distinct(
    asks.map(({ approvers = [] }) => [...new Set(approvers.length === 0 ? defaults.approvers : approvers)]),
  );
}

function distinct(lists: Merged['approvers']): Merged['approvers'] {
  return [...new Map(lists.map((list) => [JSON.stringify(list.toSorted()), list])).values()];
}

/** The shortest timeout of the asks that set one, within the allowed range; the default if none does. */
function mergeTimeouts(asks: readonly Ask[]): number {
  const { defaultTimeoutMs, minTimeoutMs, maxTimeoutMs } = APPROVAL_LIMITS;
  const given = asks.flatMap(({ timeoutMs }) =>
    timeoutMs === undefined || Number.isNaN(timeoutMs) ? [] : [timeoutMs],
  );
  const shortest = given.length === 0 ? defaultTimeoutMs : Math.min(...given);
  return Math.min(Math.max(Math.ceil(shortest), minTimeoutMs), maxTimeoutMs);
}
