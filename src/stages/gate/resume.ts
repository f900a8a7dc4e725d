import type { Approval, Asker } from '../../domain/approval.ts';
import { ended, type Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import type { Ask } from '../../domain/hook.ts';
import { bindingOf } from '../../gate/approvals/binding.ts';
import { asksOf } from '../../gate/rules/asks-of.ts';
import type { Plane } from '../../ports/plane.ts';
import { NO_HISTORY } from '../../wire/history.ts';
import { readArguments } from '../../wire/read-arguments.ts';
import { askApproval, endedBy } from './ask-approval.ts';
import { allow, type Allowed, type GatedCall } from './gated-call.ts';
import { deniedByRule, judgeRules } from './judge-rules.ts';

type Needs = Pick<Plane, 'store' | 'hooks' | 'log' | 'approvals'>;

/**
 * A person has said yes. What runs is what they saw, or what they made of it: the stored bytes, never the caller's. Rules are asked
 * again, as they are now; hooks and loop detection are not.
 */
export async function resume<Call extends GatedCall>(call: Call, needs: Needs): Promise<Allowed<Call> | Ending> {
  const { delivery } = call.claimed;
  const id = delivery.resumedWith?.approval;
  const approval = id === undefined ? undefined : await needs.store.readApproval(id);
  if (approval?.state !== 'allowed') return endedBy(call, 'already-decided');
  tellResolved(call, approval);
  const changed = findChange(call, approval);
  if (changed !== undefined) return endedBy(call, 'mismatch', { what: changed });

  const { changedBy = [] } = approval.question;
  const canonical = approval.editedArguments ?? approval.question.arguments;
  const read = readArguments(canonical);
  if (!read.ok) return endedBy(call, 'mismatch', { what: 'the arguments' });
  const problems = call.tool.validateInput(read.value);
  if (problems.length > 0) return ended(trouble('ARGUMENTS_INVALID', { tool: call.tool.declaration.id, problems }));

  const decision = judgeRules(call, read.value);
  if (decision.verdict === 'deny') return deniedByRule(call, decision);
  // One that was not answered asks, and all others with it: the next yes is compared with all of them.
  const [first, ...rest] = asksOf(decision);
  if (first !== undefined && ![first, ...rest].every(({ asker }) => wasAsked(approval, asker))) {
    const asks = [first, ...rest, ...hookAsks(approval)] as const;
    return askApproval(call, asks, { canonical, changedBy }, NO_HISTORY, needs, approval.question);
  }
  const effective = canonical === call.envelope.arguments ? {} : { effective: canonical, changedBy };
  return allow({ ...call, arguments: read.value }, { ...effective, approval: approval.question.id });
}

/** Where a callback was asked for, whoever claims it tells. */
function tellResolved({ claimed: { events } }: GatedCall, approval: Approval): void {
  if (approval.callback !== 'none' || events === undefined) return;
  const { question, resolution = 'allow-once', requestedAt, resolvedAt = requestedAt } = approval;
  const durationMs = resolvedAt - requestedAt;
  events.emit('approval.resolved', { approvalId: question.id, resolution, durationMs });
}

/** What is not as it was when the person looked. */
function findChange(
  { claimed: { delivery }, tool }: GatedCall,
  { question, editedArguments, votes }: Approval,
): string | undefined {
  if (question.callId !== delivery.callId || question.session !== delivery.session) return 'the session';
  if (question.tool !== tool.declaration.id || question.toolDigest !== tool.declaration.digest) return 'the tool';
  if (bindingOf(question) !== question.binding) return 'the question';
  // Also where somebody has put other arguments beside the question since, or taken those of the approver away.
  const agreed =
    editedArguments === undefined ? question.binding : bindingOf({ ...question, arguments: editedArguments });
  return votes.length > 0 && votes.every(({ binding }) => binding === agreed) ? undefined : 'the arguments';
}

/** A rule whose text has changed since has not been answered. */
function wasAsked({ question }: Approval, { kind, id, digest }: Asker): boolean {
  return question.askers.some((asker) => asker.kind === kind && asker.id === id && asker.digest === digest);
}

/** Hooks are not run again, so whoever of them asked before still asks. */
function hookAsks({ question }: Approval): Ask[] {
  return question.askers.filter(({ kind }) => kind === 'hook').map((asker) => ({ asker }));
}
