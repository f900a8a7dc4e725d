import { z } from '@hono/zod-openapi';
import { LIMITS } from '../../domain/call/call.ts';
import { planeError } from '../../domain/errors/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import type { CallAnswer } from '../../client/call-answer.ts';
import { actorOf } from '../actor-of.ts';
import type { Authenticated } from '../authenticated.ts';
import { hasScope } from '../http/require-scope.ts';
import { problemOfOutcome, problemResponse } from '../problem.ts';
import { addRoute, type Api, type ApiContext, type ApiNeeds } from './api-route.ts';
import { asCallId, readCallDetail, readOutcome } from './call-detail.ts';
import {
  callAnswerSchema,
  callDetailSchema,
  callListQuery,
  callPageSchema,
  callRequestSchema,
  cancelAnswerSchema,
  pendingCallSchema,
  resolveAnswerSchema,
  resolveRequestSchema,
  settledCallSchema,
  type CallAnswerView,
} from './call-schema.ts';
import { sendFile } from './send-file.ts';
import { filesOf, showOutcome } from './show-outcome.ts';
import { listCalls } from './list-calls.ts';
import { wholeNumber } from './page-schema.ts';
import { pause } from '../../base/pause.ts';

const TAG = 'calls';
const MAX_WAIT_MS = 25_000;
const POLL_FIRST_MS = 25;
const MAX_POLL_MS = 500;

const callParams = z.strictObject({ id: z.string().max(256) });

/** A header value without spaces and commas. Repeated headers arrive joined by a comma, so they are refused. */
const token = (max: number) =>
  z
    .string()
    .regex(/^[\x21-\x2b\x2d-\x7e]+$/, 'expected one word of ASCII letters, digits and signs')
    .max(max);

const callHeaders = z.object({
  'idempotency-key': token(LIMITS.keyLength)
    .optional()
    .openapi({ description: 'The same key with the same body is the same call, however often it is sent.' }),
  'sallyport-run': token(128)
    .optional()
    .openapi({ description: 'Loop detection looks at one run at a time. Name yours, or leave it to the gateway.' }),
  traceparent: z.string().max(LIMITS.traceLength).optional(),
  tracestate: z.string().max(LIMITS.traceStateLength).optional(),
});

const waitQuery = z.strictObject({ waitMs: wholeNumber(0, MAX_WAIT_MS).optional() });

export function addCalls(api: Api, needs: ApiNeeds): void {
  const { plane } = needs;
  const { client, sessions } = plane;

  addRoute(
    api,
    {
      method: 'post',
      path: '/calls',
      scopes: ['agent'],
      tag: TAG,
      summary: 'Call a tool',
      headers: callHeaders,
      body: callRequestSchema,
      answers: {
        200: { description: 'It has ended, one way or another: see its outcome.', schema: settledCallSchema },
        202: { description: 'It goes on. Ask for it at the path in Location.', schema: pendingCallSchema },
      },
      problems: [404, 409, 413, 415, 422],
    },
    async (context, { headers, body }) => {
      const { tool, arguments: args, deadlineMs, waitMs, untrusted } = body;
      const { 'idempotency-key': key, 'sallyport-run': run, traceparent: trace, tracestate: traceState } = headers;
      const options = {
        via: 'http',
        ...(key === undefined ? {} : { key }),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
        ...(waitMs === undefined ? {} : { waitMs }),
        ...(untrusted === undefined ? {} : { untrusted: untrusted as JsonObject }),
        ...(trace === undefined ? {} : { trace }),
        ...(traceState === undefined ? {} : { traceState }),
      } as const;
      const answer = await sessions.callIn(context.get('auth'), run, (session) =>
        client.call(session, tool, args as JsonObject, options),
      );
      return answerCall(context, await withApproval(needs, answer));
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/calls',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Calls under way, then calls that ended, the newest first',
      query: callListQuery,
      answers: { 200: { description: 'A page of them.', schema: callPageSchema } },
    },
    async (context, { query }) => context.json(await listCalls(needs, query)),
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/calls/{id}',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'One call: all that is known of it for an operator, how it stands for the agent that made it',
      params: callParams,
      answers: {
        200: { description: 'The call.', schema: z.union([callDetailSchema, callAnswerSchema]) },
        202: { description: 'For its agent: it goes on.', schema: pendingCallSchema },
      },
      problems: [404],
    },
    async (context, { params }) => {
      const auth = context.get('auth');
      if (hasScope(auth, 'operator')) return context.json(await readCallDetail(needs, auth, params.id));
      const answer = await client.result(await sessions.handleOf(auth), params.id);
      return answerCall(context, answer);
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/calls/{id}/wait',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'Wait for the outcome of a call',
      params: callParams,
      query: waitQuery,
      answers: {
        200: { description: 'It has ended.', schema: settledCallSchema },
        202: { description: 'It goes on.', schema: pendingCallSchema },
      },
      problems: [404],
    },
    async (context, { params, query: { waitMs = MAX_WAIT_MS } }) => {
      const auth = context.get('auth');
      const { signal } = context.req.raw;
      if (hasScope(auth, 'operator'))
        return answerCall(context, await waitAsOperator(needs, params.id, waitMs, signal));
      const handle = await sessions.handleOf(auth);
      const answer = await client.wait(handle, params.id, { waitMs, signal });
      return answerCall(context, await withApproval(needs, answer));
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/calls/{id}/cancel',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'Cancel a call; one that has ended stays as it is',
      params: callParams,
      answers: { 200: { description: 'How it stands now.', schema: cancelAnswerSchema } },
      problems: [404],
    },
    async (context, { params: { id } }) => {
      const answer = await cancel(needs, context.get('auth'), id);
      return context.json({ callId: id, answer });
    },
  );

  addRoute(
    api,
    {
      method: 'post',
      path: '/calls/{id}/resolve',
      scopes: ['operator'],
      tag: TAG,
      summary: 'Say what you found out about an indeterminate call',
      params: callParams,
      body: resolveRequestSchema,
      answers: { 200: { description: 'It is written down.', schema: resolveAnswerSchema } },
      problems: [404, 409],
    },
    async (context, { params: { id }, body }) => {
      const resolution = body.ran ? 'ran' : 'not-ran';
      await plane.operations.resolveCall(asCallId(id), resolution, actorOf(context.get('auth')));
      return context.json({ callId: id, resolution });
    },
  );

  addRoute(
    api,
    {
      method: 'get',
      path: '/calls/{id}/files/{index}',
      scopes: ['agent', 'operator'],
      tag: TAG,
      summary: 'One of the files of an outcome, by its number',
      params: z.strictObject({ id: z.string().max(256), index: z.string().max(1024) }),
      answers: {
        200: {
          description: 'Its bytes, as an attachment.',
          mediaType: 'application/octet-stream',
          schema: z.string().openapi({ format: 'binary' }),
        },
      },
      problems: [404],
    },
    async (context, { params: { id, index } }) => {
      const outcome = await readOwnOutcome(needs, context.get('auth'), id);
      const file = /^\d{1,4}$/.test(index) && outcome !== undefined ? filesOf(outcome)[Number(index)] : undefined;
      if (file === undefined) throw planeError('HTTP_PATH_UNKNOWN', {});
      return sendFile(file, Number(index));
    },
  );
}

function answerCall(context: ApiContext, answer: CallAnswer): Response {
  if (answer.kind === 'refused') return problemResponse(problemOfOutcome(answer.outcome));
  const { callId } = answer;
  if (answer.kind === 'settled') {
    const settled: CallAnswerView = { callId, state: 'settled', outcome: showOutcome(answer.outcome) };
    return context.json(settled);
  }
  const { approval } = answer;
  const pending: CallAnswerView = { callId, state: 'pending', ...(approval === undefined ? {} : { approval }) };
  return context.json(pending, 202, { location: `/v1/calls/${callId}` });
}

/** Adds the approval to a pending answer if a person is being asked about the call. */
async function withApproval({ plane }: ApiNeeds, answer: CallAnswer): Promise<CallAnswer> {
  if (answer.kind !== 'pending' || answer.approval !== undefined) return answer;
  const record = await plane.store.readCall(answer.callId);
  const isParked = record?.state === 'parked' && record.approval !== undefined;
  return isParked ? { ...answer, approval: record.approval! } : answer;
}

async function waitAsOperator(
  needs: ApiNeeds,
  asked: string,
  waitMs: number,
  signal: AbortSignal,
): Promise<CallAnswer> {
  const callId = asCallId(asked);
  const giveUpAt = performance.now() + waitMs;
  for (let pauseMs = POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS)) {
    const outcome = await readOutcome(needs, callId);
    if (outcome !== undefined) return { kind: 'settled', callId, outcome };
    const leftMs = giveUpAt - performance.now();
    if (leftMs <= 0 || signal.aborted) return withApproval(needs, { kind: 'pending', callId });
    await pause(Math.min(pauseMs, leftMs));
  }
}

async function cancel({ plane }: ApiNeeds, auth: Authenticated, id: string) {
  if (!hasScope(auth, 'operator')) return plane.client.cancel(await plane.sessions.handleOf(auth), id);
  const answer = await plane.operations.cancelCall(asCallId(id), actorOf(auth));
  if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId: id.slice(0, 64) });
  return answer;
}

async function readOwnOutcome(needs: ApiNeeds, auth: Authenticated, id: string) {
  if (hasScope(auth, 'operator')) return readOutcome(needs, id);
  const { client, sessions } = needs.plane;
  const answer = await client.result(await sessions.handleOf(auth), id);
  return answer.kind === 'settled' ? answer.outcome : undefined;
}
