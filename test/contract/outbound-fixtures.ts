import { effectKey, type EffectBody } from '../../src/domain/platform/platform-effect.ts';
import type { Delivery } from '../../src/domain/ports/call-requests.ts';
import type {
  ClaimEffectsRequest,
  EffectEnding,
  FinishEffectRequest,
  PublishEffectRequest,
} from '../../src/domain/ports/outbound-store.ts';
import { encode } from '../../src/base/message-pack.ts';
import { randomId } from '../../src/domain/identity/new-id.ts';
import { HOUR_MS } from './fixtures.ts';

export const PLATFORM = 'chat';
export const CHANNEL = 'general';
const MIB = 1024 * 1024;

export const ORIGIN = {
  tenant: 'acme',
  subject: 'ann',
  agent: 'helper',
  session: 's',
  homePlatform: PLATFORM,
  homeChannel: CHANNEL,
};

export function bodyOf(text: string): Uint8Array {
  return encode({ kind: 'send', message: { text } } satisfies EffectBody);
}

/** A request to publish an effect of a held call; the first effect, unless another is named. */
export function publishRequest(
  delivery: Delivery,
  name: number | string = 1,
  more: Partial<PublishEffectRequest> = {},
): PublishEffectRequest {
  const { callId, pool, workerId, entryId, fence } = delivery;
  return {
    callId,
    pool,
    workerId,
    entryId,
    fence,
    key: effectKey(callId, name),
    kind: 'send',
    platform: PLATFORM,
    channel: CHANNEL,
    origin: ORIGIN,
    body: bodyOf(`effect ${name}`),
    deliverWithinMs: HOUR_MS,
    maxQueuedBytes: MIB,
    ...more,
  };
}

export function claimEffectsRequest(lane: number, more: Partial<ClaimEffectsRequest> = {}): ClaimEffectsRequest {
  return {
    lane,
    gatewayId: 'gateway-one',
    claimId: randomId(),
    platforms: [{ name: PLATFORM, redeliver: true }],
    limit: 10,
    leaseMs: HOUR_MS,
    waitMs: 0,
    retentionMs: HOUR_MS,
    maxKeptBytes: MIB,
    ...more,
  };
}

export const DELIVERED: EffectEnding = { kind: 'delivered', answer: encode({ messageId: 'm1' }), keep: false };

export function finishRequest(
  effect: Pick<FinishEffectRequest, 'key' | 'attempts'>,
  ending: EffectEnding = DELIVERED,
  more: Partial<FinishEffectRequest> = {},
): FinishEffectRequest {
  const { key, attempts } = effect;
  return { key, attempts, gatewayId: 'gateway-one', ending, retentionMs: HOUR_MS, maxKeptBytes: MIB, ...more };
}
