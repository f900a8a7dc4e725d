import type { CallId } from '../identity/ids.ts';

/**
 * Calls owed: MCP calls whose client still has to get the outcome. The gateway asked the client to come back, or the connection was lost
 * before the outcome was sent. The client does not know the id of such a call. It sends the same request again, and that repeat takes
 * exactly one of these calls.
 *
 * An entry is created before its call is accepted. It contains the id, and so the key, that the call will have. A request that takes the
 * entry calls with that key, so the plane replays the call, attaches to it, or runs it for the first time. A crash therefore cannot cause
 * two effects from one entry.
 *
 * While a live gateway has the request open, it holds the entry, and no other request can take it. A gateway that was killed cannot release
 * its entries. So if an entry is held by another gateway, the request waits. If that gateway sends a beat, it is live. If it sends none for
 * a whole lease, it is dead, and the request takes the entry. Entries are in the lane of their subject; time is the store's; each method is
 * one atomic step and may be repeated.
 */
export interface OwedStore {
  /**
   * Takes the oldest call with this digest that was owed before the request arrived at the gateway. If there is none, creates an entry.
   * Counts as a beat of the holder. If two equal requests arrive together, the second is not a repeat of the first: it takes the first
   * one's call only if the first one's connection is lost.
   */
  holdOwed(request: HoldOwedRequest): Promise<HoldOwedAnswer>;
  /**
   * Ends the hold of an entry; `to` states what becomes of it. Changes nothing and answers `gone` if another request has taken the entry
   * since, or the entry no longer exists.
   */
  releaseOwed(request: ReleaseOwedRequest): Promise<'released' | 'gone'>;
  /** Records that the holder is live, so that its entries in this lane do not expire. */
  beatOwed(request: { readonly lane: number; readonly holder: string }): Promise<void>;
}

export interface HoldOwedRequest {
  /**
   * The id that a new call gets if no call is owed. It also identifies this attempt: repeating the request with the same id gets the same
   * answer.
   */
  readonly callId: CallId;
  /** Digest over agent, tool and arguments. The store does not keep the arguments. */
  readonly digest: string;
  /** Id of the gateway process, new after each start. */
  readonly holder: string;
  /** How long the entry is kept after its holder has died. While the holder is live, its entries do not expire. */
  readonly lifetimeMs: number;
  /** A holder that sends no beat for this long is dead. */
  readonly leaseMs: number;
  /**
   * Absent in the first request of an attempt. After a `wait` answer: the `since` of that answer, or a little later. A holder whose last
   * beat is after this store time is live.
   */
  readonly waitingSince?: number;
  /** How long ago the request arrived at the gateway. */
  readonly waitedMs?: number;
  /** Always creates an entry and takes no owed call: the client asked for a new call. */
  readonly fresh?: boolean;
  /**
   * Takes the entry of this call, because the client sent its id back. Takes it from another holder too, and never creates an entry. The
   * digest must match: call ids are not secret, and one agent must not get a call of another agent.
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
  /** The `callId` of the `holdOwed` request that holds the entry. */
  readonly attempt: CallId;
} & (
  | {
      /** The outcome was sent to a client. */
      readonly to: 'gone';
    }
  | {
      /** The gateway asked the client to come back. The call is owed to requests that arrive from now on. */
      readonly to: 'owed';
      /**
       * The call becomes owed only after this time. Until then the client still shows a form for the call, and answering the form continues
       * it.
       */
      readonly owedAfterMs?: number;
      /** How long the entry is kept, from when the call is owed. */
      readonly lifetimeMs: number;
    }
  | {
      /** The client got no answer. The call is owed to every request, including one that arrived earlier. */
      readonly to: 'lost';
      readonly lifetimeMs: number;
    }
);

/** Max entries of one subject. A further entry evicts the one that expires first, among those that no live gateway holds. */
export const MAX_OWED_PER_SUBJECT = 1000;

/**
 * The store writes the beats of a holder at most every `everyMs`. Without a beat for `silentMs` a holder is dead: its entries may expire
 * and be evicted.
 */
export const OWED_BEATS = Object.freeze({ everyMs: 250, silentMs: 60_000 });
