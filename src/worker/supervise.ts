import { trouble } from '../domain/errors.ts';
import { nestedPool, type CallId, type WorkerId } from '../domain/ids.ts';
import type { ReapRequest } from '../ports/call-store.ts';
import type { Store } from '../ports/store.ts';
import { encode } from '../wire/message-pack.ts';
import { encodeOutcome } from '../wire/outcome.ts';
import { readHeldCalls, type HeldCall } from './held-calls.ts';

export interface SupervisorSettings {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly retentionMs: number;
}

/** A call of this worker that it must stop: its lease is gone, or somebody cancelled it. */
export interface StopOrder {
  readonly callId: CallId;
  readonly fence: number;
  readonly why: 'lost' | 'cancelled';
}

/** Cancellations are looked for this often: a running tool has to see its abort within a second. */
export const CANCEL_CHECK_MS = 300;
const REAP_EVERY_MS = 1000;
const REAP_AT_ONCE = 100;
const CONSUMER_IDLE_MS = 10 * 60 * 1000;
const RENEW_AT_ONCE = 200;
const MOST_PAGES = 50;

interface LaneCare {
  renewedAt: number;
  reapedAt: number;
  cancelSequence: string | undefined;
}

export interface Supervision {
  /** Resolves when the round under way has ended. */
  stop(): Promise<void>;
  /** Monotonic time of the last answer of the store. */
  readonly storeSeenAt: number;
}

/** Renews leases, passes cancellations on and reaps; runs in a thread of its own, beside whatever the tools do. */
export function supervise(
  store: Store,
  held: SharedArrayBuffer,
  settings: SupervisorSettings,
  onStop: (order: StopOrder) => void,
  onTrouble: (error: unknown) => void,
): Supervision {
  const lanes = new Map<number, LaneCare>();
  let storeSeenAt = performance.now();
  let stopping = false;

  /** Lanes are looked after side by side: one that does not answer must not cost the others their leases. */
  async function round(): Promise<void> {
    const every = Array.from({ length: store.lanes }, (_, lane) => lane);
    const rounds = await Promise.allSettled(every.map(lookAfter));
    for (const result of rounds) if (result.status === 'rejected') onTrouble(result.reason);
    if (rounds.every(({ status }) => status === 'fulfilled')) storeSeenAt = performance.now();
  }

  async function lookAfter(lane: number): Promise<void> {
    const care = careOf(lane);
    const { cancelSequence } = (await store.recheckSessions({ lane, sessions: [] })).lane;
    const cancelled = care.cancelSequence !== undefined && care.cancelSequence !== cancelSequence;
    const now = performance.now();
    if (cancelled || now - care.renewedAt >= settings.heartbeatMs) {
      // Read after the sequence: a call taken up in between must hear of its cancellation too.
      const calls = readHeldCalls(held, settings.workerId).filter((each) => each.lane === lane);
      await renew(lane, calls);
      care.renewedAt = now;
    }
    // Only now: a renewal that failed must be tried again in the next round.
    care.cancelSequence = cancelSequence;
    if (now - care.reapedAt < REAP_EVERY_MS) return;
    care.reapedAt = now;
    await reap(lane);
  }

  /** Page after page, so that a crowd of expired calls is answered in time. */
  async function reap(lane: number): Promise<void> {
    for (let page = 0; page < MOST_PAGES && !stopping; page += 1) {
      const { expired, overdue } = await store.reapCalls(reapRequest(lane, settings));
      if (expired.length + overdue.length < REAP_AT_ONCE) return;
    }
  }

  function careOf(lane: number): LaneCare {
    let care = lanes.get(lane);
    if (care === undefined) {
      const now = performance.now();
      care = { renewedAt: now, reapedAt: now, cancelSequence: undefined };
      lanes.set(lane, care);
    }
    return care;
  }

  async function renew(lane: number, calls: readonly HeldCall[]): Promise<void> {
    for (let at = 0; at < calls.length; at += RENEW_AT_ONCE) {
      const some = calls.slice(at, at + RENEW_AT_ONCE).map(({ call }) => call);
      const answers = await store.renewCalls({ lane, calls: some });
      answers.forEach((answer, index) => {
        if (answer === 'renewed') return;
        const { callId, fence } = some[index]!;
        onStop({ callId, fence, why: answer === 'fenced' ? 'lost' : 'cancelled' });
      });
    }
  }

  const finished = (async () => {
    while (!stopping) {
      try {
        await round();
      } catch (error) {
        onTrouble(error);
      }
      await new Promise((resolve) => setTimeout(resolve, CANCEL_CHECK_MS));
    }
  })();

  return {
    stop() {
      stopping = true;
      return finished;
    },
    get storeSeenAt() {
      return storeSeenAt;
    },
  };
}

function reapRequest(lane: number, settings: SupervisorSettings): ReapRequest {
  return {
    lane,
    pools: [settings.pool, nestedPool(settings.pool)],
    limit: REAP_AT_ONCE,
    overdueMs: settings.leaseMs,
    consumerIdleMs: CONSUMER_IDLE_MS,
    retentionMs: settings.retentionMs,
    expired: encodeOutcome(trouble('DEADLINE_PASSED', {})),
    timedOut: encodeOutcome(
      trouble('TOOL_TIMED_OUT', { tool: 'The tool', afterMs: settings.leaseMs }, { executed: 'unknown' }),
    ),
    mayHaveRun: encodeOutcome(trouble('MAY_HAVE_RUN', { tool: 'the tool' }, { executed: 'unknown' })),
    bodyLost: encodeOutcome(trouble('BODY_LOST', {}, { executed: 'unknown' })),
    audit: encode({ by: 'reaper' }),
  };
}
