import type { Ending } from '../../domain/ending.ts';
import { releasesKey } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import type { DeliveredCall } from '../../ports/plane.ts';
import { blockedByLoop, endedWithAdvice, historyOf, judgeLoop, tellWarning } from './judge-loop.ts';

type Claimed = DeliveredCall & { readonly policy: Policy };

/**
 * A call that identify has refused goes through no other check, and an agent that sends it again and again would never be stopped. So
 * loop detection looks at it too: a name that does not exist, a tool that it may not use, arguments that never fit.
 */
export function brakeRefused(claimed: Claimed, ending: Ending): Ending {
  const { delivery, policy, events } = claimed;
  if (ending.kind !== 'ended' || delivery.history === undefined || releasesKey(ending.outcome.kind)) return ending;
  const { agent } = JSON.parse(delivery.identity) as { agent: string };
  const loop = judgeLoop({ delivery, policy, agent, tool: { id: delivery.tool } }, historyOf(delivery));
  if (loop.kind === 'block') return blockedByLoop(loop, events);
  tellWarning(loop, events);
  return endedWithAdvice(ending, loop);
}
