import type { CallRecord } from '../../domain/call/call.ts';
import { laneOfScopedId, type CallId, type WorkerId } from '../../domain/identity/ids.ts';
import type {
  ListCallsRequest,
  QueueState,
  ReplyItem,
  TakenReply,
  TakeRepliesRequest,
} from '../../domain/ports/call-requests.ts';
import { asBytes, asList, asNumber, asText } from './answers.ts';
import { decodeCall, readPlace } from './call-codec.ts';
import { GROUP } from './keys.ts';
import { readWindows } from './lane-use.ts';
import type { RedisContext } from './redis-context.ts';

/**
 * Reads the replies to a caller. Acknowledged entries are deleted, so each read starts at the beginning of the stream and not after a known
 * id. This way no entry is missed that got a lower id because the server's clock was set back.
 */
export async function takeReplies(context: RedisContext, request: TakeRepliesRequest): Promise<TakenReply[]> {
  const key = context.lane(request.lane).reply(request.callerId);
  const wait = request.waitMs <= 0 ? [] : ['BLOCK', String(request.waitMs)];
  const commands: [string, ...string[]][] = [['XREAD', 'COUNT', '128', ...wait, 'STREAMS', key, '0-0']];
  if (request.acknowledged.length > 0) commands.unshift(['XDEL', key, ...request.acknowledged]);
  const answers = await context.blockingRead(`reply:${request.lane}:${request.callerId}`, commands, request.waitMs);
  const read = answers.at(-1);
  if (read === null || read === undefined) return [];
  return asList(asList(asList(read)[0])[1]).map((entry) => {
    const [id, fields] = asList(entry);
    return { replyId: asText(id), items: toItems(asList(fields)) };
  });
}

function toItems(fields: unknown[]): ReplyItem[] {
  const items: ReplyItem[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const name = asText(fields[at]);
    const correlationId = name.slice(1);
    const bytes = asBytes(fields[at + 1]);
    if (name.startsWith('s')) items.push({ kind: 'settled', correlationId, outcome: bytes });
    else if (name.startsWith('r')) items.push({ kind: 'settled-by-reference', correlationId });
    else items.push({ kind: 'event', correlationId, event: bytes });
  }
  return items;
}

export async function readCall(context: RedisContext, callId: CallId): Promise<CallRecord | undefined> {
  const lane = laneOfScopedId(callId);
  if (lane < 0 || lane >= context.lanes) return undefined;
  const keys = context.lane(lane);
  const bytes = await context.commandForBytes('HGET', keys.calls, callId);
  return bytes === null ? undefined : decodeCall(callId, asBytes(bytes));
}

export async function listCalls(context: RedisContext, request: ListCallsRequest): Promise<CallRecord[]> {
  const records: CallRecord[] = [];
  for (let lane = 0; lane < context.lanes; lane += 1) {
    const keys = context.lane(lane);
    const ids = asList(await context.command('ZRANGE', keys.live, '0', String(request.limit - 1))).map(
      asText,
    ) as CallId[];
    if (ids.length === 0) continue;
    const stored = asList(await context.commandForBytes('HMGET', keys.calls, ...ids));
    ids.forEach((id, index) => {
      const bytes = stored[index];
      const record = bytes === null ? undefined : decodeCall(id, asBytes(bytes));
      if (record !== undefined) records.push(record);
    });
  }
  return records.sort((a, b) => a.deadline - b.deadline).slice(0, request.limit);
}

/**
 * Returns the holder of each call. A lease is an entry in the pending list of the pool's group. The requests are sent together: one round trip per
 * step.
 */
export async function findHolders(
  context: RedisContext,
  callIds: readonly CallId[],
): Promise<(WorkerId | undefined)[]> {
  return Promise.all(callIds.map((callId) => findHolder(context, callId)));
}

async function findHolder(context: RedisContext, callId: CallId): Promise<WorkerId | undefined> {
  const lane = laneOfScopedId(callId);
  if (lane < 0 || lane >= context.lanes) return undefined;
  const keys = context.lane(lane);
  const bytes = await context.commandForBytes('HGET', keys.calls, callId);
  const place = bytes === null ? undefined : readPlace(asBytes(bytes));
  if (place === undefined) return undefined;
  const { pool, entry } = place;
  const pending = await ofGroup(context.command('XPENDING', keys.stream(pool), GROUP, entry, entry, '1'));
  const [holder] = asList(pending ?? []);
  return holder === undefined ? undefined : (asText(asList(holder)[1]) as WorkerId);
}

export async function queueState(
  context: RedisContext,
  { backlog = false }: { readonly backlog?: boolean } = {},
): Promise<QueueState[]> {
  const pools = asList(await context.command('SMEMBERS', context.deployment.pools))
    .map(asText)
    .sort();
  const states: QueueState[] = [];
  for (let lane = 0; lane < context.lanes; lane += 1) {
    const backlogs = backlog ? countBacklogs(await readWindows(context, lane)) : undefined;
    for (const pool of pools) {
      const stream = context.lane(lane).stream(pool);
      const length = asNumber(await context.command('XLEN', stream));
      const leased = await pendingCount(context, stream);
      const behind = backlogs === undefined ? {} : { backlog: backlogs.get(pool) ?? 0 };
      states.push({ lane, pool, queued: length - leased, leased, ...behind });
    }
  }
  return states;
}

/** Adds up, for each pool, how many calls wait in the backlogs of its groups. The fields are described in `functions/shared/queue.lua`. */
function countBacklogs(windows: readonly string[] | undefined): Map<string, number> | undefined {
  if (windows === undefined) return undefined;
  const counts = new Map<string, number>();
  for (let at = 0; at < windows.length; at += 2) {
    const pool = /^([^\n]*)\n/.exec(windows[at]!)?.[1];
    const waiting = / (\d+)$/.exec(windows[at + 1]!)?.[1];
    if (pool !== undefined && waiting !== undefined) counts.set(pool, (counts.get(pool) ?? 0) + Number(waiting));
  }
  return counts;
}

async function pendingCount(context: RedisContext, stream: string): Promise<number> {
  const summary = await ofGroup(context.command('XPENDING', stream, GROUP));
  return summary === undefined ? 0 : asNumber(asList(summary)[0]);
}

/** Returns undefined for a pool that no worker has served yet, because it has no group. */
async function ofGroup<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && /NOGROUP|no such key/i.test(`${error.message} ${String(error.cause)}`))
      return undefined;
    throw error;
  }
}
