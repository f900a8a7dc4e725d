import type { Ending } from '../../domain/call/ending.ts';
import { releasesKey } from '../../domain/outcome/outcome.ts';
import { opposedByLoop } from '../../gate/judge.ts';
import type { AdmittedCall } from '../../domain/ports/staged-calls.ts';
import { endedWithAdvice, historyOf, judgeLoop, reportLoop } from './judge-loop.ts';
import { endOpposed } from './verdict.ts';

/**
 * A call that identify refused skips all other checks, so an agent that repeats it forever would never be stopped. So loop detection looks
 * at refused calls too: an unknown tool name, a tool that the agent may not use, arguments that are always invalid.
 */
export function checkRefusedForLoop(admitted: AdmittedCall, ending: Ending): Ending {
  const { delivery, policy, events } = admitted;
  if (ending.kind !== 'ended' || delivery.history === undefined || releasesKey(ending.outcome.kind)) return ending;
  const { agent } = JSON.parse(delivery.identity) as { agent: string };
  const loop = judgeLoop({ delivery, policy, agent, tool: { id: delivery.tool } }, historyOf(delivery));
  if (loop.kind === 'pass') return ending;
  reportLoop(loop, events);
  if (loop.kind === 'block') return endOpposed(opposedByLoop(loop), events);
  return endedWithAdvice(ending, loop);
}
