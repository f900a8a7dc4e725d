import { COUNTED_LOOP_ENDS, type RunState, type Stall } from '../../domain/call/attempt.ts';
import type { ApprovalId, GrantId, ResumedWith } from '../../domain/policy/approval.ts';
import type { CallRecord, CallState } from '../../domain/call/call.ts';
import {
  laneOfScopedId,
  type CallId,
  type RunId,
  type SessionId,
  type ToolId,
  type WorkerId,
} from '../../domain/identity/ids.ts';
import type { Identity } from '../../domain/identity/session.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import type { AuditEntry } from '../../domain/ports/audit-store.ts';
import type { Delivery, RecoveredCall } from '../../domain/ports/call-requests.ts';
import { asBytes, asList, asText, unexpected } from './answers.ts';

/** The facts of a call that the store guarantees, in the order of `shared/record.lua`. */
export interface Facts {
  readonly identity: string;
  readonly session: SessionId;
  readonly run: RunId;
  readonly epoch: string;
  readonly sessionExpiresAt: number;
  readonly acceptedAt: number;
  readonly deadline: number;
  readonly events: boolean;
  readonly tool: ToolId;
}

function parseFacts(text: string): Facts {
  const lines = text.split('\n');
  return {
    identity: lines[0]!,
    session: lines[1] as SessionId,
    run: lines[2] as RunId,
    epoch: lines[3]!,
    sessionExpiresAt: Number(lines[4]),
    acceptedAt: Number(lines[5]),
    deadline: Number(lines[6]),
    events: lines[7] === '1',
    tool: lines[8] as ToolId,
  };
}

export interface DeliveredEntry {
  readonly delivery: Delivery;
  /** True if the envelope is stored under its own key and has to be fetched. */
  readonly byReference: boolean;
}

/** Returns a reader that parses each text of facts once. Calls that were accepted together share their facts. */
export function createFactsReader(): (text: string) => Facts {
  const known = new Map<string, Facts>();
  return (text) => {
    let facts = known.get(text);
    if (facts === undefined) {
      facts = parseFacts(text);
      known.set(text, facts);
    }
    return facts;
  };
}

/** What all entries of one read have in common. */
export interface EntryOwner {
  readonly factsOf: (text: string) => Facts;
  readonly lane: number;
  readonly pool: string;
  readonly workerId: WorkerId;
}

/**
 * Decodes an entry: call id, facts, digest with the run's counters, envelope, then named fields. Returns undefined for an entry that no accept has
 * written; `reclaim_calls` deletes those.
 */
export function decodeEntry(
  entryId: string,
  rawFields: unknown,
  deliveries: number,
  owner: EntryOwner,
  recovered?: RecoveredCall,
): DeliveredEntry | undefined {
  const fields = asList(rawFields);
  const callId = asText(fields[0]) as CallId;
  if (fields.length < 4 || laneOfScopedId(callId) !== owner.lane) return undefined;
  const facts = owner.factsOf(asText(fields[1]));
  const more = fields.length === 4 ? NOTHING_MORE : decodeMore(fields);
  const stated = asBytes(fields[2]);
  const known = recovered ?? requeued(more.before);
  const fence = Number(more.before?.[0] ?? '0') + deliveries;
  return {
    byReference: more.flags[0] === '1',
    delivery: {
      callId,
      lane: owner.lane,
      pool: owner.pool,
      workerId: owner.workerId,
      entryId,
      fence,
      envelope: asBytes(fields[3]),
      bodyDigest: digestOf(stated),
      tool: facts.tool,
      identity: facts.identity,
      session: facts.session,
      run: facts.run,
      epoch: facts.epoch,
      sessionExpiresAt: facts.sessionExpiresAt,
      acceptedAt: facts.acceptedAt,
      deadline: facts.deadline,
      runState: runStateOf(stated),
      watched: stated[RUN_FACTS_AT] === WATCHED,
      handedBack: Number(more.flags.slice(1)),
      lostDeliveries: Number(more.before?.[4] ?? '0') + deliveries - 1,
      eventsWanted: facts.events,
      ...(known === undefined ? undefined : { recovered: known }),
      ...(more.history === undefined ? undefined : { history: more.history }),
      ...(more.resumedWith === undefined ? undefined : { resumedWith: readResume(more.resumedWith, fence) }),
    },
  };
}

/**
 * Layout of the third field: the digest, the call's number in its run, its number among the calls of its tool, and `!` if the call is watched. Then
 * as text, separated by spaces: when the run was opened, how many earlier runs loop detection ended, the cost of the run, when those runs ended,
 * and the stalls of the session.
 */
const DIGEST_LENGTH = 43;
const RUN_FACTS_AT = DIGEST_LENGTH + 8;
const WATCHED = 0x21;
const NO_LOOP_ENDS: readonly number[] = Object.freeze([]);
const NO_RUN_STATE: RunState = { sequence: 0, toolSequence: 0, startedAt: 0, cost: 0, loopEnds: NO_LOOP_ENDS };

function digestOf(stated: Buffer): string {
  return stated.toString('latin1', 0, Math.min(DIGEST_LENGTH, stated.length));
}

function runStateOf(stated: Buffer): RunState {
  if (stated.length < RUN_FACTS_AT) return NO_RUN_STATE;
  const textAt = stated[RUN_FACTS_AT] === WATCHED ? RUN_FACTS_AT + 1 : RUN_FACTS_AT;
  const [startedAt = '', count = '0', cost, times, stalls] = stated
    .toString('latin1', textAt, stated.length)
    .split(' ');
  return {
    sequence: stated.readUInt32LE(DIGEST_LENGTH),
    toolSequence: stated.readUInt32LE(DIGEST_LENGTH + 4),
    startedAt: Number(startedAt),
    cost: Number(cost),
    loopEnds: readLoopEnds(count, times, Number(startedAt)),
    ...(stalls === undefined ? undefined : { stalls: stalls.split(',').map(readStall) }),
  };
}

/** Reads a stall in the format of `add_stall`. */
function readStall(text: string): Stall {
  const [signature = '', count, at] = text.split(':');
  return { signature, count: Number(count), at: Number(at) };
}

/** Reads when loop detection ended earlier runs. An earlier release wrote only their number: then each gets the latest possible time. */
function readLoopEnds(count: string, times: string | undefined, startedAt: number): readonly number[] {
  if (count === '0') return NO_LOOP_ENDS;
  if (times !== undefined) return times.split(',').map(Number);
  return Array.from({ length: Math.min(Number(count), COUNTED_LOOP_ENDS) }, () => startedAt);
}

/** Fields that only an entry of a large, requeued, resumed or repeated call has. */
interface MoreOfEntry {
  readonly flags: string;
  readonly before?: readonly string[];
  readonly history?: Buffer;
  readonly resumedWith?: string;
}

const NOTHING_MORE: MoreOfEntry = { flags: '00' };

function decodeMore(fields: unknown[]): MoreOfEntry {
  const named = new Map<string, Buffer>();
  for (let at = 4; at + 1 < fields.length; at += 2) named.set(asText(fields[at]), asBytes(fields[at + 1]));
  const [before, resumedWith, history] = [named.get('s'), named.get('w'), named.get('h')];
  return {
    flags: named.get('x')?.toString('latin1') ?? '00',
    ...(before === undefined ? {} : { before: before.toString('latin1').split(',') }),
    ...(history === undefined ? {} : { history }),
    ...(resumedWith === undefined ? {} : { resumedWith: resumedWith.toString('latin1') }),
  };
}

/**
 * Reads which approval allowed the call. The text also has a fence: that of the first delivery after the approval. The worker of this
 * delivery is the first that can have run the call. If the text has 0 instead, a worker may have run the call before the approval.
 */
function readResume(text: string, fence: number): ResumedWith {
  const [approval, untouchedFence] = text.split(' ');
  return { approval: approval as ApprovalId, untouched: Number(untouchedFence) === fence };
}

/**
 * A call that was handed back or resumed had a holder before. Its delivery looks like that of a recovered call, so the worker always writes
 * a start mark for it.
 */
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

const STATES: Record<string, CallState> = { q: 'queued', r: 'running', p: 'parked' };

const [RECORD_BYTE, SETTLED_BYTE] = [0x31, 0x32];
/** A settled call begins with SETTLED_BYTE and the length of its record. These are the offsets of the length and of the record. */
const [LENGTH_AT, RECORD_AT] = [1, 5];
/** The fields of a record up to `tool_sequence` have a fixed size; the first text follows. See docs/hot-scripts.md. */
const [STATE_AT, ENTRY_AT] = [1, 16];

/** Decodes what `shared/record.lua` and `shared/ending.lua` have written. Returns undefined for bytes that are not a call. */
export function decodeCall(callId: CallId, bytes: Buffer): CallRecord | undefined {
  if (bytes[0] !== SETTLED_BYTE) return decodeRecord(callId, bytes);
  if (bytes.length < RECORD_AT) return undefined;
  const end = RECORD_AT + bytes.readUInt32LE(LENGTH_AT);
  const record = decodeRecord(callId, bytes.subarray(RECORD_AT, end));
  return record === undefined ? undefined : { ...record, ...decodeEnding(bytes.subarray(end)) };
}

function decodeRecord(callId: CallId, bytes: Buffer): CallRecord | undefined {
  const packed = unpackRecord(bytes);
  if (packed === undefined) return undefined;
  const facts = parseFacts(packed.facts);
  const effect = packed.extras.get('effect') as Effect | undefined;
  const others = packed.others === '' ? 0 : packed.others.split('\n').length / 3;
  return {
    callId,
    state: packed.state,
    tool: facts.tool,
    pool: packed.pool,
    bodyDigest: packed.digest,
    session: facts.session,
    run: facts.run,
    identity: JSON.parse(facts.identity) as Identity,
    acceptedAt: facts.acceptedAt,
    deadline: facts.deadline,
    starts: Number(packed.extras.get('starts') ?? '0'),
    cancelRequested: packed.extras.get('cancel') === '1',
    waiters: others + (packed.hasWaiter ? 1 : 0),
    ...(effect === undefined ? {} : { effect }),
    ...letThroughBy(packed),
  };
}

/** Returns the ids of the last question about a call and of the grant that allowed it. */
function letThroughBy({ extras }: PackedRecord): Pick<CallRecord, 'approval' | 'grant'> {
  const [approval, grant] = [extras.get('approval'), extras.get('grant')];
  return {
    ...(approval === undefined ? {} : { approval: approval as ApprovalId }),
    ...(grant === undefined ? {} : { grant: grant as GrantId }),
  };
}

/** Returns the queue entry of a call that is not settled; undefined when it is in no queue. */
export function readPlace(bytes: Buffer): { readonly pool: string; readonly entry: string } | undefined {
  const packed = unpackRecord(bytes);
  if (packed === undefined || packed.entry === '' || packed.state === 'parked') return undefined;
  return { pool: packed.pool, entry: packed.entry };
}

/** Returns what the audit shows of a call in addition to its id. */
export function readAudited(
  bytes: Buffer,
): Pick<AuditEntry, 'tool' | 'session' | 'run' | 'bodyDigest' | 'identity' | 'approval' | 'grant'> {
  const packed = unpackRecord(bytes);
  if (packed === undefined) throw unexpected(bytes.toString('latin1', 0, 100));
  const { tool, session, run, identity } = parseFacts(packed.facts);
  return { tool, session, run, identity, bodyDigest: packed.digest, ...letThroughBy(packed) };
}

interface PackedRecord {
  readonly state: CallState;
  readonly pool: string;
  /** The id of its entry in the pool's stream; empty while it is in no stream. */
  readonly entry: string;
  readonly hasWaiter: boolean;
  readonly extras: ReadonlyMap<string, string>;
  readonly others: string;
  readonly facts: string;
  readonly digest: string;
}

function unpackRecord(bytes: Buffer): PackedRecord | undefined {
  const state = STATES[bytes.toString('latin1', STATE_AT, STATE_AT + 1)];
  if (bytes[0] !== RECORD_BYTE || state === undefined) return undefined;
  let at = ENTRY_AT;
  const next = (lengthBytes: 1 | 2 | 4): string => {
    const start = at + lengthBytes;
    at = start + bytes.readUIntLE(at, lengthBytes);
    return bytes.toString('utf8', start, at);
  };
  try {
    const entry = next(1);
    const [place, caller] = [next(2), next(1)];
    next(1);
    const [extras, others] = [next(2), next(4)];
    return {
      state,
      pool: place.split('\n')[0]!,
      entry,
      hasWaiter: caller !== '',
      extras: new Map([...extras.matchAll(/;([^=;]+)=([^;]*)/g)].map((match) => [match[1]!, match[2]!])),
      others,
      facts: next(2),
      digest: next(1),
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Decodes the seven lines before the outcome, and the outcome: see `shared/ending.lua`. */
function decodeEnding(bytes: Buffer): Pick<CallRecord, 'state' | 'settledAt' | 'resolution' | 'outcome'> {
  let end = -1;
  const lines: string[] = [];
  while (lines.length < 7) {
    const next = bytes.indexOf('\n', end + 1);
    if (next === -1) throw unexpected(bytes.toString('latin1', 0, 100));
    lines.push(bytes.toString('latin1', end + 1, next));
    end = next;
  }
  const resolution = lines[5] as 'ran' | 'not-ran' | '';
  return {
    state: 'settled',
    settledAt: Number(lines[0]),
    outcome: bytes.subarray(end + 1),
    ...(resolution === '' ? {} : { resolution }),
  };
}
