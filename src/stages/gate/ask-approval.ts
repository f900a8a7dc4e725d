import { nameOfAsker, type ApprovalQuestion, type Asker, type QuestionMask } from '../../domain/policy/approval.ts';
import type { ArgumentChange } from '../../domain/call/argument-change.ts';
import type { RunHistory } from '../../domain/call/attempt.ts';
import { ended, type Ending } from '../../domain/call/ending.ts';
import { errorOutcome } from '../../domain/errors/errors.ts';
import { sessionEnded } from '../../domain/identity/session-ended.ts';
import { bindingOf } from '../../gate/approvals/binding.ts';
import { deniedAtOnce } from '../../gate/approvals/denied-at-once.ts';
import { endingOutcome, type ApprovalEnding, type EndingFacts } from '../../gate/approvals/endings.ts';
import type { AskDefaults, MergedAsk } from '../../gate/approvals/merge-asks.ts';
import { masksOf } from '../../gate/approvals/render-question.ts';
import { onlyOperatorsDecide } from '../../gate/approvals/only-operators.ts';
import { mayHaveRun } from '../../gate/may-have-run.ts';
import type { AskAnswer } from '../../domain/ports/approval-store.ts';
import type { Plane } from '../../domain/ports/plane.ts';
import { findQuestionMasks, type MaskedTool } from '../../observe/redact/question-masks.ts';
import { shortSignature } from '../../domain/call/history.ts';
import { newApprovalId, randomId } from '../../domain/identity/new-id.ts';
import { encode } from '../../base/message-pack.ts';
import { showInput } from '../../domain/call/read-input.ts';
import type { IdentifiedCall } from '../../domain/ports/staged-calls.ts';
import { refuse } from './verdict.ts';

type Needs = Pick<Plane, 'store' | 'hooks' | 'log' | 'approvals' | 'shares' | 'redactor'>;

/** What is asked about: the arguments as canonical JSON, and the hooks that changed them. */
interface AskedArguments {
  readonly canonical: string;
  readonly changedBy: readonly ArgumentChange[];
}

/** Title and approvers for a question whose askers set none. */
export function askDefaults({ admitted: { policy }, tool }: IdentifiedCall): AskDefaults {
  return { title: `Call ${tool.declaration.id}`, approvers: policy.approvers ?? [] };
}

/** Parks the call with a question to a person, unless the answer is already known to be a denial. */
export async function askApproval(
  call: IdentifiedCall,
  merged: MergedAsk,
  args: AskedArguments,
  history: RunHistory,
  needs: Needs,
): Promise<Ending> {
  const { delivery, policy, events } = call.admitted;
  const known = deniedAtOnce(
    policy,
    { identity: call.identity, run: delivery.run },
    history,
    shortSignature(delivery.bodyDigest),
  );
  if (known !== undefined) return endedBy(call, 'immediate-decision', { reason: known }, namesOf(merged.askers));
  if (merged.decisions.every((decision) => decision === 'deny')) return nobodyCanAllow(call, merged, needs);
  const question = writeQuestion(call, maskRepeated(merged, call, args, needs), args);
  const { id, severity } = question;
  const { timeoutMs } = merged;
  const answer = await register(call, question, timeoutMs, needs);
  if (answer === undefined) return endedBy(call, 'storage-error', {}, namesOf(merged.askers));
  if (answer.kind !== 'asked') return notAsked(call, answer);
  events?.emit('approval.requested', { approvalId: id, severity, timeoutMs });
  events?.emit('call.parked', { approvalId: id, timeoutMs });
  needs.approvals?.requested({ question, expiresAt: answer.expiresAt });
  logAsked(call, question, answer.expiresAt, needs);
  return { kind: 'parked' };
}

/** Ends a call whose askers have neither `allow-once` nor `allow-always` in common. An approver could only deny it, so none is asked. */
function nobodyCanAllow(call: IdentifiedCall, { askers }: MergedAsk, { log }: Needs): Ending {
  const facts = { callId: call.admitted.delivery.callId, tool: call.tool.declaration.id };
  const asked = namesOf(askers);
  log.warn({ stage: 'gate', ...facts, askers: asked }, 'nobody is asked: those who ask offer no yes in common');
  return endedBy(call, 'no-route', {}, asked);
}

/** Logs the question with the command that decides it. Logged as a warning if only operators can decide and no notifier is configured. */
function logAsked(
  call: IdentifiedCall,
  question: ApprovalQuestion,
  expiresAt: number,
  { log, approvals }: Needs,
): void {
  const { id, callId, tool, severity, decisions } = question;
  const decide = `sallyport approvals decide ${id} ${decisions[0]!}`;
  // An approval counts only after the approver has revealed the masked values.
  const reveal = masksOf(question).length === 0 ? {} : { reveal: `sallyport approvals reveal ${id}` };
  const until = new Date(expiresAt).toISOString();
  const facts = { stage: 'gate', callId, approval: id, tool, severity, expiresAt: until, ...reveal, decide };
  const unseen = approvals === undefined && onlyOperatorsDecide(question, call.admitted.policy);
  if (!unseen) return log.info(facts, 'a person is asked');
  log.warn({ ...facts, list: 'sallyport approvals list' }, 'a person is asked, and only operators can decide');
}

function namesOf(askers: readonly Asker[]): string[] {
  return askers.map(nameOfAsker);
}

/** `askers`: the rules and hooks that wanted a person to be asked, for an ending without a stored question. */
export function endedBy(
  call: IdentifiedCall,
  ending: ApprovalEnding,
  facts: EndingFacts = {},
  askers?: readonly string[],
): Ending {
  const outcome = endingOutcome(ending, { tool: call.tool.declaration.id, ...facts });
  // Only an ending that allows the call has no outcome, and this function is never called for one. The fallback satisfies the type.
  return refuse(outcome ?? errorOutcome('APPROVAL_MALFORMED', {}), call.admitted.events, 'approval', undefined, askers);
}

function writeQuestion(
  call: IdentifiedCall,
  merged: MergedAsk,
  { canonical, changedBy }: AskedArguments,
): ApprovalQuestion {
  const { delivery, policy } = call.admitted;
  const { id: tool, digest: toolDigest } = call.tool.declaration;
  const { timeoutMs: _timeoutMs, ...asked } = merged;
  const parts = {
    tool,
    toolDigest,
    arguments: canonical,
    session: delivery.session,
    askers: merged.askers,
    salt: randomId(),
  };
  // A tool may use its caller's answers like arguments, so approvers see both.
  const { input } = call.envelope;
  const answers = input === undefined ? undefined : showInput(input);
  const masks = [
    ...maskedIn('arguments', canonical, call.tool.declaration),
    ...(answers === undefined ? [] : maskedIn('answers', answers, { ...call.tool.declaration, inputSchema: {} })),
  ];
  return {
    ...asked,
    ...parts,
    ...(answers === undefined ? {} : { answers }),
    masks,
    ...(changedBy.length === 0 ? {} : { changedBy }),
    id: newApprovalId(delivery.callId),
    callId: delivery.callId,
    run: delivery.run,
    identity: call.identity,
    requesterMayDecide: policy.requesterMayDecide ?? false,
    binding: bindingOf(parts),
  };
}

/** Masks secret arguments that a hook quotes in the texts of its question. The approver reveals them where the arguments are shown. */
function maskRepeated(
  merged: MergedAsk,
  { tool, envelope }: IdentifiedCall,
  { canonical }: AskedArguments,
  { redactor }: Needs,
): MergedAsk {
  const mask = redactor?.repeated?.(tool.declaration, [envelope.arguments, canonical]);
  if (mask === undefined) return merged;
  const scrub = (text: string): string => mask.scrubText(text, true);
  return {
    ...merged,
    title: scrub(merged.title),
    description: scrub(merged.description),
    reasons: merged.reasons.map(scrub),
    ...(merged.detail === undefined ? {} : { detail: scrub(merged.detail) }),
  };
}

function maskedIn(of: QuestionMask['of'], canonical: string, tool: MaskedTool): QuestionMask[] {
  return findQuestionMasks(canonical, tool).map((mask) => ({ of, ...mask }));
}

/** Stores the question and parks the call. Undefined when the store fails: a call about which no person can be asked is denied. */
async function register(
  { admitted: { delivery, events }, tool }: IdentifiedCall,
  question: ApprovalQuestion,
  timeoutMs: number,
  { store, hooks, log, approvals, shares }: Needs,
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
      // Hooks, the notifier and event listeners learn how a question ended only through this callback, so request it if any of them wants
      // it.
      callback:
        approvals !== undefined ||
        events?.wants('approval.resolved') === true ||
        (hooks?.listens('approval_resolved', tool.declaration) ?? false),
      audit: encode({ binding: question.binding, askers: namesOf(question.askers) }),
      shares,
    });
  } catch (error) {
    log.error({ stage: 'gate', callId, error }, 'the question could not be stored');
    return undefined;
  }
}

function notAsked(call: IdentifiedCall, answer: Exclude<AskAnswer, { kind: 'asked' }>): Ending {
  switch (answer.kind) {
    case 'fenced':
      return { kind: 'lost' };
    case 'cancelled':
      return ended(errorOutcome('CALL_CANCELLED', {}));
    case 'expired':
      return ended(errorOutcome('DEADLINE_PASSED', {}));
    case 'session-ended':
      return ended(sessionEnded(answer.ending));
    case 'share-full': {
      // Refused in the same way as at admission: nothing was asked, and the key is free for another try.
      const { kind: _, ...facts } = answer;
      return refuse(errorOutcome('SUBJECT_SHARE_FULL', facts), call.admitted.events, 'approval');
    }
  }
}
