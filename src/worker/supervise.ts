import { trouble } from '../domain/errors.ts';
import type { CallId, WorkerId } from '../domain/ids.ts';
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
  readonly entryId: string;
  readonly why: 'lost' | 'cancelled';
}

/** Cancellations are looked for this often: a running tool has to see its abort within a second. */
export const CANCEL_CHECK_MS = 300;
const REAP_EVERY_MS = 1000;
const REAP_AT_ONCE = 100;
const CONSUMER_IDLE_MS = 10 * 60 * 1000;
const RENEW_AT_ONCE = 200;

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
  const cancelSequences = new Map<number, string>();
  let renewedAt = performance.now();
  let reapedAt = performance.now();
  let storeSeenAt = performance.now();
  let stopping = false;

  async function round(): Promise<void> {
    const calls = readHeldCalls(held, settings.workerId);
    const due = performance.now() - renewedAt >= settings.heartbeatMs;
    if (due) renewedAt = performance.now();
    for (const [lane, ofLane] of byLane(calls, store.lanes)) {
      const cancelled = await cancelSequenceMoved(lane);
      if ((due || cancelled) && ofLane.length > 0) await renew(lane, ofLane);
    }
    if (performance.now() - reapedAt >= REAP_EVERY_MS) {
      reapedAt = performance.now();
      for (let lane = 0; lane < store.lanes; lane += 1) await store.reapCalls(reapRequest(lane, settings));
    }
    storeSeenAt = performance.now();
  }

  async function cancelSequenceMoved(lane: number): Promise<boolean> {
    const state = (await store.recheckSessions({ lane, sessions: [] })).lane;
    const moved = cancelSequences.has(lane) && cancelSequences.get(lane) !== state.cancelSequence;
    cancelSequences.set(lane, state.cancelSequence);
    return moved;
  }

  async function renew(lane: number, calls: readonly HeldCall[]): Promise<void> {
    for (let at = 0; at < calls.length; at += RENEW_AT_ONCE) {
      const some = calls.slice(at, at + RENEW_AT_ONCE).map(({ call }) => call);
      const answers = await store.renewCalls({ lane, calls: some });
      answers.forEach((answer, index) => {
        if (answer === 'renewed') return;
        const { callId, entryId } = some[index]!;
        onStop({ callId, entryId, why: answer === 'fenced' ? 'lost' : 'cancelled' });
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

function byLane(calls: readonly HeldCall[], lanes: number): Map<number, HeldCall[]> {
  const grouped = new Map<number, HeldCall[]>(Array.from({ length: lanes }, (_, lane) => [lane, []]));
  for (const held of calls) grouped.get(held.lane)?.push(held);
  return grouped;
}

function reapRequest(lane: number, settings: SupervisorSettings): ReapRequest {
  return {
    lane,
    pools: [settings.pool],
    limit: REAP_AT_ONCE,
    overdueMs: settings.leaseMs,
    consumerIdleMs: CONSUMER_IDLE_MS,
    retentionMs: settings.retentionMs,
    expired: encodeOutcome(trouble('DEADLINE_PASSED', {})),
    timedOut: encodeOutcome(trouble('TOOL_TIMED_OUT', { tool: 'The tool', afterMs: settings.leaseMs }, { executed: 'unknown' })),
    mayHaveRun: encodeOutcome(trouble('MAY_HAVE_RUN', { tool: 'the tool' }, { executed: 'unknown' })),
    bodyLost: encodeOutcome(trouble('BODY_LOST', {}, { executed: 'unknown' })),
    audit: encode({ by: 'reaper' }),
  };
}
