import { laneOfScopedId, type CallId } from '../../domain/identity/ids.ts';
import type {
  AbandonRequest,
  CancelAnswer,
  CancelRequest,
  NotifyRequest,
  OwnedCall,
  ReapAnswer,
  ReapRequest,
  ResolveRequest,
} from '../../domain/ports/call-requests.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import { asList, asNumber, asText } from './answers.ts';
import type { NamedValues } from './function-library.ts';
import { readCall } from './read-calls.ts';
import type { RedisContext } from './redis-context.ts';
import { translate } from './settle-calls.ts';

export function common(context: RedisContext, lane: number): NamedValues {
  return { incarnation: context.incarnation, lane: context.lane(lane).prefix };
}

/** What a worker sends to prove that it still holds the lease of a call. */
export function lease({ workerId, callId, entryId, fence }: OwnedCall): NamedValues {
  return { worker: workerId, callId, entry: entryId, fence };
}

export async function abandonCall(context: RedisContext, request: AbandonRequest): Promise<'abandoned' | 'fenced'> {
  const lane = laneOfScopedId(request.callId);
  const answer = await context.fcall('abandon_call', {
    keys: { meta: context.lane(lane).meta },
    args: {
      ...common(context, lane),
      ...lease(request),
      handedBack: request.handedBack,
    },
  });
  return translate({ ABANDONED: 'abandoned', FENCED: 'fenced' } as const, answer);
}

export async function cancelCall(context: RedisContext, request: CancelRequest): Promise<CancelAnswer> {
  const lane = laneOfScopedId(request.callId);
  if (lane < 0 || lane >= context.lanes) return 'unknown';
  const { meta, live, audit, calls } = context.lane(lane);
  const answer = await context.fcall('cancel_call', {
    keys: { meta, live, audit, calls },
    args: {
      ...common(context, lane),
      callId: request.callId,
      session: request.session?.id ?? '',
      tokenDigest: request.session?.tokenDigest ?? '',
      unsafeDigest: request.unsafeDigest ?? '',
      outcome: request.outcome,
      outcomeIfHeld: request.outcomeIfHeld,
      outcomeIfParked: request.outcomeIfParked,
      detail: request.audit,
      retentionMs: request.retentionMs,
    },
  });
  const words = { CANCELLED: 'cancelled', CANCELLING: 'cancelling', SETTLED: 'settled', UNKNOWN: 'unknown' } as const;
  return translate<CancelAnswer>(words, answer);
}

export async function reapCalls(context: RedisContext, request: ReapRequest): Promise<ReapAnswer> {
  const { meta, live, audit, stream } = context.lane(request.lane);
  const answer = await context.fcall('reap_calls', {
    keys: { meta, live, audit },
    args: {
      ...common(context, request.lane),
      limit: request.limit,
      overdueMs: request.overdueMs,
      retentionMs: request.retentionMs,
      expired: request.expired,
      timedOut: request.timedOut,
      mayHaveRun: request.mayHaveRun,
      bodyLost: request.bodyLost,
      approvalExpired: request.approvalExpired,
      sessionEnded: request.sessionEnded,
      detail: request.audit,
    },
  });
  await forgetCalls(context, request.lane);
  for (const pool of request.pools) {
    await context.fcall('reap_consumers', {
      keys: { stream: stream(pool) },
      args: { idleMs: request.consumerIdleMs, consumer: '' },
    });
  }
  const [, expired, overdue] = asList(answer);
  const toIds = (list: unknown): CallId[] => asList(list).map((id) => asText(id) as CallId);
  return { expired: toIds(expired), overdue: toIds(overdue) };
}

/** Max calls that one step deletes. So many keep the server busy for about two milliseconds. */
const FORGET_AT_ONCE = 2000;
const MAX_STEPS = 25;

async function forgetCalls(context: RedisContext, lane: number): Promise<void> {
  const { meta, calls, sessions } = context.lane(lane);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const answer = await context.fcall('forget_calls', {
      keys: { meta, calls, sessions },
      args: { ...common(context, lane), limit: FORGET_AT_ONCE },
    });
    if (asNumber(asList(answer)[1]) < FORGET_AT_ONCE) return;
  }
}

export async function notifyWaiters(context: RedisContext, request: NotifyRequest): Promise<void> {
  const lane = laneOfScopedId(request.callId);
  await context.fcall('notify_waiters', {
    keys: { meta: context.lane(lane).meta },
    args: {
      ...common(context, lane),
      ...lease(request),
      event: request.event,
    },
  });
}

export async function resolveCall(
  context: RedisContext,
  request: ResolveRequest,
): Promise<'resolved' | 'not-indeterminate' | 'unknown'> {
  const record = await readCall(context, request.callId);
  if (record === undefined) return 'unknown';
  const indeterminate = record.outcome !== undefined && decodeOutcome(record.outcome).kind === 'indeterminate';
  const lane = laneOfScopedId(request.callId);
  const { meta, audit, calls } = context.lane(lane);
  const answer = await context.fcall('resolve_call', {
    keys: { meta, audit, calls },
    args: {
      incarnation: context.incarnation,
      callId: request.callId,
      indeterminate,
      resolution: request.resolution,
      detail: request.audit,
    },
  });
  const words = { RESOLVED: 'resolved', NOT_INDETERMINATE: 'not-indeterminate', UNKNOWN: 'unknown' } as const;
  return translate<'resolved' | 'not-indeterminate' | 'unknown'>(words, answer);
}
