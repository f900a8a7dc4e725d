import type { ApprovalId } from '../../domain/policy/approval.ts';
import { deepFreeze } from '../../base/deep-freeze.ts';
import { elapsedMs } from '../../base/elapsed.ts';
import type { Ask } from '../../domain/policy/hook.ts';
import type { SessionId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { bindingOf } from '../approvals/binding.ts';
import { deniedAtOnce } from '../approvals/denied-at-once.ts';
import { APPROVAL_ENDINGS, endingOutcome } from '../approvals/endings.ts';
import { mergeAsks } from '../approvals/merge-asks.ts';
import { askApprover, type AskedEnding } from './ask-approver.ts';
import type { GatedCall, GateParts, GateQuestion } from './gate-parts.ts';
import type { OpenAttempt } from './run-memory.ts';
import { emitEvent } from './emit-event.ts';

/** Asks an approver about the arguments that would run. Returns undefined if the call is allowed, otherwise the outcome that ends it. */
export async function approve(
  call: GatedCall,
  asks: readonly [Ask, ...Ask[]],
  canonical: string,
  open: OpenAttempt,
  parts: GateParts,
): Promise<Outcome | undefined> {
  const { policy, hooks } = parts;
  const { tool } = call;
  const askedAt = performance.now();
  const question = writeQuestion(call, asks, canonical, policy.approvers ?? []);
  const reason = deniedAtOnce(policy, call, open.history, open.attempt.raw);
  const asked: AskedEnding =
    reason === undefined
      ? await ask(call, question, parts)
      : { approvalId: '', ending: 'immediate-decision', facts: { reason } };
  const { approvalId, ending, facts } = asked;
  const { callId, session, run, identity } = call;
  const { askers, binding } = question;
  const { resolution } = APPROVAL_ENDINGS[ending];
  if (approvalId !== '') {
    emitEvent('approval.resolved', call, parts, () => ({
      approvalId: approvalId as ApprovalId,
      resolution,
      durationMs: elapsedMs(askedAt),
    }));
  }
  // The gate does not wait for these hooks, because they cannot change the decision.
  void hooks.resolved(tool, {
    approvalId,
    resolution,
    callId,
    tool: tool.id,
    session,
    run,
    identity,
    askers,
    binding,
  });
  return endingOutcome(ending, { tool: tool.id, ...facts });
}

async function ask(call: GatedCall, question: GateQuestion, parts: GateParts): Promise<AskedEnding> {
  const { approver, log } = parts;
  if (approver === undefined) return { approvalId: '', ending: 'no-route' };
  const { callId, tool, askers, decisions } = question;
  if (decisions.every((decision) => decision === 'deny')) {
    const names = askers.map(({ kind, id }) => `${kind} ${id}`);
    log.warn({ stage: 'gate', callId, tool, askers: names }, 'nobody is asked: those who ask offer no yes in common');
    return { approvalId: '', ending: 'no-route' };
  }
  const onAsked = (id: string): void => emitAsked(call, id, question, parts);
  return askApprover(approver, question, call.signal, { log, onAsked });
}

function emitAsked(call: GatedCall, id: string, { severity, timeoutMs }: GateQuestion, parts: GateParts): void {
  emitEvent('approval.requested', call, parts, () => ({ approvalId: id as ApprovalId, severity, timeoutMs }));
}

function writeQuestion(
  { callId, session, run, identity, tool }: GatedCall,
  asks: readonly [Ask, ...Ask[]],
  canonical: string,
  approvers: readonly string[],
): GateQuestion {
  const merged = mergeAsks(asks, { title: `Call ${tool.id}`, approvers });
  const bound = { tool: tool.id, toolDigest: tool.digest, session };
  const { askers } = merged;
  const binding = bindingOf({ ...bound, session: session as SessionId, arguments: canonical, askers });
  // A copy made through JSON, so that the approver shares no object with the tool, the rules or the hooks.
  const copy = JSON.parse(JSON.stringify({ ...merged, ...bound, callId, run, identity, binding })) as GateQuestion;
  return deepFreeze({ ...copy, arguments: JSON.parse(canonical) as JsonObject });
}
