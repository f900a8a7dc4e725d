import type { ApprovalId } from '../../domain/policy/approval.ts';
import { callDurations } from '../../domain/call/call-durations.ts';
import type { CallRecord } from '../../domain/call/call.ts';
import { planeError } from '../../domain/errors/errors.ts';
import { parseScopedId, type CallId } from '../../domain/identity/ids.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import { parseRecord } from '../../domain/audit/record-bytes.ts';
import { decodeOutcome } from '../../domain/outcome/outcome-bytes.ts';
import { showRecord } from '../../domain/audit/show-record.ts';
import type { Authenticated } from '../authenticated.ts';
import { isEnding, rowOfCall, rowOfRecord } from '../follow/call-rows.ts';
import type { ApiNeeds } from './api-route.ts';
import type { ApprovalView } from './approval-schema.ts';
import type { AuditRecordView } from './audit-schema.ts';
import type { CallDetail, CallRow } from './call-schema.ts';
import { showStages, showVerdict } from './call-timeline.ts';
import { showApprovalTo } from './show-approval.ts';
import { showFiles, showOutcome } from './show-outcome.ts';

type Needs = Pick<ApiNeeds, 'plane'>;
type DetailNeeds = Pick<ApiNeeds, 'plane' | 'isRequester'>;

const MAX_RECORDS = 200;
const MAX_CHILDREN = 200;
const SCAN = 5000;

/** Reads everything that is known about one call: from the store as long as it keeps the call, then from the trail. Throws CALL_UNKNOWN. */
export async function readCallDetail(needs: DetailNeeds, auth: Authenticated, asked: string): Promise<CallDetail> {
  const { plane } = needs;
  const callId = asCallId(asked);
  const { records } = await plane.trail.queryTrail({ filter: { callId }, limit: MAX_RECORDS });
  const audit = records.map((record) => showRecord(record) as AuditRecordView).toReversed();
  const record = await readShownCall(plane.store, callId);
  if (record === undefined && audit.length === 0) throw planeError('CALL_UNKNOWN', { callId });
  const outcome = record?.outcome === undefined ? undefined : decodeOutcome(record.outcome);
  const approvals = await readApprovals(needs, auth, record, audit);
  const call = describeCall(record, audit, approvals);
  const facts = { call, audit, approvals };
  return {
    call,
    ...(outcome === undefined ? {} : { outcome: showOutcome(outcome) }),
    stages: showStages(facts),
    verdict: showVerdict(facts),
    attempts: attemptsOf(record, call),
    audit,
    approvals,
    ...(call.parent === undefined ? {} : { parent: call.parent }),
    children: await readChildren({ plane }, call),
    files: outcome === undefined ? [] : showFiles(outcome),
  };
}

/**
 * Reads a call with the state that people are shown. A queued call that a worker holds is shown as running, as `sallyport calls show` does:
 * the first run of most `read` and `idempotent` tools writes no start mark.
 */
async function readShownCall(store: Needs['plane']['store'], callId: CallId): Promise<CallRecord | undefined> {
  const record = await store.readCall(callId);
  if (record?.state !== 'queued') return record;
  const [holder] = await store.findHolders([callId]);
  return holder === undefined ? record : { ...record, state: 'running' };
}

/** Checks that the text can be a call id. Other text gives the same error as an unknown call. */
export function asCallId(asked: string): CallId {
  if (parseScopedId(asked) === undefined) throw planeError('CALL_UNKNOWN', { callId: asked.slice(0, 64) });
  return asked as CallId;
}

export async function readOutcome({ plane }: Needs, asked: string): Promise<Outcome | undefined> {
  const callId = asCallId(asked);
  const record = await plane.store.readCall(callId);
  if (record === undefined) throw planeError('CALL_UNKNOWN', { callId });
  return record.outcome === undefined ? undefined : decodeOutcome(record.outcome);
}

/** Describes the call itself. The trail knows why it ended, the store knows its current state. */
export function describeCall(
  record: CallRecord | undefined,
  audit: readonly AuditRecordView[],
  approvals: readonly ApprovalView[],
): CallDetail['call'] {
  const { ending, last } = lastOf(audit);
  const row: CallRow = {
    ...(last === undefined ? undefined : rowOfLast(last, ending)),
    ...(record === undefined ? undefined : rowOfCall(record)),
  } as CallRow;
  const { tenant, subject, agent, channel, space, platform, delegators, unattended } = record?.identity ?? last!;
  const asked = approvals.at(-1);
  const args = argumentsOfCall(audit, (asked?.editedArguments ?? asked?.arguments)?.shown);
  const identity = { tenant, subject, agent, channel, space, platform, delegators, unattended };
  return {
    ...row,
    // The durations are computed from the time of acceptance, which the store has, and from how long the worker held the call, which the
    // trail has.
    ...callDurations({ ...row, settledAt: record?.settledAt ?? ending?.at, gateMs: ending?.gateMs }),
    state: record?.state ?? (ending === undefined ? 'queued' : 'settled'),
    identity: JSON.parse(JSON.stringify(identity)) as CallDetail['call']['identity'],
    bodyDigest: record?.bodyDigest ?? last!.bodyDigest ?? '',
    ...(record === undefined ? {} : { pool: record.pool, starts: record.starts, waiters: record.waiters }),
    ...(record?.effect === undefined ? {} : { effect: record.effect }),
    ...(record?.resolution === undefined ? {} : { resolution: record.resolution }),
    ...(last?.toolDigest === undefined ? {} : { toolDigest: last.toolDigest }),
    ...(last?.policyVersion === undefined ? {} : { policyVersion: last.policyVersion }),
    ...(args === undefined ? {} : { arguments: args }),
  };
}

/** The row of a call from its last record. Only the record that ended the call knows when the call settled. */
function rowOfLast(last: AuditRecordView, ending: AuditRecordView | undefined): Omit<CallRow, 'state'> {
  const { state: _, settledAt, ...row } = rowOfRecord(last as never);
  return { ...row, ...(ending === undefined ? {} : { settledAt }) };
}

/** `ending`: the record that ended the call, if there is one. `last`: that record, or else the newest one about the call. */
function lastOf(audit: readonly AuditRecordView[]): {
  readonly ending?: AuditRecordView;
  readonly last?: AuditRecordView;
} {
  const ending = audit.findLast((one) => isEnding(one as never));
  const last = ending ?? audit.at(-1);
  return { ...(ending === undefined ? {} : { ending }), ...(last === undefined ? {} : { last }) };
}

/**
 * The arguments of a call, as the API and the command line show them. If a call ended while a person was asked, its last record has no
 * arguments. Then `asked` is used: the arguments that the last question about the call shows.
 */
export function argumentsOfCall(audit: readonly AuditRecordView[], asked: string | undefined): string | undefined {
  return lastOf(audit).last?.arguments ?? asked;
}

async function readApprovals(
  { plane, isRequester }: DetailNeeds,
  auth: Authenticated,
  record: CallRecord | undefined,
  audit: readonly AuditRecordView[],
): Promise<ApprovalView[]> {
  const ids = new Set([...audit.map(({ approval }) => approval), record?.approval]);
  ids.delete(undefined);
  if (ids.size === 0) return [];
  const { store, operations } = plane;
  const approvals = await Promise.all([...ids].map((id) => store.readApproval(id as ApprovalId)));
  const { policy } = await store.readPolicy();
  const needs = { render: await operations.approvalRenderer(), policy, standing: operations.standing, isRequester };
  const known = approvals.filter((approval) => approval !== undefined);
  const shown = await Promise.all(known.map((approval) => showApprovalTo(auth, approval, needs)));
  return shown.filter((view) => view !== undefined);
}

/**
 * The attempts of a call. The store does not record the start of the first run of a `read` tool, so a call that ran counts as at least one
 * attempt.
 */
function attemptsOf(record: CallRecord | undefined, { executed, ranMs, acceptedAt = 0, settledAt, outcome }: CallRow) {
  const count = Math.max(record?.starts ?? 0, executed === 'yes' || executed === 'unknown' ? 1 : 0);
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    const startedAt =
      isLast && settledAt !== undefined && ranMs !== undefined
        ? { startedAt: Math.max(acceptedAt, Math.round(settledAt - ranMs)) }
        : {};
    return {
      number: index + 1,
      ...startedAt,
      ...(isLast && ranMs !== undefined ? { durationMs: ranMs } : {}),
      ...(isLast ? (outcome === undefined ? {} : { ended: outcome }) : { ended: 'lost' }),
    };
  });
}

/** The calls that this call made. They are of the same subject, and ended before it did. */
async function readChildren({ plane }: Needs, call: CallDetail['call']): Promise<CallRow[]> {
  const { callId, acceptedAt, settledAt, durationMs, tenant, subject } = call;
  const began =
    acceptedAt ??
    (settledAt !== undefined && durationMs !== undefined ? Math.floor(settledAt - durationMs) : undefined);
  if (began === undefined) return [];
  const { records } = await plane.trail.queryTrail({
    filter: { from: began, ...(settledAt === undefined ? {} : { to: settledAt + 1 }), tenant, subject },
    limit: SCAN,
    scan: SCAN,
  });
  return records
    .flatMap(({ text }) => parseRecord(text) ?? [])
    .filter(isEnding)
    .filter((record) => record.parent === callId)
    .slice(0, MAX_CHILDREN)
    .map(rowOfRecord)
    .toReversed();
}
