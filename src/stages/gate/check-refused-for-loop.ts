import type { Ending } from '../../domain/call/ending.ts';
import { releasesKey } from '../../domain/outcome/outcome.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import { opposedByLoop } from '../../gate/judge.ts';
import type { DeliveredCall } from '../../domain/ports/plane.ts';
import { endedWithAdvice, historyOf, judgeLoop, reportLoop } from './judge-loop.ts';
import { endOpposed } from './refuse.ts';

type Admitted = DeliveredCall & { readonly policy: Policy };

/**
 * A call that identify refused skips all other checks, so an agent that repeats it forever would never be stopped. So loop detection looks
 * at refused calls too: an unknown tool name, a tool that the agent may not use, arguments that are always invalid.
 */
export function checkRefusedForLoop(admitted: Admitted, ending: Ending): Ending {
  const { delivery, policy, events } = admitted;
  if (ending.kind !== 'ended' || delivery.history === undefined || releasesKey(ending.outcome.kind)) return ending;
  const { agent } = JSON.parse(delivery.identity) as { agent: string };
  const loop = judgeLoop({ delivery, policy, agent, tool: { id: delivery.tool } }, historyOf(delivery));
  if (loop.kind === 'pass') return ending;
  reportLoop(loop, events);
  if (loop.kind === 'block') return endOpposed(opposedByLoop(loop), events);
  return endedWithAdvice(ending, loop);
}
