import type { AuditJournal } from '../../domain/ports/audit-store.ts';
import type { TrailStore } from '../../domain/ports/store.ts';
import type { RequestMethod } from './store-methods.ts';
import type { Transaction } from './transaction.ts';
import { abandonCall, recheckSessions, renewCalls } from './transitions/leases.ts';
import { acceptCall } from './transitions/accept-call.ts';
import { askApproval } from './transitions/ask-approval.ts';
import { claimCallbacks, finishCallback } from './transitions/callbacks.ts';
import { cancelCall } from './transitions/cancel-call.ts';
import { readCatalog, watchCatalog, withdrawModules, writeCatalog } from './transitions/catalog.ts';
import { claimCalls, reclaimCalls } from './transitions/claim-calls.ts';
import { decideApproval, revealApproval } from './transitions/decide-approval.ts';
import { findGrants, listGrants, readGrant, revokeGrant, useGrant } from './transitions/grants.ts';
import { checkIncarnation, laneUse, queueState } from './transitions/lane-state.ts';
import { injectTools } from './transitions/inject-tools.ts';
import { findHolders, listCalls, listOwnCalls, readCall } from './transitions/read-calls.ts';
import { notifyWaiters, takeReplies } from './transitions/replies.ts';
import {
  claimEffects,
  finishEffect,
  listEffects,
  publishEffect,
  readEffect,
  retryEffect,
} from './transitions/effects.ts';
import { beatOwed, holdOwed, releaseOwed } from './transitions/owed.ts';
import { dropRedirect, redirectCall, sendRedirects } from './transitions/redirects.ts';
import { readNewerPins, readOffer, readPins, reportOffer, writePins } from './transitions/pins.ts';
import { readNewerPolicy, readPolicy, writePolicy } from './transitions/policy.ts';
import { listApprovals, listApprovalStates, matchApprovals, readApproval } from './transitions/read-approvals.ts';
import {
  addStatement,
  alarmAudit,
  auditHeads,
  auditState,
  boundAudit,
  claimAudit,
  cutTrail,
  drainAudit,
  erasePayloads,
  lastStatement,
  listStatements,
  moveAudit,
  noteStatement,
  queryTrail,
  readAudit,
  readJournal,
  readTrail,
  statementMark,
} from './transitions/audit-trail.ts';
import { reapCalls } from './transitions/reap-calls.ts';
import { resolveCall, settleCall } from './transitions/settle-call.ts';
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
import { startCall } from './transitions/start-call.ts';
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

type Methods = TrailStore & AuditJournal;
type Transitions = {
  readonly [Method in Exclude<RequestMethod, 'checkIncarnation'>]: (
    transaction: Transaction,
    argument: Parameters<Methods[Method]>[0],
  ) => Awaited<ReturnType<Methods[Method]>>;
} & { readonly checkIncarnation: typeof checkIncarnation };

/** Each method that a client may name, as a function inside a transaction. None of them waits. */
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
  readPins,
  readNewerPins,
  writePins,
  readOffer,
  reportOffer,
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
