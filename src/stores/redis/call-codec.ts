import type { CallRecord, CallState } from '../../domain/call.ts';
import {
  parseScopedId,
  type CallId,
  type RunId,
  type SessionId,
  type ToolId,
  type WorkerId,
} from '../../domain/ids.ts';
import type { Identity } from '../../domain/session.ts';
import type { Effect } from '../../domain/tool.ts';
import type { Delivery, RecoveredCall } from '../../ports/call-store.ts';
import { decodeFirst } from '../../wire/message-pack.ts';
import { asBytes, asList, asText } from './answers.ts';

/** The lines of `meta`, in the order of `shared/record.lua`. */
export interface Meta {
  readonly identity: string;
  readonly session: SessionId;
  readonly epoch: string;
  readonly sessionExpiresAt: number;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly events: boolean;
  readonly run: RunId;
  readonly digest: string;
  readonly tool: ToolId;
}

export function parseMeta(text: string): Meta {
  const lines = text.split('\n');
  return {
    identity: lines[0]!,
    session: lines[1] as SessionId,
    epoch: lines[2]!,
    sessionExpiresAt: Number(lines[3]),
    acceptedAt: Number(lines[4]),
    deadline: Number(lines[5]),
    events: lines[6] === '1',
    run: lines[7] as RunId,
    digest: lines[8]!,
    tool: lines[9] as ToolId,
  };
}

export interface DeliveredEntry {
  readonly delivery: Delivery;
  /** The envelope is stored apart and has to be fetched. */
  readonly byReference: boolean;
}

export interface EntryOwner {
  readonly lane: number;
  readonly pool: string;
  readonly workerId: WorkerId;
}

/** One stream entry: `c` call id, `m` meta, `e` envelope, `x` flags, `s` base of the fence and earlier starts, `w` what it was resumed with. */
export function decodeEntry(
  entryId: string,
  rawFields: unknown,
  deliveries: number,
  owner: EntryOwner,
  recovered?: RecoveredCall,
): DeliveredEntry {
  const fields = new Map<string, Buffer>();
  const list = asList(rawFields);
  for (let at = 0; at + 1 < list.length; at += 2) fields.set(asText(list[at]), asBytes(list[at + 1]));
  const meta = parseMeta(fields.get('m')?.toString('utf8') ?? '');
  const before = fields.get('s')?.toString('latin1').split(',');
  const base = Number(before?.[0] ?? '0');
  const flags = fields.get('x')?.toString('latin1') ?? '00';
  const resumedWith = fields.get('w');
  const known = recovered ?? requeued(before);
  return {
    byReference: flags[0] === '1',
    delivery: {
      callId: (fields.get('c')?.toString('latin1') ?? '') as CallId,
      ...owner,
      entryId,
      fence: base + deliveries,
      envelope: fields.get('e') ?? Buffer.alloc(0),
      bodyDigest: meta.digest,
      tool: meta.tool,
      identity: meta.identity,
      session: meta.session,
      run: meta.run,
      epoch: meta.epoch,
      sessionExpiresAt: meta.sessionExpiresAt,
      acceptedAt: meta.acceptedAt,
      deadline: meta.deadline,
      handedBack: flags[1] === '1',
      eventsWanted: meta.events,
      ...(known === undefined ? {} : { recovered: known }),
      ...(resumedWith === undefined ? {} : { resumedWith }),
    },
  };
}

/** A call that was given back or resumed was somebody's before: it takes the scripted start like a recovered one. */
function requeued(before: readonly string[] | undefined): RecoveredCall | undefined {
  if (before === undefined) return undefined;
  const [, starts, effect, cancel] = before;
  return {
    starts: Number(starts),
    wasRunning: false,
    cancelRequested: cancel === '1',
    ...(effect === '' ? {} : { effect: effect as Effect }),
  };
}

/** Fields of a record as the scripts write them; see `shared/record.lua`. */
interface StoredRecord {
  readonly state: CallState;
  readonly meta: string;
  readonly pool: string;
  readonly starts?: string;
  readonly effect?: Effect;
  readonly cancel?: string;
  readonly waiters: string;
}

/** Behind the record once it is settled; the outcome follows. */
interface StoredEnding {
  readonly at: string;
  readonly resolution?: 'ran' | 'not-ran';
}

export function decodeRecord(callId: CallId, bytes: Buffer): CallRecord {
  const first = decodeFirst(bytes);
  const stored = first.value as StoredRecord;
  const meta = parseMeta(stored.meta);
  return {
    callId,
    state: stored.state,
    tool: meta.tool,
    pool: stored.pool,
    bodyDigest: meta.digest,
    session: meta.session,
    run: meta.run,
    identity: JSON.parse(meta.identity) as Identity,
    acceptedAt: meta.acceptedAt,
    deadline: meta.deadline,
    starts: Number(stored.starts ?? '0'),
    cancelRequested: stored.cancel === '1',
    waiters: stored.waiters === '' ? 0 : stored.waiters.split('\n').length / 3,
    ...(stored.effect === undefined ? {} : { effect: stored.effect }),
    ...(first.end < bytes.length ? decodeEnding(bytes.subarray(first.end)) : {}),
  };
}

function decodeEnding(bytes: Buffer): Pick<CallRecord, 'state' | 'settledAt' | 'resolution' | 'outcome'> {
  const { value, end } = decodeFirst(bytes);
  const { at, resolution } = value as StoredEnding;
  return {
    state: 'settled',
    settledAt: Number(at),
    outcome: bytes.subarray(end),
    ...(resolution === undefined ? {} : { resolution }),
  };
}

export function laneOfCall(callId: CallId): number {
  return parseScopedId(callId)?.lane ?? -1;
}
