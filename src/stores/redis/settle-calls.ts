import type { SessionEnding } from '../../domain/session.ts';
import type {
  RenewAnswer,
  RenewRequest,
  SettleAnswer,
  SettleRequest,
  StartAnswer,
  StartRequest,
} from '../../ports/call-store.ts';
import { asList, asNumber, asText, unexpected, wordOf } from './answers.ts';
import type { RedisContext } from './redis-context.ts';

const SETTLED: Record<string, SettleAnswer> = { SETTLED: 'settled', FENCED: 'fenced', ABSENT: 'absent' };
const RENEWED: Record<string, RenewAnswer> = { RENEWED: 'renewed', FENCED: 'fenced', CANCEL: 'cancel' };

/** All requests are of one lane, one worker and one retention. */
export async function settleCalls(
  context: RedisContext,
  lane: number,
  requests: readonly SettleRequest[],
): Promise<SettleAnswer[]> {
  const keys = context.lane(lane);
  const answers = await context.fcall('settle_calls', {
    keys: { meta: keys.meta, live: keys.live, audit: keys.audit },
    args: {
      incarnation: context.incarnation,
      lane: keys.prefix,
      worker: requests[0]!.workerId,
      retentionMs: requests[0]!.retentionMs,
    },
    each: requests.map((request) => ({
      callId: request.callId,
      entry: request.entryId,
      fence: request.fence,
      outcome: request.outcome,
      release: request.releaseKey,
      detail: request.audit,
    })),
  });
  return asList(answers).map((answer) => translate(SETTLED, answer));
}

export async function startCalls(
  context: RedisContext,
  lane: number,
  requests: readonly StartRequest[],
): Promise<StartAnswer[]> {
  const keys = context.lane(lane);
  const answers = await context.fcall('start_calls', {
    keys: { meta: keys.meta, audit: keys.audit },
    args: { incarnation: context.incarnation, lane: keys.prefix, worker: requests[0]!.workerId },
    each: requests.map((request) => ({
      callId: request.callId,
      entry: request.entryId,
      fence: request.fence,
      effect: request.effect,
      maxAttempts: request.maxAttempts,
      intent: request.intent ?? '',
    })),
  });
  return asList(answers).map(toStartAnswer);
}

function toStartAnswer(answer: unknown): StartAnswer {
  const second = asList(answer)[1];
  switch (wordOf(answer)) {
    case 'STARTED':
      return { kind: 'started', starts: asNumber(second) };
    case 'FENCED':
      return { kind: 'fenced' };
    case 'CANCELLED':
      return { kind: 'cancelled' };
    case 'EXPIRED':
      return { kind: 'expired' };
    case 'ENDED':
      return { kind: 'session-ended', ending: asText(second) as SessionEnding };
    case 'MAY_HAVE_RUN':
      return { kind: 'may-have-run' };
    case 'USED_UP':
      return { kind: 'used-up', starts: asNumber(second) };
    default:
      throw unexpected(answer);
  }
}

export async function renewCalls(context: RedisContext, request: RenewRequest): Promise<RenewAnswer[]> {
  if (request.calls.length === 0) return [];
  const keys = context.lane(request.lane);
  const answers = await context.fcall('renew_calls', {
    keys: { meta: keys.meta },
    args: { incarnation: context.incarnation, lane: keys.prefix },
    each: request.calls.map(({ callId, workerId, entryId, fence }) => ({
      callId,
      worker: workerId,
      entry: entryId,
      fence,
    })),
  });
  return asList(answers).map((answer) => translate(RENEWED, answer));
}

export function translate<Answer>(words: Record<string, Answer>, answer: unknown): Answer {
  const found = words[wordOf(answer)];
  if (found === undefined) throw unexpected(answer);
  return found;
}
