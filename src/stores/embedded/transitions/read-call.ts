import type { CallRecord } from '../../../domain/call/call.ts';
import type { CallId } from '../../../domain/identity/ids.ts';
import type { Identity } from '../../../domain/identity/session.ts';
import type { CallRow } from '../rows.ts';
import type { Transaction } from '../transaction.ts';
import { findOutcome } from './call-bytes.ts';
import { callIdOf, decodeWaiters, findCall } from './call-row.ts';

export function readCall(transaction: Transaction, callId: CallId): CallRecord | undefined {
  const call = findCall(transaction, callId);
  if (call === undefined) return undefined;
  const outcome = findOutcome(transaction.database, call.seq);
  return { ...toRecord(call), ...(outcome === undefined ? {} : { outcome }) };
}

export function toRecord(call: CallRow): CallRecord {
  return {
    callId: callIdOf(call),
    state: call.state,
    tool: call.tool,
    pool: call.pool,
    bodyDigest: call.bodyDigest,
    session: call.session,
    run: call.run,
    identity: JSON.parse(call.identity) as Identity,
    acceptedAt: call.acceptedAt,
    deadline: call.deadline,
    ...(call.settledAt === null ? {} : { settledAt: call.settledAt }),
    starts: call.starts,
    ...(call.effect === null ? {} : { effect: call.effect }),
    cancelRequested: call.cancelRequested === 1,
    waiters: decodeWaiters(call.waiters).length,
    ...(call.resolution === null ? {} : { resolution: call.resolution }),
    ...(call.approval === null ? {} : { approval: call.approval }),
    ...(call.grantId === null ? {} : { grant: call.grantId }),
  };
}
