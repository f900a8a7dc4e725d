import { inputRequired } from '@modelcontextprotocol/server';
import type { ApprovalId } from '../../domain/approval.ts';
import type { CallId } from '../../domain/ids.ts';
import type { JsonObject } from '../../domain/json.ts';
import { approvalForm } from './approval-form.ts';
import type { CallScene, Pursued } from './call-scene.ts';
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
  /** Absent if no entry was held, or if an older release sealed the state. */
  readonly owed?: string;
}

/** Follows a call to its end, or to the point where the client has to act first. A request with a state comes from a client that has acted. */
export async function pursueCall(scene: CallScene): Promise<Pursued> {
  const state = await openState(scene);
  return state === undefined ? follow(scene, scene.begin()) : resume(scene, state);
}

async function openState({ home, owner, ctx }: CallScene): Promise<JsonObject | undefined> {
  const sealed: unknown = ctx.mcpReq.requestState();
  if (sealed === undefined) return undefined;
  const state = typeof sealed === 'string' ? await home.seals.open(owner, sealed) : undefined;
  if (state !== undefined) return state;
  home.plane.log.warn({ bearer: owner.bearer.id, method: owner.method }, 'a request state was refused');
  throw invalidParams('requestState is not valid, or was used', { reason: 'state_invalid' });
}

async function follow(scene: CallScene, call: CallUnderWay): Promise<Pursued> {
  return come(scene, await call.next());
}

async function come(scene: CallScene, standing: CallStanding): Promise<Pursued> {
  if (standing.kind === 'parked') return askAbout(scene, standing);
  if (standing.kind === 'pending') return goesOn(scene, standing);
  const anew = standing.kind === 'settled' ? await scene.anew?.(standing.outcome) : undefined;
  if (anew !== undefined) return follow(scene, anew);
  const missing = scene.peer.era === '2026' ? missingCapability(standing.outcome) : undefined;
  if (missing !== undefined) throw missing;
  const wanted = standing.kind === 'settled' ? wantedInput(standing.outcome) : undefined;
  return wanted === undefined ? standing : askFor(scene, wanted, standing);
}

/** Asks the client for the input that the tool wants. With that input the tool is run again. */
async function askFor(scene: CallScene, wanted: WantedInput, standing: Pursued): Promise<Pursued> {
  const { requests, state } = wanted;
  const kept = state === undefined ? {} : { state };
  if (scene.peer.era === '2026') {
    const sealed = { asked: Object.keys(requests), ...kept };
    const requestState = scene.home.seals.seal(scene.owner, sealed, FORM_MS);
    return { kind: 'reply', reply: inputRequired({ inputRequests: toWire(requests), requestState }), next: 'done' };
  }
  const responses = await askAtOnce(scene, requests, FORM_MS);
  // A client that does not answer gets the tool's outcome, which names the missing input.
  return responses === undefined ? standing : follow(scene, scene.begin({ responses, ...kept }));
}

async function askAbout(scene: CallScene, parked: Parked): Promise<Pursued> {
  if (!canShowForms(scene.peer)) return scene.comesBack() ? waitMore(scene, parked) : goesOn(scene, parked);
  const question = await findQuestion(scene, parked.approval);
  // The question was decided in the meantime.
  if (question === undefined) return follow(scene, find(scene, parked.callId));
  return scene.peer.era === '2026' ? handOver(scene, parked, question) : askNow(scene, parked, question);
}

/** A client that came back for its call waits for the decision here, so that it does not have to ask again and again. */
async function waitMore(scene: CallScene, { callId, approval }: Parked): Promise<Pursued> {
  const standing = await find(scene, callId).next(approval);
  return standing.kind === 'parked' ? goesOn(scene, standing) : come(scene, standing);
}

/** 2026: the client asks its person and comes back with the answer, to any gateway. */
function handOver(scene: CallScene, { callId }: Parked, question: OpenQuestion): Pursued {
  const { home, owner } = scene;
  const { approval, mayDecide } = question;
  const owed = scene.owedDigest();
  const form = approvalForm(approval, mayDecide);
  const state = {
    callId,
    approval: approval.question.id,
    binding: approval.question.binding,
    ...(owed === undefined ? {} : { owed }),
  };
  const reply = inputRequired({
    inputRequests: { [APPROVAL]: inputRequired.elicit(form) },
    requestState: home.seals.seal(owner, state, FORM_MS),
  });
  return { kind: 'reply', reply, next: 'form' };
}

/** Continues when the client is back with its person's answer. */
async function resume(scene: CallScene, state: JsonObject): Promise<Pursued> {
  const { asked, state: kept } = state;
  if (Array.isArray(asked)) {
    const responses = answersTo(asked.map(String), scene.ctx.mcpReq.inputResponses);
    return follow(scene, scene.begin({ responses, ...(typeof kept === 'string' ? { state: kept } : {}) }));
  }
  // Only `handOver` can have sealed this state, so its shape is known.
  const { callId, approval, binding, owed } = state as unknown as HandedOver;
  await scene.resumed(callId, owed);
  const question = await findQuestion(scene, approval, binding);
  if (question === undefined) return follow(scene, find(scene, callId));
  const answered = await applyAnswer(scene, callId, question, scene.ctx.mcpReq.inputResponses?.[APPROVAL]);
  const parked: Parked = { kind: 'parked', callId, approval };
  if (answered === 'dismissed') return goesOn(scene, parked);
  return answered === 'unanswered' ? handOver(scene, parked, question) : waitOn(scene, parked);
}

/** Waits without showing the form again. If the question is still undecided when the wait ends, the form is shown once more. */
async function waitOn(scene: CallScene, { callId, approval }: Parked): Promise<Pursued> {
  return come(scene, await find(scene, callId).next(approval));
}

/** 2025: shows the form while the call waits. If another approver decides first, the form is withdrawn. */
async function askNow(scene: CallScene, parked: Parked, question: OpenQuestion): Promise<Pursued> {
  const { ctx } = scene;
  const form = approvalForm(question.approval, question.mayDecide);
  const done = new AbortController();
  const signal = AbortSignal.any([scene.signal, done.signal]);
  const asking = ctx.mcpReq.elicitInput(form, { signal, timeout: FORM_MS, relatedRequestId: ctx.mcpReq.id });
  const answer = asking.then(
    (said) => ({ said: said as unknown }),
    () => ({ said: { action: 'cancel' } as unknown }),
  );
  const deciding = find(scene, parked.callId, FORM_MS).next(parked.approval);
  try {
    const first = await Promise.race([answer, deciding]);
    if (!('said' in first)) return first.kind === 'parked' ? await goesOn(scene, first) : await come(scene, first);
    const answered = await applyAnswer(scene, parked.callId, question, first.said);
    if (answered === 'unanswered') return await askNow(scene, parked, question);
    return answered === 'dismissed' ? await goesOn(scene, parked) : await waitOn(scene, parked);
  } finally {
    done.abort();
  }
}

function find({ home, session, signal }: CallScene, callId: string, waitMs?: number): CallUnderWay {
  const { client, config } = home.plane;
  return CallUnderWay.found(client, session, callId, { waitMs: waitMs ?? config.gateway.mcp.waitMs, signal });
}

/** Replies that the call has no outcome yet, and that this client can do nothing about it: with a task or with a pending result. */
async function goesOn(scene: CallScene, at: Exclude<CallStanding, { readonly outcome: unknown }>): Promise<Pursued> {
  const { home, peer, owner } = scene;
  const approval = at.kind === 'parked' ? at.approval : undefined;
  if (knowsTasks(peer) && owner.method === 'tools/call')
    return { kind: 'reply', reply: await taskOf(home, at.callId, approval), next: 'done' };
  return { kind: 'reply', reply: scene.pending(at), next: 'come-back', approval };
}
