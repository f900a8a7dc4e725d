import type { CallId } from '../identity/ids.ts';

/**
 * Calls owed: MCP calls whose client was told to come back, or whose request was lost before its outcome was sent. A client cannot name
 * such a call. It sends the same request again, and the repeat takes exactly one of them.
 *
 * An entry is created before its call is accepted. It contains the id, and so the key, that the call will have. A request that takes the
 * entry calls with that key: the plane replays, attaches, or runs the call for the first time. So no crash can cause two effects from one
 * entry.
 *
 * An entry is held while its request is open at a live gateway, and no other request can take it. A killed holder cannot report its own
 * death. So a request that finds an entry of another holder waits until that holder has sent a beat (it is live), or has sent none for a
 * whole lease (it is dead). Entries are in the lane of their subject; time is the store's; each method is one atomic step and may be
 * repeated.
 */
export interface OwedStore {
  /**
   * Takes the oldest call with this digest that was already owed when the request arrived, or creates an entry. Counts as a beat of the
   * holder. Of two requests that arrive together, the second cannot be a repeat caused by the first one's answer: it takes that call only
   * if the first one's connection was lost.
   */
  holdOwed(request: HoldOwedRequest): Promise<HoldOwedAnswer>;
  /** Changes nothing if another request has taken the entry since, or the entry is gone. */
  releaseOwed(request: ReleaseOwedRequest): Promise<'released' | 'gone'>;
  /** Records that the holder is live, and keeps what it holds in this lane. */
  beatOwed(request: { readonly lane: number; readonly holder: string }): Promise<void>;
}

export interface HoldOwedRequest {
  /** The id for a new call if none is owed. It also identifies the attempt: the same request again gets the same answer. */
  readonly callId: CallId;
  /** Digest over agent, tool and arguments. The store does not keep the arguments. */
  readonly digest: string;
  /** The gateway process; a new value after each start. */
  readonly holder: string;
  /** How long the entry is kept after its holder has died. While the holder is live, its entries do not expire. */
  readonly lifetimeMs: number;
  /** A holder that sends no beat for this long is dead. */
  readonly leaseMs: number;
  /**
   * Store time after which another holder must have sent a beat to count as live: the `since` of the first `wait` answer to this attempt,
   * or a little later. Absent in the first request of an attempt.
   */
  readonly waitingSince?: number;
  /** How long ago the request arrived at the gateway. */
  readonly waitedMs?: number;
  /** Take no owed call: the client wants a new one. */
  readonly fresh?: boolean;
  /**
   * Takes the entry of this call, also from another holder, because its client came back with its id. Creates no entry. An entry with
   * another digest is not taken: an id is no secret, and a call owed to one agent must not be handed to another.
   */
  readonly of?: CallId;
}

export type HoldOwedAnswer =
  | { readonly kind: 'made' }
  | { readonly kind: 'taken'; readonly callId: CallId; readonly madeAt: number }
  /** Another gateway holds a matching entry and may be dead. Ask again with `waitingSince`. */
  | { readonly kind: 'wait'; readonly since: number }
  /** There is no entry for the call in `of` with this digest. */
  | { readonly kind: 'none' }
  /** The subject has the max number of open requests, or the store is at its memory limit. No entry is held. */
  | { readonly kind: 'full'; readonly of: 'subject' | 'store' };

export type ReleaseOwedRequest = {
  /** The call of the entry. */
  readonly callId: CallId;
  /** The `callId` of the `holdOwed` request that holds it. */
  readonly attempt: CallId;
} & (
  | {
      /** The outcome was sent to a client. */
      readonly to: 'gone';
    }
  | {
      /** The client was told to come back: owed to requests that arrive from now on. */
      readonly to: 'owed';
      /** The call is owed only after this time: until then its client has another way to come back. */
      readonly owedAfterMs?: number;
      /** How long the entry is kept, from when the call is owed. */
      readonly lifetimeMs: number;
    }
  | {
      /** The client got no answer: owed to every request, also to one that arrived before this. */
      readonly to: 'lost';
      readonly lifetimeMs: number;
    }
);

/** Max entries of one subject. Beyond it, the entry that expires first is evicted, among those that no live gateway holds. */
export const MAX_OWED_PER_SUBJECT = 1000;

/** A beat is written at most every `everyMs`. A holder without one for `silentMs` is dead: its entries may expire and be evicted. */
export const OWED_BEATS = Object.freeze({ everyMs: 250, silentMs: 60_000 });
