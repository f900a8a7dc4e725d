import { callDurations } from '../../domain/call/call-durations.ts';
import type { ApprovalView } from './approval-schema.ts';
import type { AuditRecordView } from './audit-schema.ts';
import type { CallDetail, StageView, VerdictPart } from './call-schema.ts';

interface KnownFacts {
  readonly call: CallDetail['call'];
  readonly audit: readonly AuditRecordView[];
  readonly approvals: readonly ApprovalView[];
}

/**
 * Shows when each stage of a call began and how long it took, as far as this was recorded. The store records when a call is accepted, asked
 * about, decided and settled, in whole milliseconds of its clock. The worker measures how long it held the call, and how long the gate took
 * if that was ten milliseconds or more; a shorter gate counts as part of the run. A stage whose time was not measured has no `durationMs`.
 * The last stage of a call that is not settled is the one that the call is in. It has no end yet.
 */
export function showStages({ call, audit, approvals }: KnownFacts): StageView[] {
  const { acceptedAt, settledAt, durationMs, executed, outcome } = call;
  const ran = executed === 'yes' && settledAt !== undefined && durationMs !== undefined;
  const ending = audit.findLast((one) => one.outcome !== undefined);
  const gateMs = ending?.gateMs;
  const [first, last] = [approvals[0], approvals.at(-1)];
  // A time that is computed from the worker's durations is limited to the range between the times that the store recorded. Otherwise a
  // stage could start before the stage that it follows.
  const between = (from: number | undefined, at: number): number =>
    Math.min(settledAt ?? at, Math.max(from ?? acceptedAt ?? at, at));
  const admittedAt =
    settledAt !== undefined && durationMs !== undefined
      ? between(acceptedAt, Math.round(settledAt - durationMs))
      : undefined;
  const began = ran ? between(last?.resolvedAt, admittedAt! + (gateMs ?? 0)) : undefined;
  const waitedUntil = first?.requestedAt ?? admittedAt ?? settledAt;
  const isNew = call.state === 'queued' && first === undefined;
  const stages: StageView[] = [];
  if (acceptedAt !== undefined) stages.push({ stage: 'accept', startedAt: acceptedAt, result: 'accepted' });
  stages.push({
    stage: 'admit',
    ...span(acceptedAt, waitedUntil),
    ...(isNew ? { result: 'waiting' } : {}),
  });
  if (isNew) return stages;
  if (ending?.permission !== undefined) stages.push({ stage: 'identify', result: `allowed by ${ending.permission}` });
  const gate = gateResult(call, last);
  stages.push({
    stage: 'gate',
    ...(first === undefined
      ? timed(admittedAt, began ?? settledAt, ran ? gateMs : isRefused(call) ? durationMs : undefined)
      : span(first.requestedAt, last!.resolvedAt)),
    ...(gate === undefined ? {} : { result: gate }),
  });
  if (ran) {
    const { ranMs } = callDurations({ ...call, gateMs });
    stages.push({ stage: 'execute', ...timed(began, settledAt, ranMs), result: outcome ?? 'unknown' });
  } else if (call.state === 'running') stages.push({ stage: 'execute', result: 'running' });
  // The call was allowed and is in the queue again.
  else if (call.state === 'queued')
    stages.push({ stage: 'execute', ...span(last?.resolvedAt, undefined), result: 'waiting' });
  else if (executed === 'unknown') stages.push({ stage: 'execute', result: 'it may have run' });
  if (settledAt !== undefined) {
    stages.push({ stage: 'settle', startedAt: settledAt, result: ending?.event ?? 'settled' });
  }
  return stages;
}

type Span = Pick<StageView, 'startedAt' | 'endedAt' | 'durationMs'>;

/** A span with the duration that the worker measured, which is finer than the store's clock. */
function timed(from: number | undefined, to: number | undefined, durationMs: number | undefined): Span {
  if (from === undefined) return {};
  if (to === undefined || durationMs === undefined) return { startedAt: from };
  return { startedAt: from, endedAt: to, durationMs };
}

function span(from: number | undefined, to: number | undefined): Span {
  return {
    ...(from === undefined ? {} : { startedAt: from }),
    ...(to === undefined ? {} : { endedAt: to }),
    ...(from === undefined || to === undefined ? {} : { durationMs: Math.max(0, to - from) }),
  };
}

/** Whether the gate refused the call. A call that ran was let through, whatever happened to its result. */
function isRefused({ outcome, executed }: CallDetail['call']): boolean {
  return (outcome === 'denied' || outcome === 'blocked') && executed !== 'yes';
}

function gateResult(call: CallDetail['call'], approval: ApprovalView | undefined): string | undefined {
  if (call.state === 'parked') return 'asked a person, waiting';
  if (isRefused(call)) return approval?.state === 'expired' ? 'expired' : call.outcome;
  if (approval?.resolution !== undefined) return approval.resolution;
  return call.state === 'settled' && call.executed !== 'no' ? 'allow' : undefined;
}

/** Lists who decided what about the call, in the order in which they are asked. */
export function showVerdict({ call, audit, approvals }: KnownFacts): VerdictPart[] {
  const ending = audit.findLast((one) => one.outcome !== undefined);
  const { permission, changedBy = [], resultChangedBy = [], rule, hook, detector, grant, detail } = ending ?? {};
  const { outcome, code } = call;
  const parts: VerdictPart[] = [];
  const isNotPermitted = code === 'PERMISSION_DENIED' || code === 'NOT_SELECTED' || code === 'PAUSED';
  if (permission !== undefined) parts.push({ by: 'permission', id: permission, decision: 'allow' });
  else if (isNotPermitted) parts.push({ by: 'permission', decision: 'deny', ...because(detail) });
  if (detector !== undefined) {
    parts.push({ by: 'loop', id: detector, decision: outcome === 'blocked' ? 'block' : 'warn', ...because(detail) });
  }
  for (const hook of changedBy) parts.push({ by: 'hook', id: hook, decision: 'changed the arguments' });
  if (hook !== undefined || code?.startsWith('HOOK_') === true) {
    const decision = code === 'HOOK_RESULT_WITHHELD' ? 'withheld the result' : 'block';
    parts.push({ by: 'hook', ...(hook === undefined ? {} : { id: hook }), decision, ...because(detail) });
  }
  if (rule !== undefined) {
    const isDenied = code === 'RULE_DENIED';
    const decision = isDenied ? 'deny' : approvals.length > 0 || grant !== undefined ? 'ask' : 'allow';
    parts.push({ by: 'rule', id: rule, decision, ...because(isDenied && outcome !== undefined ? detail : undefined) });
  }
  if (grant !== undefined) parts.push({ by: 'grant', id: grant, decision: 'allow' });
  for (const { id, state, resolution, votes } of approvals) {
    const comments = votes.flatMap(({ comment }) => comment ?? []);
    parts.push({ by: 'approval', id, decision: resolution ?? state, ...because(comments.join('; ') || undefined) });
  }
  for (const id of resultChangedBy) parts.push({ by: 'hook', id, decision: 'changed the result' });
  return parts;
}

function because(reason: string | undefined): Pick<VerdictPart, 'reason'> {
  return reason === undefined ? {} : { reason };
}
