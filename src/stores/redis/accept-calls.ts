import type { CallId } from '../../domain/identity/ids.ts';
import { isSameAgent, agentsOf } from '../../domain/identity/agent.ts';
import type { Identity, SessionEnding } from '../../domain/identity/session.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import type { AcceptAnswer, AcceptRequest, CallProof } from '../../domain/ports/call-requests.ts';
import type { CallState } from '../../domain/call/call.ts';
import {
  subjectShares,
  type OverloadedBy,
  type SubjectLimits,
  type SubjectShare,
} from '../../domain/call/subject-share.ts';
import { agentsTag } from '../../domain/tool/digest.ts';
import { callIdOfAgents, ownCallId } from '../../domain/identity/new-id.ts';
import { answerOf, asBytes, asList, asNumber, asText, unexpected } from './answers.ts';
import { decodeCall } from './call-codec.ts';
import type { NamedValues } from './function-library.ts';
import type { RedisContext } from './redis-context.ts';

/** How long a caller should wait before it retries, while the server is at its memory limit. */
const RETRY_AFTER_MS = 1000;

/** All requests must be for one lane. The admission limits of the first request apply to all, because they are those of the deployment. */
export async function acceptCalls(
  context: RedisContext,
  lane: number,
  requests: readonly AcceptRequest[],
): Promise<AcceptAnswer[]> {
  const first = new Map<CallId, AcceptRequest>();
  for (const request of requests) {
    const callId = ownCallId(request.session, request.callId);
    if (!first.has(callId)) first.set(callId, request);
  }
  if (first.size === requests.length) return acceptDifferent(context, lane, requests);
  // The batch has the same call more than once. The later requests must find what the first one has made, so they are sent afterwards.
  const firsts = new Set(first.values());
  const repeated = requests.filter((request) => !firsts.has(request));
  const made = await acceptDifferent(context, lane, [...firsts]);
  const madeLater = await acceptCalls(context, lane, repeated);
  const answers = new Map([...firsts].map((request, index) => [request, made[index]!]));
  repeated.forEach((request, index) => answers.set(request, madeLater[index]!));
  return requests.map((request) => answers.get(request)!);
}

async function acceptDifferent(
  context: RedisContext,
  lane: number,
  requests: readonly AcceptRequest[],
): Promise<AcceptAnswer[]> {
  const keys = context.lane(lane);
  const limits = requests[0]!.admission;
  const shares = subjectShares(limits);
  try {
    const answers = await context.fcall('accept_calls', {
      keys: { meta: keys.meta, live: keys.live, calls: keys.calls },
      args: {
        incarnation: context.incarnation,
        lane: keys.prefix,
        liveCalls: limits.liveCalls,
        liveBytes: limits.liveBytes,
        retainedBytes: limits.retainedBytes,
        window: limits.subjectWindow,
        backlog: `${limits.subjectBacklog} ${shares.liveBytes} ${shares.retainedBytes}`,
      },
      each: toArguments(requests),
    });
    return requests.map((request, index) => toAnswer(answerOf(answers, index), request, shares));
  } catch (error) {
    // The server is at its memory limit or cannot write, so nothing was accepted.
    if (error instanceof PlaneError && error.code === 'STORE_FULL') return refuse(context, lane, requests, error);
    throw error;
  }
}

/**
 * Refuses new calls as overloaded. A call that was accepted earlier under its key may run or have run, so its caller gets `known-but-full` instead.
 */
async function refuse(
  context: RedisContext,
  lane: number,
  requests: readonly AcceptRequest[],
  { facts }: PlaneError,
): Promise<AcceptAnswer[]> {
  const { problem } = facts as { readonly problem: string };
  return Promise.all(
    requests.map(async (request) => {
      const callId = await findKnown(context, lane, request);
      return callId === undefined
        ? { kind: 'overloaded', what: 'the store cannot write now', retryAfterMs: RETRY_AFTER_MS }
        : { kind: 'known-but-full', callId, problem };
    }),
  );
}

/**
 * Returns the id of the call that the agents of this session made under the same key. An earlier release stored calls by subject and key
 * only; the id of such a call is returned too, if the same agents made it.
 */
async function findKnown(
  context: RedisContext,
  lane: number,
  { session, callId: asked }: AcceptRequest,
): Promise<CallId | undefined> {
  const keys = context.lane(lane);
  const facts = await context.command('HGET', keys.session(session), 'facts');
  if (facts === null) return undefined;
  const identity = JSON.parse(asText(facts).split('\n').at(-1)!) as Identity;
  const ids = [callIdOfAgents(agentsTag(agentsOf(identity)), asked), asked];
  const stored = asList(await context.commandForBytes('HMGET', keys.calls, ...ids));
  return ids.find((id, at) => {
    const record = stored[at] === null ? undefined : decodeCall(id, asBytes(stored[at]));
    return record !== undefined && isSameAgent(record.identity, identity);
  });
}

/** Many calls of a batch have the same head. It is sent with the first of them; later calls refer to it by its number. */
function toArguments(requests: readonly AcceptRequest[]): NamedValues[] {
  const heads = new Map<string, string>();
  return requests.map((request) => {
    const text = headOf(request);
    const number = heads.get(text);
    if (number === undefined) heads.set(text, String(heads.size + 1));
    const { waiter } = request;
    return {
      callId: request.callId,
      head: number ?? text,
      digest: request.bodyDigest,
      envelope: request.envelope,
      correlation: waiter === undefined ? '' : `s${waiter.correlationId}`,
    };
  });
}

/** Writes the head of a request: the lines that `shared/caller.lua` reads. */
function headOf(request: AcceptRequest): string {
  const { session, run, pool, serial, tool, deadlineMs, waiter, proof } = request;
  const events = waiter?.events === true ? '1' : '0';
  return `${session}\n${run}\n${pool}\n${serial ? '1' : '0'}\n${tool}\n${deadlineMs}\n${events}\n${waiter?.callerId ?? ''}\n${proof.kind}\0${vouches(proof)}`;
}

function vouches(proof: CallProof): string {
  if (proof.kind === 'token') return proof.tokenDigest;
  const { callId, workerId, entryId, fence } = proof.owned;
  return [callId, workerId, entryId, fence].join('\n');
}

function toAnswer(answer: unknown, request: AcceptRequest, shares: SubjectLimits): AcceptAnswer {
  // The most frequent answer is a single word and not a list, to keep it short.
  if (!Array.isArray(answer)) return accepted(answer, request);
  const [word, second, third] = asList(answer);
  switch (asText(word)) {
    case 'ACCEPTED':
      return { kind: 'accepted', callId: asText(second) as CallId };
    case 'ATTACHED':
      return { kind: 'attached', callId: asText(second) as CallId, state: asText(third) as CallState };
    case 'REPLAYED':
      return { kind: 'replayed', callId: asText(second) as CallId, outcome: asBytes(third) };
    case 'CONFLICT':
      return { kind: 'conflict', callId: asText(second) as CallId };
    case 'UNAUTHENTICATED':
      // Only the answer for a run that loop detection ended has a third word.
      return third === undefined
        ? { kind: 'unauthenticated', ending: asText(second) as Exclude<SessionEnding, 'run-ended'> }
        : { kind: 'run-ended', restMs: asNumber(third) };
    case 'OVERLOADED':
      return overloaded(asText(second), asText(third), shares);
    default:
      throw unexpected(answer);
  }
}

/** Names of the shares in an answer of `shared/shares.lua`. */
const SHARE_NAMES: Readonly<Record<string, SubjectShare>> = {
  'live bytes of this subject': 'liveBytes',
  'retained bytes of this subject': 'retainedBytes',
};

function overloaded(what: string, roomMs: string, shares: SubjectLimits): AcceptAnswer {
  const retry = roomMs === '' ? {} : { retryAfterMs: Number(roomMs) };
  const share = SHARE_NAMES[what];
  if (share === undefined) return { kind: 'overloaded', what: what as OverloadedBy, ...retry };
  return { kind: 'share-full', share, limit: shares[share], ...retry };
}

function accepted(answer: unknown, { callId }: AcceptRequest): AcceptAnswer {
  if (asText(answer) !== 'ACCEPTED') throw unexpected(answer);
  return { kind: 'accepted', callId };
}
