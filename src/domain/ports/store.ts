import type { ApprovalStore } from './approval-store.ts';
import type { AuditSource, AuditTrail } from './audit-store.ts';
import type { CallStore } from './call-store.ts';
import type { CatalogStore } from './catalog-store.ts';
import type { FleetRegistry } from './fleet-registry.ts';
import type { OutboundStore } from './outbound-store.ts';
import type { OwedStore } from './owed-store.ts';
import type { PolicyStore } from './policy-store.ts';
import type { SessionStore } from './session-store.ts';
import type { TokenStore } from './token-store.ts';

/** Everything durable. Two implementations, one contract suite. Only a store that keeps its own audit (`AuditState.kept`) can be used as a trail. */
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
    AuditSource,
    AuditTrail {
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

/** The names of the methods that can be called over a socket. */
export const STORE_METHODS = [
  'acceptCall',
  'claimCalls',
  'reclaimCalls',
  'recheckSessions',
  'renewCalls',
  'startCall',
  'settleCall',
  'abandonCall',
  'cancelCall',
  'reapCalls',
  'notifyWaiters',
  'takeReplies',
  'readCall',
  'listCalls',
  'findHolders',
  'resolveCall',
  'queueState',
  'laneUse',
  'askApproval',
  'decideApproval',
  'revealApproval',
  'readApproval',
  'listApprovals',
  'listApprovalStates',
  'matchApprovals',
  'claimCallbacks',
  'finishCallback',
  'listGrants',
  'readGrant',
  'findGrants',
  'useGrant',
  'revokeGrant',
  'openSession',
  'touchSession',
  'revokeSession',
  'openRun',
  'endRun',
  'proveSession',
  'injectTools',
  'readSession',
  'listSessions',
  'readPolicy',
  'readNewerPolicy',
  'writePolicy',
  'readCatalog',
  'watchCatalog',
  'writeCatalog',
  'withdrawModules',
  'registerWorker',
  'beatWorker',
  'deregisterWorker',
  'listWorkers',
  'readAudit',
  'readJournal',
  'moveAudit',
  'auditState',
  'claimAudit',
  'drainAudit',
  'alarmAudit',
  'boundAudit',
  'auditHeads',
  'readTrail',
  'queryTrail',
  'addStatement',
  'listStatements',
  'lastStatement',
  'noteStatement',
  'statementMark',
  'erasePayloads',
  'cutTrail',
  'publishEffect',
  'claimEffects',
  'finishEffect',
  'readEffect',
  'listEffects',
  'retryEffect',
  'redirectCall',
  'dropRedirect',
  'sendRedirects',
  'listOwnCalls',
  'createToken',
  'proveToken',
  'listTokens',
  'noteTokenSession',
  'revokeToken',
  'finishRevocations',
  'useOnce',
  'holdOwed',
  'releaseOwed',
  'beatOwed',
  'recordLogin',
  'now',
  'checkIncarnation',
] as const satisfies readonly Exclude<keyof Store, 'lanes' | 'auditLanes' | 'close'>[];
export type StoreMethod = (typeof STORE_METHODS)[number];
