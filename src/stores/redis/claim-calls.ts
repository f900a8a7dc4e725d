import { planeError } from '../../domain/errors/errors.ts';
import { isPrivatePool } from '../../domain/identity/ids.ts';
import type { SessionEnding } from '../../domain/identity/session.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import type {
  ClaimAnswer,
  ClaimRequest,
  Delivery,
  LaneState,
  RecheckAnswer,
  RecheckRequest,
  ReclaimRequest,
  RecoveredCall,
} from '../../domain/ports/call-requests.ts';
import { asBytes, asList, asNumber, asText, wordOf } from './answers.ts';
import { createFactsReader, decodeEntry, type DeliveredEntry, type EntryOwner } from './call-codec.ts';
import { GROUP } from './keys.ts';
import type { RedisContext } from './redis-context.ts';

/**
 * Detects that an older dataset has replaced the known one: the audit sequence of a lane only grows, so it must not go back. Answers of several
 * connections may overtake each other, so each is compared with what was known when its request was sent.
 */
export interface LaneWatch {
  readonly sequences: Map<number, number>;
  /** Warns all other processes through a mark in the store. `seen` is the audit sequence known before, `found` the lower one. */
  readonly wentBack: (lane: number, seen: number, found: number) => Promise<void>;
}

export function createLaneWatch(wentBack: LaneWatch['wentBack']): LaneWatch {
  return { sequences: new Map(), wentBack };
}

export async function claimCalls(context: RedisContext, watch: LaneWatch, request: ClaimRequest): Promise<ClaimAnswer> {
  const keys = context.lane(request.lane);
  const stream = keys.stream(request.pool);
  await ensureGroup(context, request.pool, stream);
  const known = watch.sequences.get(request.lane) ?? 0;
  const reading = context.blockingRead(
    `claim:${request.lane}:${request.pool}:${request.workerId}`,
    [
      [
        'XREADGROUP',
        'GROUP',
        GROUP,
        request.workerId,
        'COUNT',
        String(request.limit),
        ...blockFor(request.waitMs),
        'STREAMS',
        stream,
        '>',
      ],
      context.fcallCommand('lane_state', { keys: { meta: keys.meta }, args: { incarnation: context.incarnation } }),
    ],
    request.waitMs,
  );
  const [read, state] = await reading.catch((error: unknown) => {
    makeAgain(context, request.pool, stream, error);
    // The key is not the stream that the store made, so the store or a part of it was replaced.
    if (!isWrongType(error)) throw error;
    throw planeError('STORE_REPLACED', { expected: 'a stream', found: `another kind of key as ${stream}` }, error);
  });
  const entries = read === null ? [] : asList(asList(asList(read)[0])[1]);
  const owner = ownerOf(request);
  const delivered = entries.map((entry) => {
    const [id, fields] = asList(entry);
    return decodeEntry(asText(id), fields, 1, owner);
  });
  return {
    deliveries: await withEnvelopes(context, delivered),
    lane: await toLaneState(watch, request.lane, known, state),
  };
}

function ownerOf({ lane, pool, workerId }: ClaimRequest | ReclaimRequest): EntryOwner {
  return { lane, pool, workerId, factsOf: createFactsReader() };
}

/** Returns no BLOCK option for zero, because zero would block for ever. */
function blockFor(waitMs: number): string[] {
  return waitMs <= 0 ? [] : ['BLOCK', String(waitMs)];
}

/** Streams whose consumer group is known to exist, for each context. The sets are freed together with their context. */
const ensuredGroups = new WeakMap<RedisContext, Set<string>>();

/** Creates the consumer group, once per stream and process. If the group is missing later, the store was replaced; a new group would hide that. */
async function ensureGroup(context: RedisContext, pool: string, stream: string): Promise<void> {
  const ensured = ensuredGroups.get(context) ?? new Set();
  ensuredGroups.set(context, ensured);
  if (ensured.has(stream)) return;
  try {
    await context.command('XGROUP', 'CREATE', stream, GROUP, '0', 'MKSTREAM');
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('BUSYGROUP')) throw error;
  }
  await context.command('SADD', context.deployment.pools, pool);
  ensured.add(stream);
}

/**
 * Called when a read failed. The queue of a private pool is deleted when its process was silent for long. If that process was only
 * suspended, the error here is retryable, and its next read creates the queue again.
 */
function makeAgain(context: RedisContext, pool: string, stream: string, error: unknown): void {
  const isGone = error instanceof Error && error.cause instanceof Error && error.cause.message.includes('NOGROUP');
  if (!isGone || !isPrivatePool(pool)) return;
  ensuredGroups.get(context)?.delete(stream);
  throw planeError('STORE_UNAVAILABLE', { problem: 'the private queue was cleared away' }, error);
}

export async function reclaimCalls(
  context: RedisContext,
  watch: LaneWatch,
  request: ReclaimRequest,
): Promise<ClaimAnswer> {
  const keys = context.lane(request.lane);
  const stream = keys.stream(request.pool);
  await ensureGroup(context, request.pool, stream);
  const taken = await context
    .fcall('reclaim_calls', {
      keys: { meta: keys.meta, stream },
      args: {
        incarnation: context.incarnation,
        lane: keys.prefix,
        worker: request.workerId,
        leaseMs: request.leaseMs,
        limit: request.limit,
      },
    })
    .catch((error: unknown) => {
      makeAgain(context, request.pool, stream, error);
      throw error;
    });
  const owner = ownerOf(request);
  const delivered = asList(taken)
    .slice(1)
    .map((item) => {
      const [id, fields, deliveries, starts, wasRunning, effect, cancel] = asList(item);
      const recovered: RecoveredCall = {
        starts: asNumber(starts),
        wasRunning: asText(wasRunning) === '1',
        cancelRequested: asText(cancel) === '1',
        ...(asText(effect) === '' ? {} : { effect: asText(effect) as Effect }),
      };
      return decodeEntry(asText(id), fields, asNumber(deliveries), owner, recovered);
    });
  return {
    deliveries: await withEnvelopes(context, delivered),
    lane: await readLaneState(context, watch, request.lane),
  };
}

/** Fetches large envelopes, which are stored outside the stream. Entries that are not calls stay in the stream; recovery deletes them. */
async function withEnvelopes(
  context: RedisContext,
  entries: readonly (DeliveredEntry | undefined)[],
): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  for (const entry of entries) {
    if (entry === undefined) continue;
    deliveries.push(entry.byReference ? await withEnvelope(context, entry.delivery) : entry.delivery);
  }
  return deliveries;
}

async function withEnvelope(context: RedisContext, delivery: Delivery): Promise<Delivery> {
  const key = context.lane(delivery.lane).body(delivery.callId);
  const body = await context.commandForBytes('GET', key).catch((error: unknown) => {
    // The key holds another type: the body of this call is lost, and only of this call.
    if (isWrongType(error)) return null;
    throw error;
  });
  return { ...delivery, envelope: body === null ? Buffer.alloc(0) : asBytes(body) };
}

function isWrongType(error: unknown): boolean {
  return error instanceof Error && error.message.includes('WRONGTYPE');
}

async function readLaneState(context: RedisContext, watch: LaneWatch, lane: number): Promise<LaneState> {
  const known = watch.sequences.get(lane) ?? 0;
  const state = await context.fcall('lane_state', {
    keys: { meta: context.lane(lane).meta },
    args: { incarnation: context.incarnation },
  });
  return toLaneState(watch, lane, known, state);
}

async function toLaneState(watch: LaneWatch, lane: number, known: number, answer: unknown): Promise<LaneState> {
  const [, epoch, policyVersion, cancelSequence, auditSequence, now] = asList(answer);
  // A count that was written by hand says nothing about the age of the data. The next settle or drain corrects it.
  const counted = asText(auditSequence);
  const sequence = /^\d{1,15}$/.test(counted) ? Number(counted) : known;
  if (sequence < known) {
    await watch.wentBack(lane, known, sequence).catch(() => undefined);
    throw planeError('STORE_REPLACED', {
      expected: `audit sequence ${known} or more`,
      found: `audit sequence ${sequence}`,
    });
  }
  watch.sequences.set(lane, Math.max(sequence, watch.sequences.get(lane) ?? 0));
  return {
    epoch: asText(epoch),
    policyVersion: asNumber(policyVersion),
    cancelSequence: asText(cancelSequence),
    now: asNumber(now),
  };
}

export async function recheckSessions(
  context: RedisContext,
  watch: LaneWatch,
  request: RecheckRequest,
): Promise<RecheckAnswer> {
  const keys = context.lane(request.lane);
  // The lane is read first: a revocation after that raises the epoch above the one returned here.
  const lane = await readLaneState(context, watch, request.lane);
  if (request.sessions.length === 0) return { lane, endings: [] };
  const answers = await context.fcall('recheck_sessions', {
    keys: { meta: keys.meta },
    args: { incarnation: context.incarnation, lane: keys.prefix },
    each: request.sessions.map(({ session, run }) => ({ session, run })),
  });
  const endings = asList(answers).map((answer) =>
    wordOf(answer) === 'LIVE' ? undefined : (asText(asList(answer)[1]) as SessionEnding),
  );
  return { lane, endings };
}
