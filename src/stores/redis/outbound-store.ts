import type { CallRecord } from '../../domain/call/call.ts';
import { laneOfScopedId, type CallId } from '../../domain/identity/ids.ts';
import {
  effectKey,
  parseEffectKey,
  RESULT_NAME,
  type EffectBody,
  type EffectKey,
} from '../../domain/platform/platform-effect.ts';
import type {
  ClaimedEffects,
  ClaimEffectsRequest,
  FinishEffectRequest,
  ListOwnCallsRequest,
  OutboundStore,
  PublishEffectAnswer,
  PublishEffectRequest,
  RedirectRequest,
} from '../../domain/ports/outbound-store.ts';
import { encode } from '../../base/message-pack.ts';
import { asBytes, asList, asNumber, asText, wordOf } from './answers.ts';
import { decodeCall } from './call-codec.ts';
import { common, lease } from './change-calls.ts';
import { decodeEffect, listEffects, readEffect } from './read-effects.ts';
import type { RedisContext } from './redis-context.ts';
import { translate } from './settle-calls.ts';

const RESULT = encode({ kind: 'result' } satisfies EffectBody);
const NOTHING = new Uint8Array(0);

export function createOutboundStore(context: RedisContext): OutboundStore {
  return {
    publishEffect: (request) => publishEffect(context, request),
    claimEffects: (request) => claimEffects(context, request),
    finishEffect: (request) => finishEffect(context, request),
    readEffect: (key) => readEffect(context, key),
    listEffects: (request) => listEffects(context, request),
    retryEffect: (key) => retryEffect(context, key),
    redirectCall: (request) => redirectCall(context, request),
    dropRedirect: (callId) => dropRedirect(context, callId),
    async sendRedirects({ lane, limit }) {
      const { meta, calls } = context.lane(lane);
      const args = { ...common(context, lane), limit, body: RESULT };
      return asNumber(asList(await context.fcall('send_redirects', { keys: { meta, calls }, args }))[1]);
    },
    listOwnCalls: (request) => listOwnCalls(context, request),
  };
}

async function publishEffect(context: RedisContext, request: PublishEffectRequest): Promise<PublishEffectAnswer> {
  const lane = laneOfScopedId(request.callId);
  if (lane < 0 || lane >= context.lanes) return { kind: 'fenced' };
  const { key, kind, platform, channel, origin, body, deliverWithinMs, waiter, maxQueuedBytes } = request;
  const answer = await context.fcall('publish_effect', {
    keys: { meta: context.lane(lane).meta },
    args: {
      ...common(context, lane),
      ...lease(request),
      key,
      kind,
      platform,
      channel,
      body,
      maxQueuedBytes,
      origin: JSON.stringify(origin),
      deliverMs: Math.ceil(deliverWithinMs),
      caller: waiter?.callerId ?? '',
      correlation: waiter?.correlationId ?? '',
    },
  });
  const words = { PUBLISHED: 'published', FENCED: 'fenced', CONFLICT: 'conflict', FULL: 'full' } as const;
  if (wordOf(answer) !== 'KNOWN') return { kind: translate(words, answer) };
  const states = { queued: 'queued', claimed: 'claimed', delivered: 'delivered', failed: 'failed' } as const;
  return { kind: 'known', state: translate(states, asList(answer)[1]) };
}

/** Claims effects. If there are none, waits for the bell of one of the platforms and tries once more. */
async function claimEffects(context: RedisContext, request: ClaimEffectsRequest): Promise<ClaimedEffects> {
  const first = await claimOnce(context, request);
  if (first.effects.length > 0 || request.waitMs <= 0 || request.platforms.length === 0) return first;
  const { lane, waitMs, platforms } = request;
  const bells = platforms.map(({ name }) => context.lane(lane).bell(name));
  await context.blockingRead(`outbound:${lane}`, [['BLPOP', ...bells, String(waitMs / 1000)]], waitMs);
  return claimOnce(context, request);
}

async function claimOnce(context: RedisContext, request: ClaimEffectsRequest): Promise<ClaimedEffects> {
  const { lane, gatewayId, claimId, platforms, limit, leaseMs, retentionMs, maxKeptBytes } = request;
  const answer = asList(
    await context.fcall('claim_effects', {
      keys: { meta: context.lane(lane).meta },
      args: {
        ...common(context, lane),
        gateway: gatewayId,
        claim: claimId,
        limit,
        maxKeptBytes,
        leaseMs: Math.ceil(leaseMs),
        retentionMs: Math.ceil(retentionMs),
      },
      each: platforms.map(({ name, redeliver }) => ({ platform: name, redeliver })),
    }),
  );
  const effects = answer.slice(2).map((found) => {
    const [key, ...fields] = asList(found);
    return decodeEffect(asText(key) as EffectKey, fields)!;
  });
  return { effects, now: asNumber(answer[1]) };
}

async function finishEffect(context: RedisContext, request: FinishEffectRequest): Promise<'finished' | 'lost'> {
  const place = parseEffectKey(request.key);
  if (place === undefined || place.lane >= context.lanes) return 'lost';
  const { key, gatewayId, attempts, ending, retentionMs, maxKeptBytes } = request;
  const answer = await context.fcall('finish_effect', {
    keys: { meta: context.lane(place.lane).meta },
    args: {
      ...common(context, place.lane),
      key,
      gateway: gatewayId,
      attempts,
      ending: ending.kind,
      maxKeptBytes,
      answer: ending.kind === 'delivered' ? ending.answer : NOTHING,
      problem: ending.kind === 'delivered' ? '' : ending.problem,
      keep: ending.kind === 'delivered' && ending.keep,
      afterMs: ending.kind === 'retry' ? Math.ceil(ending.afterMs) : 0,
      retentionMs: Math.ceil(retentionMs),
    },
  });
  return translate({ FINISHED: 'finished', LOST: 'lost' } as const, answer);
}

async function retryEffect(context: RedisContext, key: EffectKey) {
  const place = parseEffectKey(key);
  if (place === undefined || place.lane >= context.lanes) return 'unknown';
  const answer = await context.fcall('retry_effect', {
    keys: { meta: context.lane(place.lane).meta },
    args: { ...common(context, place.lane), key },
  });
  const words = { QUEUED: 'queued', NOT_FAILED: 'not-failed', BODY_GONE: 'body-gone', UNKNOWN: 'unknown' } as const;
  return translate(words, answer);
}

async function redirectCall(context: RedisContext, request: RedirectRequest) {
  const lane = laneOfScopedId(request.callId);
  // A session of another lane belongs to another subject.
  if (lane < 0 || lane >= context.lanes || lane !== laneOfScopedId(request.session.id)) return 'unknown';
  const { callId, session, platform, channel, origin, afterMs, deliverWithinMs } = request;
  const { meta, calls } = context.lane(lane);
  const answer = await context.fcall('redirect_call', {
    keys: { meta, calls },
    args: {
      ...common(context, lane),
      callId,
      session: session.id,
      tokenDigest: session.tokenDigest,
      platform,
      channel,
      resultKey: effectKey(callId, RESULT_NAME),
      origin: JSON.stringify(origin),
      afterMs: Math.ceil(afterMs),
      deliverMs: Math.ceil(deliverWithinMs),
    },
  });
  return translate({ REDIRECTED: 'redirected', SENT: 'sent', UNKNOWN: 'unknown' } as const, answer);
}

async function dropRedirect(context: RedisContext, callId: CallId): Promise<'dropped' | 'none'> {
  const lane = laneOfScopedId(callId);
  if (lane < 0 || lane >= context.lanes) return 'none';
  const call = { keys: { meta: context.lane(lane).meta }, args: { ...common(context, lane), callId } };
  return translate({ DROPPED: 'dropped', NONE: 'none' } as const, await context.fcall('drop_redirect', call));
}

const SCAN_AT_ONCE = '1000';

/**
 * Lists the live calls of a subject. Their ids have a common prefix, but the set of live calls is sorted by deadline. So the whole set is
 * scanned, in small parts that do not block other clients.
 */
async function listOwnCalls(context: RedisContext, request: ListOwnCallsRequest): Promise<CallRecord[]> {
  const { lane, scope, limit } = request;
  if (lane >= context.lanes) return [];
  const keys = context.lane(lane);
  const ids = new Set<CallId>();
  let cursor = '0';
  do {
    const scan = ['ZSCAN', keys.live, cursor, 'MATCH', `${lane}.${scope}.*`, 'COUNT', SCAN_AT_ONCE] as const;
    const [next, found] = asList(await context.command(...scan));
    cursor = asText(next);
    asList(found).forEach((text, at) => at % 2 === 0 && ids.add(asText(text) as CallId));
  } while (cursor !== '0');
  if (ids.size === 0) return [];
  const stored = asList(await context.commandForBytes('HMGET', keys.calls, ...ids));
  const records = [...ids].flatMap((id, at) => {
    const bytes = stored[at];
    const record = bytes === null ? undefined : decodeCall(id, asBytes(bytes));
    return record === undefined || record.state === 'settled' ? [] : [record];
  });
  return records.sort((a, b) => a.deadline - b.deadline).slice(0, limit);
}
