import { APPROVAL_STATES, type Approval, type ApprovalId, type ApprovalState } from '../../domain/approval.ts';
import { laneOfScopedId } from '../../domain/ids.ts';
import { asList, asText } from './answers.ts';
import { APPROVAL_FIELDS, decodeApproval } from './approval-codec.ts';
import type { RedisContext } from './redis-context.ts';

export async function readApproval(context: RedisContext, id: string): Promise<Approval | undefined> {
  const lane = laneOfScopedId(id);
  if (lane < 0 || lane >= context.lanes) return undefined;
  const values = await context.command('HMGET', context.lane(lane).approval(id), ...APPROVAL_FIELDS);
  return decodeApproval(asList(values).map((value) => (value === null ? null : asText(value))));
}

export async function listApprovals(
  context: RedisContext,
  { state, limit }: { readonly state?: ApprovalState; readonly limit: number },
): Promise<Approval[]> {
  const found: Approval[] = [];
  for (const each of state === undefined ? APPROVAL_STATES : [state]) {
    const pending = each === 'pending';
    const range = ['0', String(limit - 1), ...(pending ? [] : ['REV'])];
    for (let lane = 0; lane < context.lanes; lane += 1) {
      const ids = asList(await context.command('ZRANGE', context.lane(lane).approvals(each), ...range)).map(asText);
      const read = await Promise.all(ids.map((id) => readApproval(context, id)));
      found.push(...read.filter((approval) => approval !== undefined));
    }
  }
  return found.sort(bySoonest).slice(0, limit);
}

/** Pending ones first, soonest expiry first; then the others, latest first. */
function bySoonest(a: Approval, b: Approval): number {
  if (a.resolvedAt === undefined && b.resolvedAt === undefined) return a.expiresAt - b.expiresAt;
  if (a.resolvedAt === undefined || b.resolvedAt === undefined) return a.resolvedAt === undefined ? -1 : 1;
  return b.resolvedAt - a.resolvedAt;
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
