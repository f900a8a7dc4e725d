import type { CallId } from '../../domain/ids.ts';
import type { SessionEnding } from '../../domain/session.ts';
import { PlaneError } from '../../domain/errors.ts';
import type { AcceptAnswer, AcceptRequest, CallProof } from '../../ports/call-store.ts';
import type { CallState } from '../../domain/call.ts';
import { asBytes, asList, asText, unexpected } from './answers.ts';
import type { NamedValues } from './function-library.ts';
import type { RedisContext } from './redis-context.ts';

/** How long a refused caller is asked to wait. Queues of this kind empty within seconds or not at all. */
const RETRY_AFTER_MS = 1000;

/** All requests are of one lane. The limits are the deployment's and so the same for all. */
export async function acceptCalls(
  context: RedisContext,
  lane: number,
  requests: readonly AcceptRequest[],
): Promise<AcceptAnswer[]> {
  const keys = context.lane(lane);
  const limits = requests[0]!.admission;
  try {
    const answers = await context.fcall('accept_calls', {
      keys: { meta: keys.meta, live: keys.live },
      args: {
        incarnation: context.incarnation,
        lane: keys.prefix,
        liveCalls: limits.liveCalls,
        liveBytes: limits.liveBytes,
        retainedBytes: limits.retainedBytes,
        window: limits.subjectWindow,
        backlog: limits.subjectBacklog,
      },
      each: requests.map(toArguments),
    });
    return asList(answers).map(toAnswer);
  } catch (error) {
    // The server is at its memory limit or cannot write: refused at the door, nothing was accepted.
    if (error instanceof PlaneError && error.code === 'STORE_FULL') {
      return requests.map(() => ({ kind: 'overloaded', what: 'memory of the store', retryAfterMs: RETRY_AFTER_MS }));
    }
    throw error;
  }
}

/** Equal texts are looked at once per batch, so what most calls share is put into one text each. */
function toArguments(request: AcceptRequest): NamedValues {
  const { waiter } = request;
  return {
    callId: request.callId,
    digest: request.bodyDigest,
    who: `${request.session}\n${request.run}\n${request.proof.kind}\n${vouches(request.proof)}`,
    where: `${request.pool}\n${request.serial ? '1' : '0'}\n${request.tool}`,
    envelope: request.envelope,
    deadlineMs: request.deadlineMs,
    waiter: waiter === undefined ? '' : `${waiter.callerId}\n${waiter.correlationId}\n${waiter.events ? '1' : '0'}`,
  };
}

function vouches(proof: CallProof): string {
  if (proof.kind === 'token') return proof.tokenDigest;
  const { callId, workerId, entryId, fence } = proof.owned;
  return [callId, workerId, entryId, fence].join('\n');
}

function toAnswer(answer: unknown): AcceptAnswer {
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
      return { kind: 'unauthenticated', ending: asText(second) as SessionEnding };
    case 'OVERLOADED':
      return { kind: 'overloaded', what: asText(second), retryAfterMs: RETRY_AFTER_MS };
    default:
      throw unexpected(answer);
  }
}
