import { elapsedMs } from '../base/elapsed.ts';
import { platformRefusal, type PlatformRefusal } from '../domain/errors/gate-errors.ts';
import { effectKey, type EffectAnswer, type EffectKey, type EffectOrigin } from '../domain/platform/platform-effect.ts';
import type { Identity } from '../domain/identity/session.ts';
import type { CallEffects, EffectSource } from '../domain/ports/call-effects.ts';
import type { CallReader, CallReplies } from '../domain/ports/call-store.ts';
import type { Delivery } from '../domain/ports/call-requests.ts';
import type { Log } from '../domain/ports/log.ts';
import type { EffectPublishing, EffectReader } from '../domain/ports/outbound-store.ts';
import type { IncarnationCheck } from '../domain/ports/store.ts';
import type { PlatformReply, PlatformRequest } from '../domain/ports/tool-runner.ts';
import { createReplyReader, type ReplyReader } from '../stages/answer/reply-reader.ts';
import { newCallerId } from '../domain/identity/new-id.ts';
import { decode, encode } from '../base/message-pack.ts';
import { maySendTo, type PlatformSettings } from '../domain/platform/platform-settings.ts';

type EffectStore = CallReplies & CallReader & EffectPublishing & EffectReader & IncarnationCheck;

export interface WorkerEffects extends EffectSource {
  close(): void;
}

const WAIT_MS = 10_000;
const RAW_DEADLINE_MS = 30_000;
/**
 * How often a waiting call reads its effect from the store. The store's event only makes it read earlier: a lost event delays the answer.
 */
const LOOK_EVERY_MS = 2000;

/**
 * The worker's side of the platform proxy. It publishes the effects of tools under the lease of their call, and waits for their results.
 */
export function createWorkerEffects(store: EffectStore, settings: PlatformSettings, log: Log): WorkerEffects {
  const replies = createReplyReader(store, newCallerId());
  return {
    open: ({ delivery, identity, timeoutMs }) =>
      new RunEffects({ store, settings, log, replies }, delivery, identity, performance.now() + timeoutMs),
    close: () => replies.close(),
  };
}

interface Needs {
  readonly store: EffectStore;
  readonly settings: PlatformSettings;
  readonly log: Log;
  readonly replies: ReplyReader;
}

interface Target {
  readonly platform: string;
  readonly channel: string;
  readonly deliverWithinMs: number;
}

class RunEffects implements CallEffects {
  readonly #needs: Needs;
  readonly #delivery: Delivery;
  readonly #origin: EffectOrigin;
  readonly #endsAt: number;
  #count = 0;
  #bytes = 0;
  /** The latest publication. Each one waits for the one before it, because the store keeps effects in the order of their arrival. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(needs: Needs, delivery: Delivery, identity: Identity, endsAt: number) {
    this.#needs = needs;
    this.#delivery = delivery;
    this.#origin = originOf(delivery, identity);
    this.#endsAt = endsAt;
  }

  async published(): Promise<void> {
    await this.#last;
  }

  /** Assigns the effect's number before the first await, so that effects are numbered in the order in which the tool asks for them. */
  perform(request: PlatformRequest, signal: AbortSignal): Promise<PlatformReply> {
    this.#count += 1;
    const target = this.#targetOf(request);
    if ('kind' in target) return this.#refuse(request, target);
    const body = encode(request.body);
    this.#bytes += body.byteLength;
    const tooMuch = this.#tooMuch();
    if (tooMuch !== undefined) return this.#refuse(request, tooMuch);
    const key = effectKey(this.#delivery.callId, request.key ?? this.#count);
    const waitMs = this.#waitMsOf(request);
    const expected = this.#needs.replies.expect(this.#delivery.lane, () => ended());
    let ended = (): void => {};
    const whenEnded = new Promise<void>((resolve) => (ended = resolve));
    const waiter = { callerId: this.#needs.replies.callerId, correlationId: expected.correlationId };
    const isRaw = request.body.kind === 'call';
    const publishing = this.#last.then(() =>
      this.#needs.store.publishEffect({
        ...ownedBy(this.#delivery),
        key,
        kind: request.body.kind,
        platform: target.platform,
        channel: target.channel,
        body,
        waiter,
        origin: this.#origin,
        deliverWithinMs: isRaw ? Math.max(1, waitMs) : target.deliverWithinMs,
        maxQueuedBytes: this.#needs.settings.maxQueuedBytes,
      }),
    );
    this.#last = publishing.catch(() => undefined);
    return publishing
      .then((answer) => {
        if (answer.kind === 'published' || answer.kind === 'known')
          return this.#await(key, isRaw, waitMs, whenEnded, signal);
        return this.#refuse(request, REFUSALS[answer.kind]);
      })
      .catch((error: unknown) => this.#failed(key, error))
      .finally(() => expected.forget());
  }

  /** Logs the refusal, because the tool may ignore the reply. */
  #refuse({ body }: PlatformRequest, refusal: PlatformRefusal): Promise<PlatformReply> {
    const { callId, tool } = this.#delivery;
    const facts = { stage: 'execute', callId, tool, kind: body.kind, code: refusal.code };
    this.#needs.log.warn(facts, 'an effect was refused');
    return Promise.resolve(refusal);
  }

  #targetOf({ platform = this.#origin.homePlatform, channel }: PlatformRequest): Target | PlatformRefusal {
    if (platform === undefined) return platformRefusal('PLATFORM_NONE', { missing: 'platform' });
    const known = Object.hasOwn(this.#needs.settings.platforms, platform)
      ? this.#needs.settings.platforms[platform]
      : undefined;
    if (known === undefined) return platformRefusal('PLATFORM_UNKNOWN', { platform });
    const chosen = channel ?? (platform === this.#origin.homePlatform ? this.#origin.homeChannel : undefined);
    if (chosen === undefined) return platformRefusal('PLATFORM_NONE', { missing: 'channel' });
    const target = { platform, channel: chosen, deliverWithinMs: known.deliverWithinMs };
    if (maySendTo(target, this.#origin, known.channels)) return target;
    return platformRefusal('CHANNEL_REFUSED', {});
  }

  #tooMuch(): PlatformRefusal | undefined {
    const { effectsPerCall, bytesPerCall } = this.#needs.settings;
    if (this.#count > effectsPerCall) return platformRefusal('EFFECT_LIMIT', { limit: effectsPerCall, what: 'things' });
    if (this.#bytes <= bytesPerCall) return undefined;
    return platformRefusal('EFFECT_LIMIT', { limit: bytesPerCall, what: 'bytes' });
  }

  #waitMsOf({ waitMs, body }: PlatformRequest): number {
    const leftMs = Math.max(0, this.#endsAt - performance.now());
    return Math.min(waitMs ?? (body.kind === 'call' ? RAW_DEADLINE_MS : WAIT_MS), leftMs);
  }

  async #await(
    key: EffectKey,
    isRaw: boolean,
    waitMs: number,
    whenEnded: Promise<void>,
    signal: AbortSignal,
  ): Promise<PlatformReply> {
    const startedAt = performance.now();
    for (;;) {
      const effect = await this.#needs.store.readEffect(key);
      if (effect?.state === 'delivered') {
        const answer = effect.answer === undefined ? {} : (decode(effect.answer) as EffectAnswer);
        return { kind: 'delivered', key, answer };
      }
      if (effect === undefined || effect.state === 'failed') {
        return platformRefusal('EFFECT_FAILED', { problem: effect?.problem ?? 'it is gone' });
      }
      const leftMs = waitMs - elapsedMs(startedAt);
      if (leftMs <= 0 || signal.aborted) {
        return isRaw ? platformRefusal('PLATFORM_TIMEOUT', {}) : { kind: 'queued', key };
      }
      await firstOf(whenEnded, Math.min(leftMs, LOOK_EVERY_MS), signal);
    }
  }

  #failed(key: EffectKey, error: unknown): PlatformReply {
    const { callId } = this.#delivery;
    this.#needs.log.error({ stage: 'execute', callId, effect: key, error }, 'an effect was not published');
    return platformRefusal('EFFECT_UNPUBLISHED', {});
  }
}

const REFUSALS = {
  fenced: platformRefusal('EFFECT_FENCED', {}),
  conflict: platformRefusal('EFFECT_CONFLICT', {}),
  full: platformRefusal('OUTBOUND_FULL', {}),
};

function originOf({ session, tool }: Delivery, identity: Identity): EffectOrigin {
  const { tenant, subject, agent, space, platform, channel } = identity;
  return {
    tenant,
    subject,
    agent,
    session,
    tool,
    ...(space === undefined ? {} : { space }),
    ...(platform === undefined ? {} : { homePlatform: platform }),
    ...(channel === undefined ? {} : { homeChannel: channel }),
  };
}

function ownedBy({ callId, pool, workerId, entryId, fence }: Delivery) {
  return { callId, pool, workerId, entryId, fence };
}

/** Waits for the event, the timeout or the abort, whichever comes first. Leaves no timer and no listener behind. */
async function firstOf(whenEnded: Promise<void>, waitMs: number, signal: AbortSignal): Promise<void> {
  let over = (): void => {};
  const done = new Promise<void>((resolve) => (over = resolve));
  const timer = setTimeout(over, waitMs);
  signal.addEventListener('abort', over, { once: true });
  await Promise.race([whenEnded, done]);
  clearTimeout(timer);
  signal.removeEventListener('abort', over);
}
