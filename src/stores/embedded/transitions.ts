import type { Store, StoreMethod } from '../../domain/ports/store.ts';
import type { Transaction } from './transaction.ts';
import { abandonCall } from './transitions/abandon-call.ts';
import { acceptCall } from './transitions/accept-call.ts';
import { askApproval } from './transitions/ask-approval.ts';
import { claimCallbacks, finishCallback } from './transitions/callbacks.ts';
import { cancelCall } from './transitions/cancel-call.ts';
import { readCatalog, watchCatalog, withdrawModules, writeCatalog } from './transitions/catalog.ts';
import { claimCalls } from './transitions/claim-calls.ts';
import { decideApproval } from './transitions/decide-approval.ts';
import { findGrants, listGrants, readGrant, revokeGrant, useGrant } from './transitions/grants.ts';
import { checkIncarnation } from './transitions/incarnation.ts';
import { injectTools } from './transitions/inject-tools.ts';
import { findHolders, listCalls } from './transitions/list-calls.ts';
import { notifyWaiters } from './transitions/notify-waiters.ts';
import {
  claimEffects,
  finishEffect,
  listEffects,
  publishEffect,
  readEffect,
  retryEffect,
} from './transitions/effects.ts';
import { beatOwed, holdOwed, releaseOwed } from './transitions/owed.ts';
import { listOwnCalls } from './transitions/list-own-calls.ts';
import { dropRedirect, redirectCall, sendRedirects } from './transitions/redirects.ts';
import { readNewerPolicy, readPolicy, writePolicy } from './transitions/policy.ts';
import { laneUse } from './transitions/lane-use.ts';
import { queueState } from './transitions/queue-state.ts';
import { listApprovals, listApprovalStates, matchApprovals, readApproval } from './transitions/read-approvals.ts';
import {
  addStatement,
  alarmAudit,
  auditHeads,
  boundAudit,
  claimAudit,
  cutTrail,
  drainAudit,
  erasePayloads,
  lastStatement,
  listStatements,
  noteStatement,
  queryTrail,
  readTrail,
  statementMark,
} from './transitions/audit-trail.ts';
import { auditState, moveAudit, readAudit, readJournal } from './transitions/read-audit.ts';
import { readCall } from './transitions/read-call.ts';
import { reapCalls } from './transitions/reap-calls.ts';
import { recheckSessions } from './transitions/recheck-sessions.ts';
import { reclaimCalls } from './transitions/reclaim-calls.ts';
import { renewCalls } from './transitions/renew-calls.ts';
import { resolveCall } from './transitions/resolve-call.ts';
import { revealApproval } from './transitions/reveal-approval.ts';
import {
  endRun,
  proveSession,
  listSessions,
  openRun,
  openSession,
  readSession,
  revokeSession,
  touchSession,
} from './transitions/sessions.ts';
import { settleCall } from './transitions/settle-call.ts';
import { startCall } from './transitions/start-call.ts';
import { takeReplies } from './transitions/take-replies.ts';
import {
  createToken,
  finishRevocations,
  listTokens,
  noteTokenSession,
  proveToken,
  recordLogin,
  revokeToken,
  useOnce,
} from './transitions/tokens.ts';
import { beatWorker, deregisterWorker, listWorkers, registerWorker } from './transitions/workers.ts';

type Transitions = {
  readonly [Method in Exclude<StoreMethod, 'checkIncarnation'>]: (
    transaction: Transaction,
    argument: Parameters<Store[Method]>[0],
  ) => Awaited<ReturnType<Store[Method]>>;
} & { readonly checkIncarnation: typeof checkIncarnation };

/** Each method of the port as a function inside a transaction. None of them waits. */
export const transitions: Transitions = {
  acceptCall,
  claimCalls,
  reclaimCalls,
  recheckSessions,
  renewCalls,
  startCall,
  settleCall,
  abandonCall,
  cancelCall,
  reapCalls,
  notifyWaiters,
  takeReplies,
  readCall,
  listCalls,
  findHolders,
  resolveCall,
  queueState,
  laneUse,
  askApproval,
  decideApproval,
  revealApproval,
  readApproval,
  listApprovals,
  listApprovalStates,
  matchApprovals,
  claimCallbacks,
  finishCallback,
  listGrants,
  readGrant,
  findGrants,
  useGrant,
  revokeGrant,
  openSession,
  touchSession,
  revokeSession,
  openRun,
  endRun,
  proveSession,
  injectTools,
  readSession,
  listSessions,
  readPolicy,
  readNewerPolicy,
  writePolicy,
  readCatalog,
  watchCatalog,
  writeCatalog,
  withdrawModules,
  registerWorker,
  beatWorker,
  deregisterWorker,
  listWorkers,
  readAudit,
  auditState,
  readJournal,
  moveAudit,
  claimAudit,
  drainAudit,
  alarmAudit,
  boundAudit,
  auditHeads,
  readTrail,
  queryTrail,
  addStatement,
  listStatements,
  lastStatement,
  noteStatement,
  statementMark,
  erasePayloads,
  cutTrail,
  publishEffect,
  claimEffects,
  finishEffect,
  readEffect,
  listEffects,
  retryEffect,
  redirectCall,
  dropRedirect,
  sendRedirects,
  listOwnCalls,
  createToken,
  proveToken,
  listTokens,
  noteTokenSession,
  revokeToken,
  finishRevocations,
  useOnce,
  holdOwed,
  releaseOwed,
  beatOwed,
  recordLogin,
  now: ({ now }) => now,
  checkIncarnation,
};
