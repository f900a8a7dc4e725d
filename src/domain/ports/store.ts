import type {
  ApprovalAsking,
  ApprovalDesk,
  ApprovalReader,
  ApprovalStates,
  ApprovalStore,
  CallbackClaims,
  GrantDesk,
  GrantUse,
} from './approval-store.ts';
import type { AuditJournal, AuditSource, AuditStates, AuditTrail, MarkReader } from './audit-store.ts';
import type {
  CallCancellation,
  CallExecution,
  CallHolders,
  CallIntake,
  CallLeases,
  CallList,
  CallQueue,
  CallReader,
  CallReaper,
  CallReplies,
  CallResolution,
  CallStore,
  QueueReader,
} from './call-store.ts';
import type {
  CatalogPublishing,
  CatalogReader,
  CatalogStore,
  CatalogWatch,
  CatalogWithdrawal,
} from './catalog-store.ts';
import type { FleetReader, FleetRegistry } from './fleet-registry.ts';
import type { CallRedirects, EffectDelivery, OutboundStore } from './outbound-store.ts';
import type { OwedStore } from './owed-store.ts';
import type { OfferReports, PinReader, PinStore, PinWriter } from './pin-store.ts';
import type { PolicyReader, PolicyStore, PolicyWatch, PolicyWriter } from './policy-store.ts';
import type {
  RunEnds,
  SessionCare,
  SessionList,
  SessionOpening,
  SessionProof,
  SessionReader,
  SessionStore,
  ToolInjection,
} from './session-store.ts';
import type { TokenStore } from './token-store.ts';

export interface StoreLanes {
  /** Fixed when the store was created; ids contain their lane. */
  readonly lanes: number;
}

export interface StoreTime {
  /** Store time in milliseconds. */
  now(): Promise<number>;
}

export interface IncarnationCheck {
  /** Throws if the store was flushed or replaced since it was opened. */
  checkIncarnation(): Promise<void>;
}

export interface Closable {
  close(): Promise<void>;
}

/**
 * What every store does. There are two implementations, embedded and Redis, and one contract suite tests both. Code that uses a store takes
 * one of the roles below, or single ports.
 */
export interface Store
  extends
    StoreLanes,
    StoreTime,
    IncarnationCheck,
    Closable,
    CallStore,
    ApprovalStore,
    SessionStore,
    PolicyStore,
    PinStore,
    CatalogStore,
    FleetRegistry,
    OutboundStore,
    OwedStore,
    TokenStore,
    AuditSource {}

/** A store that keeps its own audit trail permanently. Its records are never drained. */
export interface TrailStore extends Store, AuditTrail {}

/** A store whose audit records wait in journals until a gateway has moved them to a sink. The sink is the trail. */
export interface JournalStore extends Store, AuditJournal {}

/** What opening a store returns. Call `keepsTrail` to find out which of the two kinds it is. */
export type AnyStore = TrailStore | JournalStore;

export function keepsTrail(store: AnyStore): store is TrailStore {
  return 'queryTrail' in store;
}

/** What a client needs: sessions, calls and their outcomes, and the decisions of approvers. */
export interface CallerStore
  extends
    StoreLanes,
    IncarnationCheck,
    Closable,
    CallIntake,
    CallReplies,
    CallCancellation,
    CallReader,
    CallRedirects,
    SessionOpening,
    SessionCare,
    SessionProof,
    SessionReader,
    RunEnds,
    ApprovalDesk,
    GrantDesk,
    PolicyReader,
    PolicyWatch,
    CatalogReader,
    CatalogWatch,
    FleetReader {}

/**
 * What the stages of a worker need. Other parts of a worker, such as nested calls and the fleet, take the ports that they need themselves.
 */
export interface WorkerStore
  extends
    StoreLanes,
    CallQueue,
    CallLeases,
    CallExecution,
    ApprovalAsking,
    ApprovalReader,
    CallbackClaims,
    GrantUse,
    SessionReader,
    ToolInjection,
    PinReader,
    OfferReports,
    CatalogReader {}

/** What the supervisor of a worker needs. */
export interface SupervisorStore extends StoreLanes, CallLeases, CallReaper {}

/** What the delivery of effects to platforms needs. */
export interface DeliveryStore extends StoreLanes, EffectDelivery, CallReader {}

/** What the routes and the MCP endpoint of a gateway need in addition to its client. */
export interface GatewayStore
  extends
    StoreLanes,
    StoreTime,
    CallReader,
    CallList,
    CallHolders,
    QueueReader,
    ApprovalReader,
    ApprovalStates,
    SessionProof,
    SessionReader,
    SessionList,
    PolicyReader,
    CatalogReader,
    FleetReader,
    TokenStore,
    OwedStore {}

/** What the commands and API routes of operators need. */
export interface OperatorStore
  extends
    StoreTime,
    CallReader,
    CallCancellation,
    CallResolution,
    PolicyWriter,
    PinWriter,
    CatalogPublishing,
    CatalogWithdrawal,
    FleetReader,
    AuditStates,
    MarkReader {}
