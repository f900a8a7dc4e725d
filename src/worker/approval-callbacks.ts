import { setTimeout } from 'node:timers/promises';
import type { Approval } from '../domain/approval.ts';
import type { ApprovalResolved, HookedTool } from '../domain/hook.ts';
import { entriesOf } from '../domain/module.ts';
import type { Plane } from '../ports/plane.ts';
import { randomId } from '../wire/ids.ts';

type Needs = Pick<Plane, 'workerId' | 'store' | 'hooks' | 'approvals' | 'events' | 'log' | 'tools'>;

export interface ApprovalCallbacks {
  /** Claims no more. Resolves when what was claimed is finished; hooks have their deadlines. */
  stop(): Promise<void>;
}

const LOOK_EVERY_MS = 1000;
const MOST_AT_ONCE = 16;

/**
 * Hears how questions ended, and tells hooks, notifier and listeners. What is told was claimed in the store before: a worker that dies
 * in the middle leaves it `unknown`, and nobody tells it again. `leaseMs` has to be longer than the longest hook may take.
 */
export function runApprovalCallbacks({ leaseMs }: { readonly leaseMs: number }, needs: Needs): ApprovalCallbacks {
  const { store, workerId, log } = needs;
  const stopping = new AbortController();
  const isForHooks = needs.hooks?.deadlineMs('approval_resolved') !== undefined || needs.approvals !== undefined;
  const isWanted = (): boolean => isForHooks || needs.events.wants('approval.resolved');

  async function follow(lane: number): Promise<void> {
    // Kept until there is an answer: if that was lost on its way, the same approvals come again.
    let claimId = randomId();
    while (!stopping.signal.aborted) {
      let claimed: Approval[] = [];
      try {
        // Looking for them costs the store something, and listeners come and go.
        if (isWanted()) {
          claimed = await store.claimCallbacks({ lane, workerId, claimId, limit: MOST_AT_ONCE, leaseMs });
          claimId = randomId();
        }
      } catch (error) {
        log.warn({ stage: 'gate', error }, 'resolved approvals could not be read; trying again');
      }
      // Also after a stop: claimed by us, they are nobody else's any more.
      await Promise.all(claimed.map((approval) => tell(approval, needs)));
      if (claimed.length < MOST_AT_ONCE) await pause(LOOK_EVERY_MS, stopping.signal);
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
async function tell(approval: Approval, needs: Needs): Promise<void> {
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

/** Its own, the one in the catalog, or of a tool that is gone what is known of it: hooks for all tools are told all the same. */
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

/** Ends early when the signal says so. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined);
}
