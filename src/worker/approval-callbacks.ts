import type { Approval } from '../domain/policy/approval.ts';
import type { ApprovalResolved, HookedTool } from '../domain/policy/hook.ts';
import { entriesOf } from '../domain/tool/module.ts';
import type { Plane } from '../domain/ports/plane.ts';
import { randomId } from '../domain/identity/new-id.ts';
import { pause } from '../base/pause.ts';

type Needs = Pick<Plane, 'workerId' | 'store' | 'hooks' | 'approvals' | 'events' | 'log' | 'tools'>;

export interface ApprovalCallbacks {
  /** Stops claiming callbacks. Resolves when all claimed callbacks are finished; hooks have their own timeouts. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 1000;
const MAX_AT_ONCE = 16;

/**
 * Polls for resolved approvals and notifies hooks, notifier and listeners. Each callback is claimed in the store first: if a worker dies in
 * the middle, the callback becomes `unknown` and is never repeated. `leaseMs` must be longer than the longest hook may take.
 */
export function runApprovalCallbacks({ leaseMs }: { readonly leaseMs: number }, needs: Needs): ApprovalCallbacks {
  const { store, workerId, log } = needs;
  const stopping = new AbortController();
  const isForHooks = needs.hooks?.deadlineMs('approval_resolved') !== undefined || needs.approvals !== undefined;
  const isWanted = (): boolean => isForHooks || needs.events.wants('approval.resolved');

  async function follow(lane: number): Promise<void> {
    // The id stays the same until the store has answered: if an answer is lost, the next request with this id returns the same approvals.
    let claimId = randomId();
    while (!stopping.signal.aborted) {
      let claimed: Approval[] = [];
      try {
        // Checked in every round, because listeners may be added and removed. Without one, the store is not polled.
        if (isWanted()) {
          claimed = await store.claimCallbacks({ lane, workerId, claimId, limit: MAX_AT_ONCE, leaseMs });
          claimId = randomId();
        }
      } catch (error) {
        log.warn({ stage: 'gate', error }, 'resolved approvals could not be read; trying again');
      }
      // Runs even if `stop` was called meanwhile: these callbacks are claimed, so no other worker can run them any more.
      await Promise.all(claimed.map((approval) => notifyResolved(approval, needs)));
      if (claimed.length < MAX_AT_ONCE) await pause(LOOK_EVERY_MS, stopping.signal);
    }
  }

  const lanes = Array.from({ length: store.lanes }, (_, lane) => follow(lane));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lanes);
    },
  };
}

/** Never rejects. */
async function notifyResolved(approval: Approval, needs: Needs): Promise<void> {
  const { question, resolution, requestedAt, resolvedAt = requestedAt } = approval;
  const { id, callId, tool, session, run, identity } = question;
  if (resolution !== undefined) {
    const { agent, tenant } = identity;
    const facts = { approvalId: id, resolution, durationMs: resolvedAt - requestedAt };
    needs.events.emit('approval.resolved', { ...facts, stage: 'gate', callId, tool, agent, tenant, session, run });
  }
  needs.approvals?.resolved(approval);
  try {
    if (needs.hooks !== undefined) await needs.hooks.resolved(await findTool(tool, needs), describeResolved(approval));
    await needs.store.finishCallback({ id, workerId: needs.workerId });
  } catch (error) {
    needs.log.warn({ stage: 'gate', approval: id, callId, error }, 'a callback was not finished; it becomes unknown');
  }
}

/**
 * Returns the tool as this worker or the catalog knows it. A deleted tool gets a minimal description, so that hooks for all tools run for
 * it, too.
 */
async function findTool(id: string, { tools, store }: Needs): Promise<HookedTool> {
  const served = tools().find(id)?.declaration;
  if (served !== undefined) return served;
  const { modules } = await store.readCatalog();
  const published = modules.flatMap(entriesOf).find((tool) => tool.id === id);
  return published ?? { id, effect: 'unsafe', privileged: false };
}

function describeResolved({ question, resolution = 'cancelled', votes }: Approval): ApprovalResolved {
  const { id, callId, tool, session, run, identity, askers, binding } = question;
  const by = resolution === 'timeout' || resolution === 'cancelled' ? undefined : votes.at(-1)?.by;
  return {
    approvalId: id,
    resolution,
    callId,
    tool,
    session,
    run,
    identity,
    askers,
    ...(by === undefined ? {} : { by: `${by.kind} ${by.name}` }),
    binding,
  };
}
