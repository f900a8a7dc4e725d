import { trouble } from '../domain/errors.ts';
import { nestedPool, type CallId, type WorkerId } from '../domain/ids.ts';
import type { ReapAnswer, ReapRequest } from '../ports/call-store.ts';
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
  readonly entryId: string;
  readonly fence: number;
  readonly why: 'lost' | 'cancelled';
}

/** Cancellations are looked for this often: a running tool has to see its abort within a second. */
export const CANCEL_CHECK_MS = 300;
/** A call taken up just after a glance is looked after one round later: still far within a second. */
const GLANCE_MS = 50;
const REAP_EVERY_MS = 1000;
const REAP_AT_ONCE = 100;
const CONSUMER_IDLE_MS = 10 * 60 * 1000;
const CONSUMERS_EVERY_MS = 60 * 1000;
const RENEW_AT_ONCE = 200;
const MOST_PAGES = 50;

/** A request under way gets so long when we stop: one that never ends must not keep the worker. */
const STOP_WAIT_MS = 1000;

export interface Supervision {
  /** Resolves when what is under way has ended; a lane that does not answer is not waited for. */
  stop(): Promise<void>;
  /** Monotonic time of the last answer of the lane that has been silent longest. */
  readonly storeSeenAt: number;
}

/** Renews leases, passes cancellations on and reaps; runs in a thread of its own, beside whatever the tools do. */
export function supervise(
  store: Store,
  held: SharedArrayBuffer,
  settings: SupervisorSettings,
  onStop: (order: StopOrder) => void,
  onTrouble: (error: unknown) => void,
  onReaped: (reaped: ReapAnswer) => void = () => undefined,
): Supervision {
  const lanes = Array.from({ length: store.lanes }, (_, lane) => lane);
  const seenAt = lanes.map(() => performance.now());
  const sleepers = createSleepers();

  /** Leases and cancellations of one lane. Where nothing is held, nothing can be renewed or cancelled, and nothing is asked. */
  function careForLeases(lane: number): () => Promise<void> {
    let renewedAt = Number.NEGATIVE_INFINITY;
    let known: string | undefined;
    return async () => {
      if (!holdsIn(lane)) {
        known = undefined;
        return;
      }
      const { cancelSequence } = (await store.recheckSessions({ lane, sessions: [] })).lane;
      const now = (seenAt[lane] = performance.now());
      // Unknown counts as moved: the call may have been cancelled before we first looked at it.
      if (known !== cancelSequence || now - renewedAt >= settings.heartbeatMs) {
        // Read after the sequence: a call taken up in between must hear of its cancellation too.
        await renew(lane, heldIn(lane));
        renewedAt = now;
      }
      // Only now: a renewal that failed must be tried again in the next round.
      known = cancelSequence;
    };
  }

  const heldIn = (lane: number): HeldCall[] =>
    readHeldCalls(held, settings.workerId).filter((each) => each.lane === lane);

  let glance = { at: Number.NEGATIVE_INFINITY, lanes: new Set<number>() };
  /** All lanes look at about the same time; with thousands of held calls one reading has to do for them. */
  function holdsIn(lane: number): boolean {
    const now = performance.now();
    if (now - glance.at >= GLANCE_MS) {
      glance = { at: now, lanes: new Set(readHeldCalls(held, settings.workerId).map((each) => each.lane)) };
    }
    return glance.lanes.has(lane);
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

  /** Page after page, so that a crowd of expired calls is answered in time. */
  function reaping(lane: number): () => Promise<void> {
    const everyPool = [settings.pool, nestedPool(settings.pool)];
    let consumersAt = Number.NEGATIVE_INFINITY;
    return async () => {
      for (let page = 0; page < MOST_PAGES && !sleepers.woken; page += 1) {
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
        if (!sleepers.woken) onTrouble(error);
      }
      await sleepers.sleep(everyMs);
    }
  }

  // Every lane by itself, and its leases apart from its reaping: whatever does not answer costs no other call its lease.
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

/** Sleeps that can be cut short, all at once and for good. */
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
    expired: encodeOutcome(trouble('DEADLINE_PASSED', {})),
    timedOut: encodeOutcome(
      trouble('TOOL_TIMED_OUT', { tool: 'The tool', afterMs: settings.leaseMs }, { executed: 'unknown' }),
    ),
    mayHaveRun: encodeOutcome(trouble('MAY_HAVE_RUN', { tool: 'the tool' }, { executed: 'unknown' })),
    bodyLost: encodeOutcome(trouble('BODY_LOST', {}, { executed: 'unknown' })),
    approvalExpired: encodeOutcome(trouble('APPROVAL_EXPIRED', {})),
    sessionEnded: encodeOutcome(trouble('APPROVAL_SESSION_ENDED', {})),
    audit: encode({ by: 'reaper' }),
  };
}
