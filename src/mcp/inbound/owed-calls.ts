import { setTimeout as pause } from 'node:timers/promises';
import { parseScopedId, type CallId } from '../../domain/ids.ts';
import type { SessionHandle } from '../../domain/session.ts';
import type { HoldOwedRequest, OwedStore, ReleaseOwedRequest } from '../../ports/owed-store.ts';
import type { Log } from '../../ports/log.ts';
import { callIdFor, randomId } from '../../wire/ids.ts';
import { NOTICE_GONE_MS, OpenRequests } from './open-requests.ts';
import { MAX_UNFINISHED, mayBeDone, UnfinishedWork } from './unfinished-work.ts';

/** Another gateway that does not beat for a lease is dead, and what it held is owed. */
const LEASE_MS = 3000;
const BEAT_MS = 1000;
/** Between two looks at an entry that another gateway holds: it may let go of it at any time. */
const LOOK_EVERY_MS = 50;
const NO_BEAT = 'beats of held calls could not be written';

/** An entry that this gateway holds for a request. */
export interface HeldCall {
  /** The key that the call is made with, so that it is made once. */
  readonly key: string;
  readonly callId: CallId;
  readonly digest: string;
  /** Set when it is a call that was made before. */
  readonly earlier?: EarlierCall;
  /** Its outcome was written to a client. */
  leave(): Promise<void>;
  /** Its client is told to come back for it; not before `afterMs`, if it has another way until then. By default it is kept as long as held calls. */
  owe(options?: { readonly afterMs?: number; readonly lifetimeMs?: number }): Promise<void>;
  /** Its client has no answer, and may have come back already. Also after `owe`, when the answer was lost. */
  lose(): Promise<void>;
}

export interface EarlierCall {
  readonly callId: CallId;
  readonly madeAt: number;
}

export interface HoldOptions {
  /** How long the entry is kept when its request is over, or this gateway is killed. */
  readonly lifetimeMs: number;
  /** When the request came, by this process' `performance.now()`. */
  readonly cameAt: number;
  /** Takes nothing: the client wants another call. */
  readonly fresh?: boolean;
  /** Only the entry of this call. */
  readonly of?: CallId;
  /** A client that has gone needs no answer. */
  readonly signal: AbortSignal;
  /**
   * Whether the connection of the request is gone. A request that was lost before it holds an entry makes no call: its client may have
   * sent it again, and the repeat finds nothing that it could take. The system may also have handed the second connection to this
   * process before it reported the end of the first.
   */
  readonly isLost?: () => boolean;
}

export type Holding =
  | { readonly kind: 'held'; readonly held: HeldCall }
  | { readonly kind: 'none' | 'aborted' }
  | { readonly kind: 'full'; readonly of: 'subject' | 'store' };

/** What this gateway holds among the calls owed. See `OwedStore` for the rules. */
export interface OwedCalls {
  hold(session: Pick<SessionHandle, 'id'>, digest: string, options: HoldOptions): Promise<Holding>;
  /** The gateway stops: whatever it holds is owed from now on. */
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
  /** Subject and digest: where identical requests meet. */
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
      // When it is sent again the client was told long ago, and its repeat may have come before the store knows.
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
   * The answer to this request was lost, and the store may have carried it out. Asked for its own id, the store tells what the request
   * holds, and neither takes nor makes anything else.
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
          // The other gateway too needs a moment to notice that a connection is gone: an earlier beat of it says nothing.
          waitingSince ??= answer.since + NOTICE_GONE_MS;
          await pause(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
          // The repeat of a lost request may be waiting here too. It must find the entry, and not this request as its holder.
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
