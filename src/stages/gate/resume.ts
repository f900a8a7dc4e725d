import type { Approval, Asker } from '../../domain/policy/approval.ts';
import type { Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { bindingOf } from '../../gate/approvals/binding.ts';
import { mergeAgain } from '../../gate/approvals/merge-asks.ts';
import { asksOf } from '../../gate/rules/asks-of.ts';
import { judgedArguments, type JudgedArguments } from '../../gate/judged-arguments.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import { NO_HISTORY } from '../../domain/call/history.ts';
import { readArguments } from '../../domain/call/read-arguments.ts';
import { askApproval, askDefaults, endedBy } from './ask-approval.ts';
import type { AllowedCall, IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { deniedByRule, judgeRules } from './checks.ts';
import { allow, refuse } from './verdict.ts';

type Needs = Pick<Plane, 'store' | 'hooks' | 'log' | 'approvals' | 'runners' | 'shares'>;

/**
 * Resumes a call that a person allowed. The arguments that run are those that the approver saw or edited, as stored with the approval,
 * never those in the caller's envelope. The current rules are checked again; hooks and loop detection are not.
 */
export async function resume(call: IdentifiedCall, needs: Needs): Promise<AllowedCall | Ending> {
  const approval = await readAllowing(call, needs);
  if (approval === undefined) return endedBy(call, 'already-decided');
  emitResolved(call, approval);
  return resumeWith(call, approval, true, needs);
}

/** Checks a resumed call once more before its tool starts, under a newer policy. If `mayAsk` is false, no person is asked again. */
export async function resumeAgain(call: IdentifiedCall, mayAsk: boolean, needs: Needs): Promise<AllowedCall | Ending> {
  const approval = await readAllowing(call, needs);
  return approval === undefined ? endedBy(call, 'already-decided') : resumeWith(call, approval, mayAsk, needs);
}

/**
 * Ends a call that now needs an approval although its start mark is already written. The tool did not run. If the caller repeats the call,
 * a person is asked.
 */
export function verdictStale({ tool, admitted }: IdentifiedCall): Ending {
  return refuse(errorOutcome('VERDICT_STALE', { tool: tool.declaration.id }), admitted.events, 'rule');
}

async function readAllowing({ admitted }: IdentifiedCall, { store }: Needs): Promise<Approval | undefined> {
  const id = admitted.delivery.resumedWith?.approval;
  const approval = id === undefined ? undefined : await store.readApproval(id);
  return approval?.state === 'allowed' ? approval : undefined;
}

async function resumeWith(
  call: IdentifiedCall,
  approval: Approval,
  mayAsk: boolean,
  needs: Needs,
): Promise<AllowedCall | Ending> {
  const changed = findChange(call, approval);
  if (changed !== undefined) return endedBy(call, 'mismatch', { what: changed });

  const { changedBy = [] } = approval.question;
  const allowed = approval.editedArguments ?? approval.question.arguments;
  const judged = await readAllowed(call, approval, allowed, needs);
  if (judged.kind !== 'judged') return judged;

  const { canonical, arguments: args } = judged;
  const decision = judgeRules(call, args);
  if (decision.verdict === 'deny') return deniedByRule(call, decision);
  const asks = asksOf(decision, call.tool.declaration);
  const isSeen = canonical === allowed;
  if (!isSeen || !asks.every(({ asker }) => wasAsked(approval, asker))) {
    if (!mayAsk) return verdictStale(call);
    const before = { approval, askers: askersAgain(approval, asks, isSeen) };
    const merged = mergeAgain(asks, before, askDefaults(call));
    return askApproval(call, merged, { canonical, changedBy }, NO_HISTORY, needs);
  }
  const effective = canonical === call.envelope.arguments ? {} : { effective: canonical, changedBy };
  return allow({ ...call, arguments: args, canonical }, { ...effective, approval: approval.question.id });
}

/**
 * The arguments in the question were validated by the same tool before the person was asked. They are not validated again, and no defaults
 * are filled in again. Only arguments that the approver edited are.
 */
function readAllowed(
  call: IdentifiedCall,
  { editedArguments }: Approval,
  allowed: string,
  needs: Needs,
): MaybePromise<JudgedArguments | Ending> {
  const read = readArguments(allowed);
  if (!read.ok) return endedBy(call, 'mismatch', { what: 'the arguments' });
  if (editedArguments === undefined) return { kind: 'judged', arguments: read.value, canonical: allowed };
  return judgedArguments(call, read.value, allowed, needs);
}

/** Emits how the question was resolved, but only if no callback was requested: otherwise the worker that claims the callback emits it. */
function emitResolved({ admitted: { events } }: IdentifiedCall, approval: Approval): void {
  if (approval.callback !== 'none' || events === undefined) return;
  const { question, resolution = 'allow-once', requestedAt, resolvedAt = requestedAt } = approval;
  const durationMs = resolvedAt - requestedAt;
  events.emit('approval.resolved', { approvalId: question.id, resolution, durationMs });
}

/** Names what differs from what the approver saw; undefined if nothing does. */
function findChange(
  { admitted: { delivery }, tool }: IdentifiedCall,
  { question, editedArguments, votes }: Approval,
): string | undefined {
  if (question.callId !== delivery.callId || question.session !== delivery.session) return 'the session';
  if (question.tool !== tool.declaration.id || question.toolDigest !== tool.declaration.digest) return 'the tool';
  if (bindingOf(question) !== question.binding) return 'the question';
  // Also detects that edited arguments were added to the stored approval, or removed from it, after the votes.
  const agreed =
    editedArguments === undefined ? question.binding : bindingOf({ ...question, arguments: editedArguments });
  return votes.length > 0 && votes.every(({ binding }) => binding === agreed) ? undefined : 'the arguments';
}

/** Whether this asker was part of the question. A rule whose text changed since then was not: its digest differs. */
function wasAsked({ question }: Approval, { kind, id, digest }: Asker): boolean {
  return question.askers.some((asker) => asker.kind === kind && asker.id === id && asker.digest === digest);
}

/**
 * The askers of the earlier question that ask again, in addition to the rules that ask now. Hooks are not run again, so each hook that
 * asked still asks. The earlier rules ask again only if the tool's schema changed the edited arguments: the approver has not seen the
 * result, even if no rule asks about it now.
 */
function askersAgain({ question }: Approval, asks: readonly Ask[], isSeen: boolean): Asker[] {
  return question.askers.filter(
    ({ kind, id }) => (kind === 'hook' || !isSeen) && !asks.some(({ asker }) => asker.kind === kind && asker.id === id),
  );
}
