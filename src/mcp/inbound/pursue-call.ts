import { inputRequired, type CallToolResult, type InputRequiredResult } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../domain/json.ts';
import { approvalForm } from './approval-form.ts';
import { applyAnswer, findQuestion, type OpenQuestion } from './open-question.ts';
import { canShowForms } from './client-abilities.ts';
import { CallUnderWay, type CallStanding } from './call-under-way.ts';
import type { CallScene } from './call-scene.ts';
import { showOutcome } from './show-outcome.ts';
import { showPending } from './show-pending.ts';
import { knowsTasks, taskOf } from './tasks.ts';

export type ToolReply = CallToolResult | InputRequiredResult;

/** As long as a person may take in front of one form; the question itself may end sooner. */
const FORM_MS = 10 * 60_000;
const APPROVAL = 'approval';

/** Follows a call to its end, or to where the client has to do something first. */
export async function pursueCall(scene: CallScene, begun: CallUnderWay): Promise<ToolReply> {
  const standing = await begun.next();
  if (standing.kind !== 'parked') return show(scene, standing);
  return askAbout(scene, standing);
}

type Parked = Extract<CallStanding, { kind: 'parked' }>;

async function askAbout(scene: CallScene, parked: Parked): Promise<ToolReply> {
  if (!canShowForms(scene.peer)) return goesOn(scene, parked);
  const question = await findQuestion(scene, parked.approval);
  // Decided meanwhile.
  if (question === undefined) return pursueCall(scene, follow(scene, parked.callId));
  return scene.peer.era === '2026' ? handOver(scene, parked, question) : askNow(scene, parked, question);
}

/** 2026: the client asks its person and comes back with the answer, to whichever gateway. */
function handOver({ home, owner, inputSchema }: CallScene, { callId }: Parked, question: OpenQuestion): ToolReply {
  const { approval, mayDecide } = question;
  const form = approvalForm(approval, mayDecide, inputSchema);
  const state = { callId, approval: approval.question.id, binding: approval.question.binding };
  return inputRequired({
    inputRequests: { [APPROVAL]: inputRequired.elicit(form) },
    requestState: home.seals.seal(owner, state, FORM_MS),
  });
}

/** The client is back with what its person said. */
export async function resumeCall(scene: CallScene, state: JsonObject): Promise<ToolReply> {
  const callId = String(state['callId']);
  const question = await findQuestion(scene, String(state['approval']), String(state['binding']));
  if (question === undefined) return pursueCall(scene, follow(scene, callId));
  const answered = await applyAnswer(scene, callId, question, scene.ctx.mcpReq.inputResponses?.[APPROVAL]);
  const parked = { kind: 'parked', callId, approval: question.approval.question.id } as Parked;
  if (answered === 'dismissed') return goesOn(scene, parked);
  if (answered === 'unanswered') return handOver(scene, parked, question);
  return pursueSeen(scene, parked);
}

/** Waits without asking again; when the time is up and it is still not decided, asks whether to go on. */
async function pursueSeen(scene: CallScene, parked: Parked): Promise<ToolReply> {
  const standing = await follow(scene, parked.callId).next(parked.approval);
  return standing.kind === 'parked' ? askAbout(scene, standing) : show(scene, standing);
}

/** 2025: the form is shown while the call waits; whoever else decides first ends it. */
async function askNow(scene: CallScene, parked: Parked, question: OpenQuestion): Promise<ToolReply> {
  const form = approvalForm(question.approval, question.mayDecide, scene.inputSchema);
  const done = new AbortController();
  const signal = AbortSignal.any([scene.signal, done.signal]);
  const asking = scene.ctx.mcpReq.elicitInput(form, {
    signal,
    timeout: FORM_MS,
    relatedRequestId: scene.ctx.mcpReq.id,
  });
  const answer = asking.then(
    (said) => ({ said: said as unknown }),
    () => ({ said: { action: 'cancel' } as unknown }),
  );
  const deciding = follow(scene, parked.callId, FORM_MS).next(parked.approval);
  try {
    const first = await Promise.race([answer, deciding]);
    if (!('said' in first)) return await show(scene, first);
    const answered = await applyAnswer(scene, parked.callId, question, first.said);
    if (answered === 'unanswered') return await askNow(scene, parked, question);
    return answered === 'dismissed' ? await goesOn(scene, parked) : await pursueSeen(scene, parked);
  } finally {
    done.abort();
  }
}

function follow({ home, session, signal }: CallScene, callId: string, waitMs?: number): CallUnderWay {
  const { client, config } = home.plane;
  return CallUnderWay.found(client, session, callId, { waitMs: waitMs ?? config.gateway.mcp.waitMs, signal });
}

/** It has no outcome yet, and nobody here can do anything about that. */
async function goesOn(
  { home, peer }: CallScene,
  at: Exclude<CallStanding, { readonly outcome: unknown }>,
): Promise<ToolReply> {
  const approval = at.kind === 'parked' ? at.approval : undefined;
  return knowsTasks(peer) ? taskOf(home, at.callId, approval) : showPending(at);
}

async function show(scene: CallScene, standing: CallStanding): Promise<ToolReply> {
  if (standing.kind === 'pending' || standing.kind === 'parked') return goesOn(scene, standing);
  const anyStructured = scene.peer.era === '2026';
  if (standing.kind === 'refused') return showOutcome(standing.outcome, { anyStructured });
  return showOutcome(standing.outcome, { anyStructured, callId: standing.callId });
}
