import type { Database } from '../sqlite/database.ts';
import type { Lane } from './lane.ts';
import type { Replies } from './replies.ts';
import type { RowCache } from './row-cache.ts';

/** What a transition works on. A transition is a plain function inside the current transaction: it does not wait, and does not commit. */
export interface Transaction {
  readonly database: Database;
  readonly lane: Lane;
  readonly rows: RowCache;
  /** Store time, the same for everything in one commit. */
  readonly now: number;
  /** Runs the long polls on this topic again before the commit. */
  readonly wake: (topic: string) => void;
  readonly file: StoreIdentity;
  readonly replies: Replies;
}

export interface StoreIdentity {
  readonly incarnation: string;
  /** Store time at which the file was opened. */
  readonly openedAt: number;
  /** False once the file at the store's path is no longer the one that was opened. */
  readonly isInPlace: () => boolean;
}

export const poolTopic = (pool: string): string => `pool ${pool}`;
export const callerTopic = (callerId: string): string => `caller ${callerId}`;
export const CATALOG_TOPIC = 'catalog';
export const OUTBOUND_TOPIC = 'outbound';
