import type { CallId } from '../domain/ids.ts';

/**
 * Calls owed: MCP calls whose client was told to come back, or whose request was lost before its outcome was written. A client cannot
 * name such a call; it sends the same request again, and the repeat takes exactly one of them.
 *
 * An entry is made before its call is accepted and names the id, and so the key, that the call will have. Whoever takes the entry calls
 * with that key: the plane replays, attaches, or runs the call for the first time. So no crash can make two effects of one entry.
 *
 * An entry is held while its request is open at a living gateway, and no other request can take it. A holder that is killed cannot say so: a
 * request that finds an entry of another holder waits until that holder has beaten since (it lives), or has not for a whole lease.
 * Entries lie in the lane of their subject; time is the store's; each method is one atomic step and may be repeated.
 */
export interface OwedStore {
  /**
   * Takes the oldest call with this digest that was owed when the request came, or makes an entry. Counts as a beat of the holder. Of two
   * requests that came together, the second cannot be a repeat of the first one's answer: it takes that call only if its connection was
   * lost.
   */
  holdOwed(request: HoldOwedRequest): Promise<HoldOwedAnswer>;
  /** Changes nothing if another request has taken the entry since, or it is gone. */
  releaseOwed(request: ReleaseOwedRequest): Promise<'released' | 'gone'>;
  /** The holder lives, and so does what it holds in this lane. */
  beatOwed(request: { readonly lane: number; readonly holder: string }): Promise<void>;
}

export interface HoldOwedRequest {
  /** The id of the call that is made if none is owed. It names the attempt too: the same request again gets the same answer. */
  readonly callId: CallId;
  /** Digest over agent, tool and arguments. The store holds no argument. */
  readonly digest: string;
  /** The gateway process; another one after each start. */
  readonly holder: string;
  /** How long the entry is kept after its holder has died. While the holder lives, what it holds does not expire. */
  readonly lifetimeMs: number;
  /** A holder that does not beat for so long is dead. */
  readonly leaseMs: number;
  /**
   * The store's time from which on another holder has to beat to count as alive: the `since` of the first `wait` that this attempt was
   * answered with, or a little later. Absent in the first request of an attempt.
   */
  readonly waitingSince?: number;
  /** How long ago the request came to the gateway. */
  readonly waitedMs?: number;
  /** Takes nothing: the client wants another call. */
  readonly fresh?: boolean;
  /**
   * Takes the entry of this call, also from another holder: its client came back with its id. Makes none. An entry with another digest
   * stays: an id is no secret, and what is owed to one agent is not paid to another one.
   */
  readonly of?: CallId;
}

export type HoldOwedAnswer =
  | { readonly kind: 'made' }
  | { readonly kind: 'taken'; readonly callId: CallId; readonly madeAt: number }
  /** Another gateway holds one, and may be dead. Ask again, with `waitingSince`. */
  | { readonly kind: 'wait'; readonly since: number }
  /** There is no entry of the call in `of` with this digest. */
  | { readonly kind: 'none' }
  /** As many requests of this subject are open as there may be, or the store is at its memory limit. Nothing is held. */
  | { readonly kind: 'full'; readonly of: 'subject' | 'store' };

export type ReleaseOwedRequest = {
  /** The call of the entry. */
  readonly callId: CallId;
  /** The `callId` of the `holdOwed` that holds it. */
  readonly attempt: CallId;
} & (
  | {
      /** Its outcome was written to a client. */
      readonly to: 'gone';
    }
  | {
      /** Its client is told to come back: owed to requests that come from now on. */
      readonly to: 'owed';
      /** Owed only after this time: until then its client has another way to come back. */
      readonly owedAfterMs?: number;
      /** How long it is kept from when it is owed. */
      readonly lifetimeMs: number;
    }
  | {
      /** Its client had no answer: owed to every request, also to one that came before this. */
      readonly to: 'lost';
      readonly lifetimeMs: number;
    }
);

/** Entries of one subject. Past it the one that would expire first goes, of those that no living gateway holds. */
export const MAX_OWED_PER_SUBJECT = 1000;

/** A beat is written at most every `everyMs`. A holder without one for `silentMs` has died: what it holds may expire and make room. */
export const OWED_BEATS = Object.freeze({ everyMs: 250, silentMs: 60_000 });
