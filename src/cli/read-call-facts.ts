import { approvalRenderer } from '../operate/render-approvals.ts';
import type { Config } from '../config/config-schema.ts';
import type { ApprovalId } from '../domain/policy/approval.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { CallId } from '../domain/identity/ids.ts';
import { argumentsOfCall, describeCall } from '../gateway/api/call-detail.ts';
import type { AuditRecordView } from '../gateway/api/audit-schema.ts';
import type { CallDetail } from '../gateway/api/call-schema.ts';
import { isEnding } from '../gateway/follow/call-rows.ts';
import type { AnyStore } from '../domain/ports/store.ts';
import { showRecord } from '../domain/audit/show-record.ts';
import { showDuration } from './duration.ts';
import { toShownCall, withHolders, type ShownCall } from './live-calls.ts';
import { describeTurn, findTurnHolder } from './serial-turn.ts';
import { withTrailOf } from './with-trail.ts';

/** A value, or the sentence that says why it is missing. */
export type Kept<Value> = { readonly value: Value } | { readonly missing: string };

/** What is known about a call. `call`: the record in the store. `forgotten`: the store no longer has the call, but the audit does. */
export type CallFacts = {
  /** JSON, with secrets masked. Long arguments are cut. */
  readonly arguments: Kept<string>;
  readonly durations: Pick<CallDetail['call'], 'totalMs' | 'ranMs'>;
  /** Why a call of a serial tool is not started yet. */
  readonly turn?: string;
  /** Says why the store has no result to show. */
  readonly noResult?: string;
} & ({ readonly call: ShownCall } | { readonly forgotten: CallDetail['call'] });

const MAX_RECORDS = 200;

/** One call from the store and the audit. Throws CALL_UNKNOWN when neither knows it. */
export async function readCallFacts(store: AnyStore, config: Config, callId: CallId): Promise<CallFacts> {
  const stored = await store.readCall(callId);
  const [record] = stored === undefined ? [] : await withHolders(store, [stored]);
  const audit = await readRecords(store, config, callId);
  if (record === undefined) {
    if (audit === undefined || audit.length === 0) throw planeError('CALL_UNKNOWN', { callId });
    const kept = showDuration(config.worker.retentionMs);
    const forgotten = describeCall(undefined, audit, []);
    return {
      forgotten,
      durations: durationsOf(forgotten),
      arguments: argumentsIn(audit, await argumentsAskedAbout(store, config, audit)),
      noResult: `not kept any more: the store keeps outcomes for ${kept} (worker.retentionMs)`,
    };
  }
  const call = toShownCall(record);
  const asked = await argumentsAskedAbout(store, config, audit, record.approval);
  const durations = durationsOf(describeCall(record, audit ?? [], []));
  if (record.state === 'settled') return { call, durations, arguments: argumentsIn(audit, asked) };
  const args = argumentsOfCall(audit ?? [], asked);
  const holder = await findTurnHolder(store, callId);
  return {
    call,
    durations,
    arguments:
      args === undefined
        ? { missing: 'not shown before the call has ended; the audit keeps them then, redacted' }
        : { value: args },
    noResult: 'none yet',
    ...(holder === undefined ? {} : { turn: describeTurn(holder) }),
  };
}

function durationsOf({ totalMs, ranMs }: CallDetail['call']): CallFacts['durations'] {
  return { ...(totalMs === undefined ? {} : { totalMs }), ...(ranMs === undefined ? {} : { ranMs }) };
}

/** The audit records of a call, oldest first. Undefined: no audit can be read from here. */
async function readRecords(store: AnyStore, config: Config, callId: CallId): Promise<AuditRecordView[] | undefined> {
  return withTrailOf(store, config, async (trail) => {
    const page = await trail?.queryTrail({ filter: { callId }, limit: MAX_RECORDS });
    return page?.records.map((record) => showRecord(record) as AuditRecordView).toReversed();
  });
}

function argumentsIn(audit: readonly AuditRecordView[] | undefined, asked: string | undefined): Kept<string> {
  const value = argumentsOfCall(audit ?? [], asked);
  if (value !== undefined) return { value };
  if (audit === undefined) return { missing: 'not known here: they are in the audit, and no audit sink is configured' };
  const ending = audit.findLast((record) => isEnding(record as never));
  if (ending === undefined) return { missing: 'not known yet: the audit sink does not have the end of this call yet' };
  return { missing: ending.erased === true ? 'erased from the audit' : 'not in the audit: no worker looked at them' };
}

/** The arguments as shown in the last question about the call, with its masks, or the arguments that the approver replaced them with. */
async function argumentsAskedAbout(
  store: AnyStore,
  config: Config,
  audit: readonly AuditRecordView[] | undefined,
  pending?: ShownCall['approval'],
): Promise<string | undefined> {
  const id = pending ?? audit?.findLast((record) => record.approval !== undefined)?.approval;
  const approval = id === undefined ? undefined : await store.readApproval(id as ApprovalId);
  if (approval === undefined) return undefined;
  const { shown, edited } = (await approvalRenderer(store, config))(approval);
  return (edited ?? shown.arguments).text;
}
