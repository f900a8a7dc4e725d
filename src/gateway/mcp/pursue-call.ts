import { inputRequired } from '@modelcontextprotocol/server';
import type { ApprovalId } from '../../domain/policy/approval.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { approvalForm } from './approval-form.ts';
import type { McpCallContext, Pursued } from './call-context.ts';
import { CallUnderWay, type CallStanding } from './call-under-way.ts';
import { canShowForms } from './client-abilities.ts';
import { applyAnswer, findQuestion, type OpenQuestion } from './open-question.ts';
import { invalidParams } from './protocol-problem.ts';
import { knowsTasks, taskOf } from './tasks.ts';
import { answersTo, askAtOnce, missingCapability, toWire, wantedInput, type WantedInput } from './tool-input.ts';

/** How long a person may take to fill in one form. The question itself may expire sooner. */
export const FORM_MS = 10 * 60_000;
const APPROVAL = 'approval';

type Parked = Extract<CallStanding, { kind: 'parked' }>;

/** The sealed state that a client carries while it shows a form. */
interface HandedOver {
  readonly callId: CallId;
  readonly approval: ApprovalId;
  readonly binding: string;
  /** Digest of the entry that the request held among the calls owed. Absent if it held none, or if an older release sealed the state. */
  readonly owed?: string;
}

/** Follows a call to its end, or until the client has to act first. A request with a sealed state comes from a client that has acted. */
export async function pursueCall(context: McpCallContext): Promise<Pursued> {
  const state = await openState(context);
  return state === undefined ? follow(context, context.begin()) : resume(context, state);
}

async function openState({ shared, owner, ctx }: McpCallContext): Promise<JsonObject | undefined> {
  const sealed: unknown = ctx.mcpReq.requestState();
  if (sealed === undefined) return undefined;
  const state = typeof sealed === 'string' ? await shared.seals.open(owner, sealed) : undefined;
  if (state !== undefined) return state;
  shared.plane.log.warn({ bearer: owner.bearer.id, method: owner.method }, 'a request state was refused');
  throw invalidParams('requestState is not valid, or was used', { reason: 'state_invalid' });
}

async function follow(context: McpCallContext, call: CallUnderWay): Promise<Pursued> {
  return come(context, await call.next());
}

async function come(context: McpCallContext, standing: CallStanding): Promise<Pursued> {
  if (standing.kind === 'parked') return askAbout(context, standing);
  if (standing.kind === 'pending') return replyPending(context, standing);
  const anew = standing.kind === 'settled' ? await context.anew?.(standing.outcome) : undefined;
  if (anew !== undefined) return follow(context, anew);
  const missing = context.peer.era === '2026' ? missingCapability(standing.outcome) : undefined;
  if (missing !== undefined) throw missing;
  const wanted = standing.kind === 'settled' ? wantedInput(standing.outcome) : undefined;
  return wanted === undefined ? standing : askFor(context, wanted, standing);
}

/** Asks the client for the input that the tool wants. With that input the tool is run again. */
async function askFor(context: McpCallContext, wanted: WantedInput, standing: Pursued): Promise<Pursued> {
  const { requests, state } = wanted;
  const kept = state === undefined ? {} : { state };
  if (context.peer.era === '2026') {
    const sealed = { asked: Object.keys(requests), ...kept };
    const requestState = context.shared.seals.seal(context.owner, sealed, FORM_MS);
    return { kind: 'reply', reply: inputRequired({ inputRequests: toWire(requests), requestState }), next: 'done' };
  }
  const responses = await askAtOnce(context, requests, FORM_MS);
  // A client that does not answer gets the tool's outcome, which names the missing input.
  return responses === undefined ? standing : follow(context, context.begin({ responses, ...kept }));
}

async function askAbout(context: McpCallContext, parked: Parked): Promise<Pursued> {
  if (!canShowForms(context.peer))
    return context.comesBack() ? waitMore(context, parked) : replyPending(context, parked);
  const question = await findQuestion(context, parked.approval);
  // The question was decided in the meantime.
  if (question === undefined) return follow(context, find(context, parked.callId));
  return context.peer.era === '2026' ? handOver(context, parked, question) : askNow(context, parked, question);
}

/** A client that came back for its call waits for the decision here, so that it does not have to ask again and again. */
async function waitMore(context: McpCallContext, { callId, approval }: Parked): Promise<Pursued> {
  const standing = await find(context, callId).next(approval);
  return standing.kind === 'parked' ? replyPending(context, standing) : come(context, standing);
}

/** 2026: the client asks its person and comes back with the answer, to any gateway. */
function handOver(context: McpCallContext, { callId }: Parked, question: OpenQuestion): Pursued {
  const { shared, owner } = context;
  const { approval, mayDecide } = question;
  const owed = context.owedDigest();
  const form = approvalForm(approval, mayDecide);
  const state = {
    callId,
    approval: approval.question.id,
    binding: approval.question.binding,
    ...(owed === undefined ? {} : { owed }),
  };
  const reply = inputRequired({
    inputRequests: { [APPROVAL]: inputRequired.elicit(form) },
    requestState: shared.seals.seal(owner, state, FORM_MS),
  });
  return { kind: 'reply', reply, next: 'form' };
}

/** Continues when the client is back with its person's answer. */
async function resume(context: McpCallContext, state: JsonObject): Promise<Pursued> {
  const { asked, state: kept } = state;
  if (Array.isArray(asked)) {
    const responses = answersTo(asked.map(String), context.ctx.mcpReq.inputResponses);
    return follow(context, context.begin({ responses, ...(typeof kept === 'string' ? { state: kept } : {}) }));
  }
  // Only `handOver` can have sealed this state, so its shape is known.
  const { callId, approval, binding, owed } = state as unknown as HandedOver;
  await context.resumed(callId, owed);
  const question = await findQuestion(context, approval, binding);
  if (question === undefined) return follow(context, find(context, callId));
  const answered = await applyAnswer(context, callId, question, context.ctx.mcpReq.inputResponses?.[APPROVAL]);
  const parked: Parked = { kind: 'parked', callId, approval };
  if (answered === 'dismissed') return replyPending(context, parked);
  return answered === 'unanswered' ? handOver(context, parked, question) : waitOn(context, parked);
}

/** Waits without showing the form again. If the question is still undecided when the wait ends, the form is shown once more. */
async function waitOn(context: McpCallContext, { callId, approval }: Parked): Promise<Pursued> {
  return come(context, await find(context, callId).next(approval));
}

/** 2025: shows the form while the call waits. If another approver decides first, the form is withdrawn. */
async function askNow(context: McpCallContext, parked: Parked, question: OpenQuestion): Promise<Pursued> {
  const { ctx } = context;
  const form = approvalForm(question.approval, question.mayDecide);
  const done = new AbortController();
  const signal = AbortSignal.any([context.signal, done.signal]);
  const asking = ctx.mcpReq.elicitInput(form, { signal, timeout: FORM_MS, relatedRequestId: ctx.mcpReq.id });
  const answer = asking.then(
    (said) => ({ said: said as unknown }),
    () => ({ said: { action: 'cancel' } as unknown }),
  );
  const deciding = find(context, parked.callId, FORM_MS).next(parked.approval);
  try {
    const first = await Promise.race([answer, deciding]);
    if (!('said' in first))
      return first.kind === 'parked' ? await replyPending(context, first) : await come(context, first);
    const answered = await applyAnswer(context, parked.callId, question, first.said);
    if (answered === 'unanswered') return await askNow(context, parked, question);
    return answered === 'dismissed' ? await replyPending(context, parked) : await waitOn(context, parked);
  } finally {
    done.abort();
  }
}

function find({ shared, session, signal }: McpCallContext, callId: string, waitMs?: number): CallUnderWay {
  const { client, config } = shared.plane;
  return CallUnderWay.found(client, session, callId, { waitMs: waitMs ?? config.gateway.mcp.waitMs, signal });
}

/** Replies that the call has no outcome yet, and that this client can do nothing about it: with a task or with a pending result. */
async function replyPending(
  context: McpCallContext,
  at: Exclude<CallStanding, { readonly outcome: unknown }>,
): Promise<Pursued> {
  const { shared, peer, owner } = context;
  const approval = at.kind === 'parked' ? at.approval : undefined;
  if (knowsTasks(peer) && owner.method === 'tools/call')
    return { kind: 'reply', reply: await taskOf(shared, at.callId, approval), next: 'done' };
  return { kind: 'reply', reply: context.pending(at), next: 'come-back', approval };
}
