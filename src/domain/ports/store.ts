import type { ApprovalStore } from './approval-store.ts';
import type { AuditJournal, AuditSource, AuditTrail } from './audit-store.ts';
import type { CallStore } from './call-store.ts';
import type { CatalogStore } from './catalog-store.ts';
import type { FleetRegistry } from './fleet-registry.ts';
import type { OutboundStore } from './outbound-store.ts';
import type { OwedStore } from './owed-store.ts';
import type { PolicyStore } from './policy-store.ts';
import type { SessionStore } from './session-store.ts';
import type { TokenStore } from './token-store.ts';

/** What every store does. Two implementations, one contract suite. */
export interface Store
  extends
    CallStore,
    ApprovalStore,
    SessionStore,
    PolicyStore,
    CatalogStore,
    FleetRegistry,
    OutboundStore,
    OwedStore,
    TokenStore,
    AuditSource {
  /** Fixed when the store was created; ids contain their lane. */
  readonly lanes: number;
  /** All lanes that have audit records: those of subjects and, on Redis, that of the deployment (`DEPLOYMENT_LANE`). */
  readonly auditLanes: readonly number[];
  /** Store time in milliseconds. */
  now(): Promise<number>;
  /** Throws if the store was flushed or replaced since it was opened. */
  checkIncarnation(): Promise<void>;
  close(): Promise<void>;
}

/** A store that keeps its audit for good, as a trail of its own. Nothing of it is drained. */
export interface TrailStore extends Store, AuditTrail {}

/** A store whose audit records wait in journals until a gateway has moved them to a sink. The sink is the trail. */
export interface JournalStore extends Store, AuditJournal {}

/** What opening a store returns. `keepsTrail` tells which of the two it is. */
export type AnyStore = TrailStore | JournalStore;

export function keepsTrail(store: AnyStore): store is TrailStore {
  return 'queryTrail' in store;
}
