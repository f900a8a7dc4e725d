import { errorOutcome } from '../domain/errors/errors.ts';
import { nestedPool, type CallId, type WorkerId } from '../domain/identity/ids.ts';
import type { ReapAnswer, ReapRequest } from '../domain/ports/call-requests.ts';
import type { SupervisorStore } from '../domain/ports/store.ts';
import { encode } from '../base/message-pack.ts';
import { encodeOutcome } from '../domain/outcome/outcome-bytes.ts';
import { readHeldCalls, type HeldCall } from './held-calls.ts';

export interface SupervisorSettings {
  readonly workerId: WorkerId;
  readonly pool: string;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  readonly retentionMs: number;
}

/** A call that this worker must stop: its lease is lost, or it was cancelled. */
export interface StopOrder {
  readonly callId: CallId;
  readonly entryId: string;
  readonly fence: number;
  readonly why: 'lost' | 'cancelled';
}

/** Interval for checking cancellations: a running tool has to see its abort within a second. */
const CANCEL_CHECK_MS = 300;
/**
 * How long one reading of the table of held calls is reused. A cancel of a call that was taken after the reading is found one round later,
 * still within a second.
 */
const HELD_LANES_CACHE_MS = 50;
const REAP_EVERY_MS = 1000;
const REAP_AT_ONCE = 100;
const CONSUMER_IDLE_MS = 10 * 60 * 1000;
const CONSUMERS_EVERY_MS = 60 * 1000;
const RENEW_AT_ONCE = 200;
const MAX_PAGES = 50;

/** Max wait for pending requests on stop: a request that never ends must not keep the worker alive. */
const STOP_WAIT_MS = 1000;

export interface Supervision {
  /** Resolves when pending rounds have ended, at the latest after `STOP_WAIT_MS`. */
  stop(): Promise<void>;
  /** Monotonic time of the last answer of the lane that has been silent longest. */
  readonly storeSeenAt: number;
}

/** Renews leases, forwards cancellations, and has the store end calls whose time is over. Runs in its own thread: tools cannot block it. */
export function supervise(
  store: SupervisorStore,
  held: SharedArrayBuffer,
  settings: SupervisorSettings,
  onStop: (order: StopOrder) => void,
  onError: (error: unknown) => void,
  onReaped: (reaped: ReapAnswer) => void = () => undefined,
): Supervision {
  const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
  const seenAt = lanes.map(() => performance.now());
  const sleepers = createSleepers();

  /** Renews the leases and checks the cancellations of one lane. If no call is held in the lane, nothing is requested. */
  function careForLeases(lane: number): () => Promise<void> {
    let renewedAt = Number.NEGATIVE_INFINITY;
    let known: string | undefined;
    return async () => {
      if (!hasHeldCalls(lane)) {
        known = undefined;
        return;
      }
      const { cancelSequence } = (await store.recheckSessions({ lane, sessions: [] })).lane;
      const now = (seenAt[lane] = performance.now());
      // An unknown sequence counts as changed: the call may have been cancelled before the first check.
      if (known !== cancelSequence || now - renewedAt >= settings.heartbeatMs) {
        // Read the held calls after the sequence: a call taken in between must see its cancellation too.
        await renew(lane, heldIn(lane));
        renewedAt = now;
      }
      // Set only now: a renewal that failed must be retried in the next round.
      known = cancelSequence;
    };
  }

  const heldIn = (lane: number): HeldCall[] =>
    readHeldCalls(held, settings.workerId).filter((each) => each.lane === lane);

  let lastCheck = { at: Number.NEGATIVE_INFINITY, lanes: new Set<number>() };
  /** All lanes check at about the same time; with thousands of held calls they have to share one reading of the table. */
  function hasHeldCalls(lane: number): boolean {
    const now = performance.now();
    if (now - lastCheck.at >= HELD_LANES_CACHE_MS) {
      lastCheck = { at: now, lanes: new Set(readHeldCalls(held, settings.workerId).map((each) => each.lane)) };
    }
    return lastCheck.lanes.has(lane);
  }

  async function renew(lane: number, calls: readonly HeldCall[]): Promise<void> {
    for (let at = 0; at < calls.length; at += RENEW_AT_ONCE) {
      const some = calls.slice(at, at + RENEW_AT_ONCE).map(({ call }) => call);
      const answers = await store.renewCalls({ lane, calls: some });
      answers.forEach((answer, index) => {
        if (answer === 'renewed') return;
        const { callId, entryId, fence } = some[index]!;
        onStop({ callId, entryId, fence, why: answer === 'fenced' ? 'lost' : 'cancelled' });
      });
    }
  }

  /** Reaps page after page without a pause, so that a large number of expired calls is answered in time. */
  function reaping(lane: number): () => Promise<void> {
    const everyPool = [settings.pool, nestedPool(settings.pool)];
    let consumersAt = Number.NEGATIVE_INFINITY;
    return async () => {
      for (let page = 0; page < MAX_PAGES && !sleepers.woken; page += 1) {
        const withConsumers = performance.now() - consumersAt >= CONSUMERS_EVERY_MS;
        const pools = withConsumers ? everyPool : [];
        const reaped = await store.reapCalls({ ...reapRequest(settings), lane, pools });
        const { expired, overdue } = reaped;
        onReaped(reaped);
        seenAt[lane] = performance.now();
        if (withConsumers) consumersAt = seenAt[lane];
        if (expired.length + overdue.length < REAP_AT_ONCE) return;
      }
    };
  }

  async function repeat(everyMs: number, round: () => Promise<void>): Promise<void> {
    while (!sleepers.woken) {
      try {
        await round();
      } catch (error) {
        if (!sleepers.woken) onError(error);
      }
      await sleepers.sleep(everyMs);
    }
  }

  // Each lane has two loops, one for leases and one for reaping: a request that gets no answer does not delay the leases of other lanes.
  const loops = lanes.flatMap((lane) => [
    repeat(CANCEL_CHECK_MS, careForLeases(lane)),
    sleepers.sleep(REAP_EVERY_MS).then(() => repeat(REAP_EVERY_MS, reaping(lane))),
  ]);

  return {
    async stop() {
      sleepers.wake();
      let timer: NodeJS.Timeout | undefined;
      const longEnough = new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_WAIT_MS)));
      await Promise.race([Promise.all(loops), longEnough]);
      clearTimeout(timer);
    },
    get storeSeenAt() {
      return Math.min(...seenAt);
    },
  };
}

/** Sleeps that can be ended early, all at once and permanently. */
function createSleepers() {
  const wakers = new Set<() => void>();
  let woken = false;
  return {
    get woken() {
      return woken;
    },
    sleep: (ms: number): Promise<void> =>
      new Promise((resolve) => {
        if (woken) return resolve();
        const timer = setTimeout(() => waker(), ms);
        const waker = (): void => {
          clearTimeout(timer);
          wakers.delete(waker);
          resolve();
        };
        wakers.add(waker);
      }),
    wake(): void {
      woken = true;
      for (const waker of wakers) waker();
    },
  };
}

function reapRequest(settings: SupervisorSettings): Omit<ReapRequest, 'lane' | 'pools'> {
  return {
    limit: REAP_AT_ONCE,
    overdueMs: settings.leaseMs,
    consumerIdleMs: CONSUMER_IDLE_MS,
    retentionMs: settings.retentionMs,
    expired: encodeOutcome(errorOutcome('DEADLINE_PASSED', {})),
    timedOut: encodeOutcome(
      errorOutcome('TOOL_TIMED_OUT', { tool: 'The tool', afterMs: settings.leaseMs }, { executed: 'unknown' }),
    ),
    mayHaveRun: encodeOutcome(errorOutcome('MAY_HAVE_RUN', { tool: 'the tool' }, { executed: 'unknown' })),
    bodyLost: encodeOutcome(errorOutcome('BODY_LOST', {}, { executed: 'unknown' })),
    approvalExpired: encodeOutcome(errorOutcome('APPROVAL_EXPIRED', {})),
    sessionEnded: encodeOutcome(errorOutcome('APPROVAL_SESSION_ENDED', {})),
    audit: encode({ by: 'reaper' }),
  };
}
