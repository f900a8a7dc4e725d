import type { EffectRecord } from '../../domain/platform/platform-effect.ts';
import type { Log } from '../../domain/ports/log.ts';
import type { DeliveryStore } from '../../domain/ports/store.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import { deliverEffect, type ServedPlatform } from './deliver-effect.ts';
import { pause } from '../../base/pause.ts';

export interface OutboundSettings {
  readonly platforms: Readonly<Record<string, ServedPlatform>>;
  readonly retentionMs: number;
  readonly maxKeptBytes: number;
  /**
   * If a gateway does not finish a claimed effect within this time, another gateway may claim it. One attempt may take half of this time.
   */
  readonly leaseMs?: number;
  /** Max concurrent attempts per lane. */
  readonly atOnce?: number;
}

export interface RunningOutbound {
  readonly gatewayId: string;
  /**
   * Stops claiming, waits up to `graceMs` for attempts under way, and aborts the rest. Unfinished effects are claimed again by another
   * gateway.
   */
  stop(graceMs?: number): Promise<void>;
}

export type AttemptEnd = 'delivered' | 'failed' | 'retried' | 'lost';
interface Needs {
  readonly store: DeliveryStore;
  readonly log: Log;
  /** Called after each attempt, for metrics. */
  readonly onAttempt?: ((platform: string, end: AttemptEnd) => void) | undefined;
}

const DEFAULT_LEASE_MS = 60_000;
const DEFAULT_AT_ONCE = 16;
/** How long the store holds a claim open if no effect is due. A retry that becomes due meanwhile is claimed at most this much later. */
const WAIT_MS = 250;
const REDIRECTS_EVERY_MS = 500;
const REDIRECTS_AT_ONCE = 100;
const PAUSE_AFTER_FAILURE_MS = 500;
const DEFAULT_GRACE_MS = 10_000;

/** The gateway's side of the platform proxy: claims effects from the store and passes them to their adapters, until it is stopped. */
export function runOutbound(settings: OutboundSettings, { store, log, onAttempt }: Needs): RunningOutbound {
  const { platforms, retentionMs, maxKeptBytes, leaseMs = DEFAULT_LEASE_MS, atOnce = DEFAULT_AT_ONCE } = settings;
  const gatewayId = `gateway-${randomId()}`;
  const served = Object.entries(platforms).map(([name, { adapter }]) => ({ name, redeliver: adapter.deduplicates }));
  const stopping = new AbortController();
  const giveUp = new AbortController();
  const underWay = new Set<Promise<void>>();

  async function claimLane(lane: number): Promise<void> {
    const running = new Set<Promise<void>>();
    // Kept until an answer arrives. If the answer to a claim was lost, repeating the claim with the same id returns the same effects again.
    let claimId = randomId();
    let redirectsAt = 0;
    while (!stopping.signal.aborted) {
      try {
        if (performance.now() >= redirectsAt) {
          await store.sendRedirects({ lane, limit: REDIRECTS_AT_ONCE });
          redirectsAt = performance.now() + REDIRECTS_EVERY_MS;
        }
        const limit = atOnce - running.size;
        const claim = {
          lane,
          gatewayId,
          claimId,
          platforms: served,
          limit,
          leaseMs,
          waitMs: WAIT_MS,
          retentionMs,
          maxKeptBytes,
        };
        const { effects } = limit === 0 ? { effects: [] } : await store.claimEffects(claim);
        claimId = randomId();
        for (const effect of effects) start(effect, running);
        if (running.size >= atOnce) await Promise.race(running);
      } catch (error) {
        log.warn({ lane, error }, 'effects could not be claimed; trying again');
        await pause(PAUSE_AFTER_FAILURE_MS, stopping.signal);
      }
    }
  }

  function start(effect: EffectRecord, running: Set<Promise<void>>): void {
    const attempt = attemptEffect(effect).finally(() => {
      running.delete(attempt);
      underWay.delete(attempt);
    });
    running.add(attempt);
    underWay.add(attempt);
  }

  /** Makes one attempt and writes its ending to the store. Never rejects. */
  async function attemptEffect(effect: EffectRecord): Promise<void> {
    const { key, attempts, platform, kind } = effect;
    const attempt = new AbortController();
    const abort = (): void => attempt.abort(new DOMException('The attempt took too long.', 'TimeoutError'));
    const timer = setTimeout(abort, leaseMs / 2);
    giveUp.signal.addEventListener('abort', abort, { once: true });
    if (giveUp.signal.aborted) abort();
    try {
      const ending = await deliverEffect(effect, platforms[platform]!, store, attempt.signal);
      const answer = await store.finishEffect({ key, gatewayId, attempts, ending, retentionMs, maxKeptBytes });
      const facts = { effect: key, platform, kind, attempts };
      onAttempt?.(platform, answer === 'lost' ? 'lost' : ending.kind === 'retry' ? 'retried' : ending.kind);
      if (answer === 'lost') log.warn(facts, 'an effect was finished by another gateway first');
      else if (ending.kind === 'failed') log.error({ ...facts, problem: ending.problem }, 'an effect has failed');
      else if (ending.kind === 'retry') log.info({ ...facts, problem: ending.problem }, 'an effect is tried again');
    } catch (error) {
      log.error({ effect: key, platform, error }, 'what became of an effect was not written; it is claimed again');
    } finally {
      clearTimeout(timer);
      giveUp.signal.removeEventListener('abort', abort);
    }
  }

  const lanes = Array.from({ length: store.lanes }, (_, lane) => claimLane(lane));
  return {
    gatewayId,
    async stop(graceMs = DEFAULT_GRACE_MS) {
      stopping.abort();
      await Promise.all(lanes);
      const timer = setTimeout(() => giveUp.abort(), graceMs);
      await Promise.all(underWay);
      clearTimeout(timer);
      await Promise.all(Object.values(platforms).map(async ({ adapter }) => adapter.close?.()));
    },
  };
}
