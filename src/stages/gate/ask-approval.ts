import { SEVERITIES, type ApprovalQuestion } from '../../domain/approval.ts';
import { DENIED_RESULT, type RunHistory } from '../../domain/attempt.ts';
import { ended, type Ending } from '../../domain/ending.ts';
import { trouble } from '../../domain/errors.ts';
import { bindingOf } from '../../gate/approvals/binding.ts';
import { endingOutcome, type ApprovalEnding, type EndingFacts } from '../../gate/approvals/endings.ts';
import { mergeAsks, type Ask, type MergedAsk } from '../../gate/approvals/merge-asks.ts';
import { mayHaveRun } from '../../gate/may-have-run.ts';
import type { AskAnswer } from '../../ports/approval-store.ts';
import type { Plane } from '../../ports/plane.ts';
import { shortSignature } from '../../wire/history.ts';
import { newApprovalId } from '../../wire/ids.ts';
import { encode } from '../../wire/message-pack.ts';
import type { GatedCall } from './gated-call.ts';
import { refuse } from './refuse.ts';

/** So often the same was denied in a run, and nobody is asked again. */
const DENIALS_ENOUGH = 2;

type Needs = Pick<Plane, 'store' | 'hooks' | 'log' | 'approvals'>;

/** Parks the call with a question to a person, unless the answer is known to be no. `before`: what was asked about it already. */
export async function askApproval(
  call: GatedCall,
  asks: readonly [Ask, ...Ask[]],
  canonical: string,
  history: RunHistory,
  needs: Needs,
  before?: ApprovalQuestion,
): Promise<Ending> {
  const known = deniedAtOnce(call, history);
  if (known !== undefined) return endedBy(call, 'immediate-decision', { reason: known });
  const { delivery, policy, events } = call.claimed;
  const asked = mergeAsks(asks, { title: `Call ${call.tool.declaration.id}`, approvers: policy.approvers ?? [] });
  const merged = before === undefined ? asked : keepWhatHooksSaid(asked, before);
  const question = writeQuestion(call, merged, canonical);
  const { id, severity } = question;
  const { timeoutMs } = merged;
  const answer = await register(call, question, timeoutMs, needs);
  if (answer === undefined) return endedBy(call, 'storage-error');
  if (answer.kind !== 'asked') return notAsked(answer);
  events?.emit('approval.requested', { approvalId: id, severity, timeoutMs });
  events?.emit('call.parked', { approvalId: id, timeoutMs });
  needs.approvals?.requested({ question, expiresAt: answer.expiresAt });
  needs.log.info({ callId: delivery.callId, approval: id, tool: question.tool }, 'a person is asked');
  return { kind: 'parked' };
}

export function endedBy(call: GatedCall, ending: ApprovalEnding, facts: EndingFacts = {}): Ending {
  const outcome = endingOutcome(ending, { tool: call.tool.declaration.id, ...facts });
  // Only a yes has none, and after a yes nobody comes here.
  return refuse(outcome ?? trouble('APPROVAL_MALFORMED', {}), call.claimed.events, 'approval');
}

/**
 * Hooks are not run again, and what they said stands only in the question before, together with what rules said then. So all of it
 * holds on: nobody who was not good enough for a hook can answer, or edit the arguments, because a rule has changed.
 */
function keepWhatHooksSaid(asked: MergedAsk, before: ApprovalQuestion): MergedAsk {
  if (!before.askers.some(({ kind }) => kind === 'hook')) return asked;
  const lists = new Map([...before.approvers, ...asked.approvers].map((list) => [list.toSorted().join('\n'), list]));
  const rank = SEVERITIES.indexOf(before.severity);
  return {
    ...asked,
    approvers: [...lists.values()],
    severity: rank > SEVERITIES.indexOf(asked.severity) ? before.severity : asked.severity,
    quorum: Math.max(asked.quorum, before.quorum),
    decisions: asked.decisions.filter((decision) => before.decisions.includes(decision)),
    ...(before.detail === undefined ? {} : { detail: before.detail }),
  };
}

/** Why nobody needs to be asked. */
function deniedAtOnce({ claimed, identity }: GatedCall, history: RunHistory): string | undefined {
  const { policy, delivery } = claimed;
  const unattended = [identity.agent, ...(identity.delegators ?? [])].find((agent) =>
    policy.unattended?.includes(agent),
  );
  if (unattended !== undefined) return `agent ${unattended} runs unattended`;
  const raw = shortSignature(delivery.bodyDigest);
  const denials = history.filter((attempt) => attempt.raw === raw && attempt.result === DENIED_RESULT).length;
  return denials >= DENIALS_ENOUGH ? 'the same call was denied twice in this run' : undefined;
}

function writeQuestion(call: GatedCall, merged: MergedAsk, canonical: string): ApprovalQuestion {
  const { delivery, policy } = call.claimed;
  const { id: tool, digest: toolDigest } = call.tool.declaration;
  const { timeoutMs: _timeoutMs, ...asked } = merged;
  const parts = { tool, toolDigest, arguments: canonical, session: delivery.session, askers: merged.askers };
  return {
    ...asked,
    ...parts,
    id: newApprovalId(delivery.callId),
    callId: delivery.callId,
    run: delivery.run,
    identity: call.identity,
    requesterMayDecide: policy.requesterMayDecide ?? false,
    binding: bindingOf(parts),
  };
}

/** Undefined when the store has trouble: what cannot be asked is denied. */
async function register(
  { claimed: { delivery }, tool }: GatedCall,
  question: ApprovalQuestion,
  timeoutMs: number,
  { store, hooks, log }: Needs,
): Promise<AskAnswer | undefined> {
  const { callId, pool, workerId, entryId, fence } = delivery;
  try {
    return await store.askApproval({
      callId,
      pool,
      workerId,
      entryId,
      fence,
      question,
      timeoutMs,
      mayHaveRun: mayHaveRun(delivery, tool.declaration.effect),
      callback: hooks?.listens('approval_resolved', tool.declaration) ?? false,
      audit: encode({ binding: question.binding, askers: question.askers.map(({ kind, id }) => `${kind} ${id}`) }),
    });
  } catch (error) {
    log.error({ callId, error }, 'the question could not be stored');
    return undefined;
  }
}

function notAsked(answer: Exclude<AskAnswer, { kind: 'asked' }>): Ending {
  switch (answer.kind) {
    case 'fenced':
      return { kind: 'lost' };
    case 'cancelled':
      return ended(trouble('CALL_CANCELLED', {}));
    case 'expired':
      return ended(trouble('DEADLINE_PASSED', {}));
    case 'session-ended':
      return ended(trouble('SESSION_ENDED', { ending: answer.ending }));
  }
}
