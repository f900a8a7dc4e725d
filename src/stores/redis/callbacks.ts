import type { Approval, ApprovalId } from '../../domain/policy/approval.ts';
import { laneOfScopedId, type WorkerId } from '../../domain/identity/ids.ts';
import type { ClaimCallbacksRequest } from '../../domain/ports/approval-store.ts';
import { asList, asText } from './answers.ts';
import { common } from './change-calls.ts';
import { readApproval } from './read-approvals.ts';
import type { RedisContext } from './redis-context.ts';

/**
 * How many callbacks beyond the limit are read. The first ones may still be reserved for the workers that asked for them, and then later
 * ones are claimed instead.
 */
const LOOK_FURTHER = 100;

export async function claimCallbacks(context: RedisContext, request: ClaimCallbacksRequest): Promise<Approval[]> {
  const { lane, workerId, claimId, limit, leaseMs } = request;
  const { meta, waitingCallbacks, claimedCallbacks } = context.lane(lane);
  const last = String(limit + LOOK_FURTHER - 1);
  const [waiting, claimed] = await Promise.all([
    context.command('ZRANGE', waitingCallbacks, '0', last),
    context.command('ZRANGE', claimedCallbacks, '0', '-1'),
  ]);
  const asked = asList(waiting).map((text) => asText(text).split(' ') as [id: ApprovalId, askedBy: WorkerId]);
  if (asked.length + asList(claimed).length === 0) return [];
  const alive = await livingWorkers(context, new Set(asked.map(([, askedBy]) => askedBy)));
  const answer = await context.fcall('claim_callbacks', {
    keys: { meta },
    args: { ...common(context, lane), worker: workerId, claim: claimId, limit, leaseMs },
    // Callbacks that are claimed already come first, so that the function sees whether an earlier request made the same claim. It then
    // returns the callbacks of that claim and claims no others.
    each: [
      ...asList(claimed).map((id) => ({ approval: asText(id), free: false })),
      ...asked.map(([approval, askedBy]) => ({ approval, free: !alive.has(askedBy) })),
    ],
  });
  const ids = asList(answer).slice(1).map(asText);
  const read = await Promise.all(ids.map((id) => readApproval(context, id)));
  return read.filter((approval) => approval !== undefined);
}

/** Finds the live workers here, because the function cannot: workers are registered in the deployment's slot, and the lane is in another one. */
async function livingWorkers(context: RedisContext, workers: ReadonlySet<WorkerId>): Promise<Set<WorkerId>> {
  const ids = [...workers];
  const found = await Promise.all(ids.map((id) => context.command('EXISTS', context.deployment.worker(id))));
  return new Set(ids.filter((_, index) => found[index] === 1));
}

export async function finishCallback(
  context: RedisContext,
  { id, workerId }: { readonly id: ApprovalId; readonly workerId: WorkerId },
): Promise<void> {
  const lane = laneOfScopedId(id);
  if (lane < 0 || lane >= context.lanes) return;
  await context.fcall('finish_callback', {
    keys: { meta: context.lane(lane).meta },
    args: { ...common(context, lane), approval: id, worker: workerId },
  });
}
