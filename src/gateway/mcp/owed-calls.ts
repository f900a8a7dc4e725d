import { parseScopedId, type CallId } from '../../domain/identity/ids.ts';
import type { SessionHandle } from '../../domain/identity/session.ts';
import type { HoldOwedRequest, OwedStore, ReleaseOwedRequest } from '../../domain/ports/owed-store.ts';
import type { Log } from '../../domain/ports/log.ts';
import { callIdFor, randomId } from '../../domain/identity/new-id.ts';
import { NOTICE_GONE_MS, OpenRequests } from './open-requests.ts';
import { MAX_UNFINISHED, mayBeDone, UnfinishedWork } from './unfinished-work.ts';
import { pause } from '../../base/pause.ts';

/**
 * If a gateway writes no beat to the store for this long, it counts as dead: repeats at other gateways can then take the calls that it
 * held.
 */
const LEASE_MS = 3000;
const BEAT_MS = 1000;
/** Time between two polls of an entry that another gateway holds. That gateway may release it at any time. */
const LOOK_EVERY_MS = 50;
const NO_BEAT = 'beats of held calls could not be written';

/** An entry among the calls owed that this gateway holds for an open request. Meanwhile no other request can take the call. */
export interface HeldCall {
  /** The idempotency key of the call: every request that takes this entry uses it, so the call is made only once. */
  readonly key: string;
  readonly callId: CallId;
  readonly digest: string;
  /** Set if the call was already made by an earlier request. */
  readonly earlier?: EarlierCall;
  /** Removes the entry: the outcome was written to a client. */
  leave(): Promise<void>;
  /**
   * Lets a repeat that arrives from now on take the call, because the client is asked to come back. With `afterMs`, only a repeat after
   * that time can take it: until then the client has another way to come back. The default `lifetimeMs` is that of the held entry.
   */
  owe(options?: { readonly afterMs?: number; readonly lifetimeMs?: number }): Promise<void>;
  /**
   * Lets any repeat take the call, even one that has already arrived, because the client got no answer. Also used after `owe`, if the
   * answer could not be written.
   */
  lose(): Promise<void>;
}

export interface EarlierCall {
  readonly callId: CallId;
  readonly madeAt: number;
}

export interface HoldOptions {
  /** How long the entry is kept after its request is over or this gateway was killed. */
  readonly lifetimeMs: number;
  /** When the request arrived, by this process's `performance.now()`. */
  readonly cameAt: number;
  /** Take no earlier call: the client wants a new one. */
  readonly fresh?: boolean;
  /** Take only the entry of this call. */
  readonly of?: CallId;
  /** Aborted when the client has gone and needs no answer. */
  readonly signal: AbortSignal;
  /**
   * Whether the connection of the request is gone. If it is lost before the request holds an entry, the request makes no call: its client
   * may have sent it again, the repeat found no entry, and both would make the call. The repeat can arrive before this process learns of
   * the loss.
   */
  readonly isLost?: () => boolean;
}

export type Holding =
  | { readonly kind: 'held'; readonly held: HeldCall }
  | { readonly kind: 'none' | 'aborted' }
  | { readonly kind: 'full'; readonly of: 'subject' | 'store' };

/**
 * This gateway's part in the calls owed: those whose client was asked to come back, or lost its connection before the answer. See
 * `OwedStore`.
 */
export interface OwedCalls {
  hold(session: Pick<SessionHandle, 'id'>, digest: string, options: HoldOptions): Promise<Holding>;
  /**
   * Called when the gateway stops: releases all entries that it holds, so that the clients can come back for their calls at another
   * gateway.
   */
  handOver(): Promise<void>;
}

type Change =
  | { readonly to: 'gone' }
  | { readonly to: 'owed'; readonly owedAfterMs: number; readonly lifetimeMs: number }
  | { readonly to: 'lost'; readonly lifetimeMs: number };

const HOW_LEFT = { gone: 'over', owed: 'told', lost: 'lost' } as const;

interface Entry {
  readonly callId: CallId;
  readonly attempt: CallId;
  readonly digest: string;
  readonly lane: number;
  /** Subject and digest. Identical requests have the same place. */
  readonly place: string;
  readonly lifetimeMs: number;
}

export function createOwedCalls(store: OwedStore, log: Pick<Log, 'warn'>): OwedCalls {
  const holder = randomId();
  const held = new Set<Entry>();
  const open = new OpenRequests();
  const unfinished = new UnfinishedWork(log);
  let beats: NodeJS.Timeout | undefined;

  function beat(): void {
    unfinished.report();
    unfinished.retry();
    const lanes = new Set([...held].map(({ lane }) => lane));
    if (lanes.size === 0 && unfinished.size === 0) {
      clearInterval(beats);
      beats = undefined;
    }
    for (const lane of lanes)
      store.beatOwed({ lane, holder }).catch((error: unknown) => unfinished.failed(NO_BEAT, error));
  }

  function keepBeating(): void {
    beats ??= setInterval(beat, BEAT_MS).unref();
  }

  function release(entry: Entry, change: Change): Promise<void> {
    const { callId, attempt, digest, place } = entry;
    const wasHeld = held.delete(entry);
    let next: ReleaseOwedRequest = { callId, attempt, ...change };
    const work = unfinished.add(entry, digest, () => {
      const now = next;
      // If this attempt fails, the next one marks the call as lost. The client was asked to come back, so its repeat may arrive before the
      // store records the release. A call marked as lost can be taken by such a repeat, too.
      if (now.to === 'owed' && now.owedAfterMs === 0) next = { ...now, to: 'lost' };
      return store.releaseOwed(now);
    });
    keepBeating();
    const sending = work.attempt();
    if (wasHeld) open.leave(place, HOW_LEFT[change.to]);
    else if (change.to === 'lost') open.wake(place);
    return sending.catch(() => undefined);
  }

  /**
   * Undoes a `holdOwed` that failed although the store may have carried it out. With `of` set to the request's own id, the store reports
   * what the request holds, and neither takes nor creates anything else.
   */
  function undo(request: HoldOwedRequest): void {
    const { callId, digest, lifetimeMs } = request;
    unfinished.add(request, digest, async () => {
      const answer = await store.holdOwed({ ...request, of: callId });
      if (answer.kind === 'made') await store.releaseOwed({ callId, attempt: callId, to: 'gone' });
      if (answer.kind === 'taken')
        await store.releaseOwed({ callId: answer.callId, attempt: callId, to: 'lost', lifetimeMs });
    });
    keepBeating();
  }

  function toHeld(entry: Entry, earlier?: EarlierCall): HeldCall {
    return {
      key: parseScopedId(entry.callId)!.rest,
      callId: entry.callId,
      digest: entry.digest,
      ...(earlier === undefined ? {} : { earlier }),
      leave: () => release(entry, { to: 'gone' }),
      owe: ({ afterMs = 0, lifetimeMs = entry.lifetimeMs } = {}) =>
        release(entry, { to: 'owed', owedAfterMs: afterMs, lifetimeMs }),
      lose: () => release(entry, { to: 'lost', lifetimeMs: entry.lifetimeMs }),
    };
  }

  return {
    async hold(session, digest, { signal, isLost, cameAt, ...options }) {
      const callId = callIdFor(session.id, randomId())!;
      const { lane, scope } = parseScopedId(callId)!;
      const place = `${scope} ${digest}`;
      if (options.fresh === true || options.of !== undefined) open.enter(place);
      else await open.enterInTurn(place, signal);
      let entry: Entry | undefined;
      try {
        await unfinished.finish(digest);
        if (unfinished.size >= MAX_UNFINISHED) return { kind: 'full', of: 'store' };
        if (isLost?.() === true) return { kind: 'aborted' };
        let waitingSince: number | undefined;
        for (;;) {
          const since = waitingSince === undefined ? {} : { waitingSince };
          const waitedMs = performance.now() - cameAt;
          const request = { callId, digest, holder, leaseMs: LEASE_MS, ...options, ...since, waitedMs };
          const answer = await store.holdOwed(request).catch((error: unknown) => {
            if (mayBeDone(error)) undo(request);
            throw error;
          });
          if (answer.kind === 'none' || answer.kind === 'full') return answer;
          if (answer.kind !== 'wait') {
            const earlier = answer.kind === 'taken' ? answer : undefined;
            const { lifetimeMs } = options;
            entry = { callId: earlier?.callId ?? callId, attempt: callId, digest, lane, place, lifetimeMs };
            held.add(entry);
            keepBeating();
            return { kind: 'held', held: toHeld(entry, earlier) };
          }
          // A live gateway releases an entry when its client has gone, but needs up to `NOTICE_GONE_MS` to notice that. So only a beat
          // after that time shows that the client is still there.
          waitingSince ??= answer.since + NOTICE_GONE_MS;
          await pause(LOOK_EVERY_MS, signal);
          // A lost request must not become the holder: its repeat may be waiting here too, and has to find the entry free.
          if (signal.aborted || isLost?.() === true) return { kind: 'aborted' };
        }
      } finally {
        if (entry === undefined) open.leave(place, 'over');
      }
    },
    async handOver() {
      const entries = [...held];
      await Promise.all(entries.map((entry) => release(entry, { to: 'lost', lifetimeMs: entry.lifetimeMs })));
      clearInterval(beats);
      beats = undefined;
      unfinished.report();
    },
  };
}
