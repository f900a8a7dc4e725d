import { APPROVAL_STATES, type Approval, type ApprovalId, type ApprovalState } from '../../domain/policy/approval.ts';
import { laneOfScopedId } from '../../domain/identity/ids.ts';
import type { ApprovalStanding, ListApprovalsRequest } from '../../domain/ports/approval-store.ts';
import { asList, asText } from './answers.ts';
import { APPROVAL_FIELDS, decodeApproval } from './approval-codec.ts';
import type { RedisContext } from './redis-context.ts';

export async function readApproval(context: RedisContext, id: string): Promise<Approval | undefined> {
  const lane = laneOfScopedId(id);
  if (lane < 0 || lane >= context.lanes) return undefined;
  const values = await context.command('HMGET', context.lane(lane).approval(id), ...APPROVAL_FIELDS);
  return decodeApproval(asList(values).map((value) => (value === null ? null : asText(value))));
}

/** Max questions that are read at once: each can be megabytes long. */
const READ_AT_ONCE = 16;

export async function listApprovals(context: RedisContext, request: ListApprovalsRequest): Promise<Approval[]> {
  const { maxBytes = Number.POSITIVE_INFINITY } = request;
  const places = await listPlaces(context, request);
  const found: Approval[] = [];
  let size = 0;
  for (let at = 0; at < places.length; at += READ_AT_ONCE) {
    const read = await Promise.all(places.slice(at, at + READ_AT_ONCE).map(({ id }) => readApproval(context, id)));
    for (const approval of read) {
      if (approval === undefined) continue;
      size += sizeOf(approval);
      if (size > maxBytes && found.length > 0) return found;
      found.push(approval);
    }
  }
  return found;
}

/** Returns about the number of bytes that the question takes in the store: nearly all of a long one is in these texts. */
function sizeOf({ question, editedArguments = '' }: Approval): number {
  return question.arguments.length + (question.answers?.length ?? 0) + editedArguments.length;
}

export async function listApprovalStates(
  context: RedisContext,
  request: ListApprovalsRequest,
): Promise<ApprovalStanding[]> {
  const places = await listPlaces(context, request);
  const votes = await Promise.all(
    places.map(({ id }) => context.command('HGET', context.lane(laneOfScopedId(id)).approval(id), 'votes')),
  );
  return places.map(({ id, state }, index) => ({ id, state, votes: countLines(votes[index]) }));
}

function countLines(votes: unknown): number {
  if (votes === null || votes === undefined) return 0;
  return asText(votes)
    .split('\n')
    .filter((line) => line !== '').length;
}

interface Place {
  readonly id: ApprovalId;
  readonly state: ApprovalState;
  /** When a pending approval expires, or when a resolved one was resolved. */
  readonly at: number;
}

/** Lists the wanted approvals in order, without reading their questions. */
async function listPlaces(context: RedisContext, { state, limit, skip = 0 }: ListApprovalsRequest): Promise<Place[]> {
  // A map by id, because an approval that is resolved between two reads is listed by both. The later read replaces the earlier one.
  const found = new Map<ApprovalId, Place>();
  for (const each of state === undefined ? APPROVAL_STATES : [state]) {
    const range = ['0', String(skip + limit - 1), ...(each === 'pending' ? [] : ['REV']), 'WITHSCORES'];
    for (let lane = 0; lane < context.lanes; lane += 1) {
      const listed = asList(await context.command('ZRANGE', context.lane(lane).approvals(each), ...range)).map(asText);
      for (let at = 0; at + 1 < listed.length; at += 2) {
        const id = listed[at] as ApprovalId;
        found.set(id, { id, state: each, at: Number(listed[at + 1]) });
      }
    }
  }
  return [...found.values()].sort(bySoonest).slice(skip, skip + limit);
}

/** Pending approvals come first, soonest expiry first; then the others, latest first. */
function bySoonest(a: Place, b: Place): number {
  if (a.state === 'pending' && b.state === 'pending') return a.at - b.at;
  if (a.state === 'pending' || b.state === 'pending') return a.state === 'pending' ? -1 : 1;
  return b.at - a.at;
}

export async function matchApprovals(
  context: RedisContext,
  { prefix, limit }: { readonly prefix: string; readonly limit: number },
): Promise<ApprovalId[]> {
  const found: ApprovalId[] = [];
  for (let lane = 0; lane < context.lanes && found.length < limit; lane += 1) {
    const ids = asList(await context.command('ZRANGE', context.lane(lane).approvals('pending'), '0', '-1')).map(asText);
    const matching = ids.filter((id) => id.startsWith(prefix) || id.slice(id.lastIndexOf('.') + 1).startsWith(prefix));
    found.push(...(matching as ApprovalId[]));
  }
  return found.sort().slice(0, limit);
}
