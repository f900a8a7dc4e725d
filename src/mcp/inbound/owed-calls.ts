import { setTimeout as pause } from 'node:timers/promises';
import { parseScopedId, type CallId } from '../../domain/ids.ts';
import type { SessionHandle } from '../../domain/session.ts';
import type { OwedStore } from '../../ports/owed-store.ts';
import type { Log } from '../../ports/log.ts';
import { callIdFor, randomId } from '../../wire/ids.ts';
import { NOTICE_GONE_MS, OpenRequests } from './open-requests.ts';

/** Another gateway that does not beat for a lease is dead, and what it held is owed. */
const LEASE_MS = 3000;
const BEAT_MS = 1000;
/** Between two looks at an entry that another gateway holds: it may let go of it at any time. */
const LOOK_EVERY_MS = 50;

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
  /** Its client has to come back for it; not before `afterMs`, if it has another way until then. */
  owe(options?: { readonly afterMs?: number; readonly lifetimeMs?: number }): Promise<void>;
}

export interface EarlierCall {
  readonly callId: CallId;
  readonly madeAt: number;
}

export interface HoldOptions {
  readonly lifetimeMs: number;
  /** Takes nothing: the client wants another call. */
  readonly fresh?: boolean;
  /** Only the entry of this call. */
  readonly of?: CallId;
  /** A client that has gone needs no answer. */
  readonly signal: AbortSignal;
  /**
   * Whether the connection of the request is gone. Such a request makes no call while an identical one is open: that one is its repeat,
   * which the system handed to this process first.
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

type Release =
  | { readonly to: 'gone' }
  | { readonly to: 'owed'; readonly owedAfterMs?: number; readonly lifetimeMs: number };

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
  /** Releases that the store did not take; the next beat tries again. */
  const unsent = new Map<Entry, Release>();
  /** Releases under way, by digest: a repeat must not find an entry held that was let go of already. */
  const releasing = new Map<string, readonly Promise<void>[]>();
  let beats: NodeJS.Timeout | undefined;

  function beat(): void {
    for (const [entry, change] of unsent) void send(entry, change);
    const lanes = new Set([...held].map(({ lane }) => lane));
    if (lanes.size === 0 && unsent.size === 0) {
      clearInterval(beats);
      beats = undefined;
    }
    for (const lane of lanes)
      store.beatOwed({ lane, holder }).catch((error: unknown) => log.warn({ error }, 'a beat could not be written'));
  }

  function keep(entry: Entry): void {
    held.add(entry);
    beats ??= setInterval(beat, BEAT_MS).unref();
  }

  async function send(entry: Entry, change: Release): Promise<void> {
    const { callId, attempt } = entry;
    try {
      await store.releaseOwed({ callId, attempt, ...change });
      unsent.delete(entry);
    } catch (error) {
      unsent.set(entry, change);
      beats ??= setInterval(beat, BEAT_MS).unref();
      log.warn({ error, callId }, 'an owed call could not be released; it is tried again');
    }
  }

  function release(entry: Entry, change: Release): Promise<void> {
    const { digest, place } = entry;
    const wasHeld = held.delete(entry);
    const sending = send(entry, change);
    releasing.set(digest, [...(releasing.get(digest) ?? []), sending]);
    if (wasHeld) open.leave(place, change.to === 'owed' && (change.owedAfterMs ?? 0) === 0);
    return sending.finally(() => {
      const left = (releasing.get(digest) ?? []).filter((other) => other !== sending);
      if (left.length === 0) releasing.delete(digest);
      else releasing.set(digest, left);
    });
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
    };
  }

  return {
    async hold(session, digest, { signal, isLost, ...options }) {
      const callId = callIdFor(session.id, randomId())!;
      const { lane, scope } = parseScopedId(callId)!;
      const place = `${scope} ${digest}`;
      const mayWait = options.fresh !== true && options.of === undefined;
      const isSecond = mayWait && (await open.notice(place, signal));
      if (isSecond && isLost?.() === true) return { kind: 'aborted' };
      await Promise.all(releasing.get(digest) ?? []);
      open.enter(place);
      let entry: Entry | undefined;
      try {
        let waitingSince: number | undefined;
        for (;;) {
          const since = waitingSince === undefined ? {} : { waitingSince };
          const answer = await store.holdOwed({ callId, digest, holder, leaseMs: LEASE_MS, ...options, ...since });
          if (answer.kind === 'none' || answer.kind === 'full') return answer;
          if (answer.kind !== 'wait') {
            const earlier = answer.kind === 'taken' ? answer : undefined;
            const { lifetimeMs } = options;
            entry = { callId: earlier?.callId ?? callId, attempt: callId, digest, lane, place, lifetimeMs };
            keep(entry);
            return { kind: 'held', held: toHeld(entry, earlier) };
          }
          if (signal.aborted) return { kind: 'aborted' };
          // The other gateway too needs a moment to notice that a connection is gone: an earlier beat of it says nothing.
          waitingSince ??= answer.since + NOTICE_GONE_MS;
          await pause(LOOK_EVERY_MS);
        }
      } finally {
        if (entry === undefined) open.leave(place, false);
      }
    },
    async handOver() {
      const entries = [...held];
      await Promise.all(entries.map((entry) => release(entry, { to: 'owed', lifetimeMs: entry.lifetimeMs })));
      clearInterval(beats);
      beats = undefined;
    },
  };
}
