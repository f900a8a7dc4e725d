import { inputRequired, MissingRequiredClientCapabilityError, type CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { CallRecord } from '../../domain/call/call.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import { approvalForm } from './approval-form.ts';
import { RPC } from './json-rpc.ts';
import type { McpShared, McpPeer } from './mcp-shared.ts';
import { applyAnswer, findQuestion, type OpenQuestion } from './open-question.ts';
import { canShowForms } from './client-abilities.ts';
import { invalidParams } from './protocol-problem.ts';
import { showOutcome } from './show-outcome.ts';

const POLL_MS = 1000;

/** A task is the MCP view of a call that goes on. It has the call's own id, so it is as durable, and as private, as the call. */
interface TaskView extends JsonObject {
  taskId: string;
  status: string;
}

export const taskParams = z.looseObject({ taskId: z.string().max(256) });

/** Builds the task that clients that know tasks get instead of a result. */
export async function taskOf(shared: McpShared, callId: CallId, approval?: string): Promise<CallToolResult> {
  const record = await shared.plane.store.readCall(callId);
  const base = baseOf(shared, callId, record);
  const status = approval === undefined ? {} : { statusMessage: 'It waits for a person to approve it.' };
  return { resultType: 'task', ...base, status: 'working', ...status } as unknown as CallToolResult;
}

export async function getTask(shared: McpShared, peer: McpPeer, taskId: string): Promise<JsonObject> {
  const { session, record } = await findCall(shared, peer, taskId);
  const base = baseOf(shared, record.callId, record);
  if (record.outcome !== undefined) return { ...base, ...ended(decodeOutcome(record.outcome), record.callId) };
  if (record.state !== 'parked' || record.approval === undefined) return { ...base, status: 'working' };
  const question = canShowForms(peer) ? await findQuestion({ shared, session, peer }, record.approval) : undefined;
  if (question === undefined) return { ...base, status: 'working', statusMessage: 'It waits for a person.' };
  return { ...base, status: 'input_required', inputRequests: requestsOf(question) } as JsonObject;
}

/** Applies the client's answer to the question that the task asks. Answers to anything else are ignored. */
export async function updateTask(
  shared: McpShared,
  peer: McpPeer,
  taskId: string,
  inputResponses: unknown,
): Promise<JsonObject> {
  if (!isJsonObject(inputResponses)) throw invalidParams('inputResponses must be an object');
  const { session, record } = await findCall(shared, peer, taskId);
  if (record.state !== 'parked' || record.approval === undefined) return {};
  const needs = { shared, session, peer };
  const question = await findQuestion(needs, record.approval);
  if (question === undefined) return {};
  await applyAnswer(needs, record.callId, question, inputResponses[keyOf(question)]);
  return {};
}

export async function cancelTask(shared: McpShared, peer: McpPeer, taskId: string): Promise<JsonObject> {
  const { session, record } = await findCall(shared, peer, taskId);
  if (record.outcome === undefined) await shared.plane.client.cancel(session, record.callId);
  return {};
}

/** A call of another caller, an expired call and an unknown id all get the same answer, so a guessed id reveals nothing. */
async function findCall(
  shared: McpShared,
  peer: McpPeer,
  taskId: string,
): Promise<{ readonly session: SessionHandle; readonly record: CallRecord }> {
  const unknown = invalidParams('taskId: there is no such task', { reason: 'task_unknown' });
  const session = await shared.handleOf(peer);
  try {
    const { callId } = (await shared.plane.client.result(session, taskId)) as { callId: CallId };
    const record = await shared.plane.store.readCall(callId);
    if (record !== undefined) return { session, record };
  } catch (error) {
    if (!(error instanceof PlaneError) || error.code !== 'CALL_UNKNOWN') throw error;
  }
  throw unknown;
}

function baseOf(shared: McpShared, callId: CallId, record: CallRecord | undefined): TaskView {
  const createdAt = record?.acceptedAt ?? Date.now();
  return {
    taskId: callId,
    status: 'working',
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(record?.settledAt ?? createdAt).toISOString(),
    ttlMs: shared.plane.config.worker.retentionMs,
    pollIntervalMs: POLL_MS,
  };
}

/**
 * A crash, an exception or an indeterminate call becomes an error of the task. Any other outcome, except `cancelled`, becomes its result,
 * even a failure that the tool reported.
 */
function ended(outcome: Outcome, callId: CallId): JsonObject {
  const { kind, error } = outcome;
  if (kind === 'cancelled') return { status: 'cancelled' };
  if (kind === 'crashed' || kind === 'indeterminate' || kind === 'exception') {
    const message = error?.message ?? 'The tool did not end.';
    return { status: 'failed', error: { code: RPC.internalError, message, data: { code: error?.code ?? kind } } };
  }
  // The SDK adds `resultType` to results that it sends itself. This result is nested in another one, so it is added here.
  const result = { resultType: 'complete', ...showOutcome(outcome, { callId, anyStructured: true }) };
  return { status: 'completed', result: result as JsonObject };
}

function keyOf({ approval }: OpenQuestion): string {
  return `approval ${approval.question.id}`;
}

function requestsOf(question: OpenQuestion): JsonObject {
  const form = approvalForm(question.approval, question.mayDecide);
  return { [keyOf(question)]: inputRequired.elicit(form) as unknown as JsonObject };
}

/** Whether the client declared that it knows tasks. */
export function knowsTasks(peer: McpPeer): boolean {
  const extensions: unknown = peer.capabilities()?.['extensions'];
  return peer.era === '2026' && isJsonObject(extensions) && TASKS_EXTENSION in extensions;
}

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** Throws unless the client declared in this same request that it knows tasks; only then may it use the task methods. */
export function requireTasks(peer: McpPeer): void {
  if (knowsTasks(peer)) return;
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } });
}
