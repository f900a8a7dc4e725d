import { MOST_INJECTED } from '../../domain/injected-tools.ts';
import { splitToolId, type ToolId } from '../../domain/ids.ts';
import type { InjectedTool } from '../../domain/content.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { DeliveredCall, Plane } from '../../ports/plane.ts';

/**
 * Notes what a tool offered with its run, before the outcome is told: whoever reads it can use the offers. What is not kept is not told
 * either, and a worker that has lost the call keeps nothing; its settlement is fenced as well.
 */
export async function keepOffers(
  { delivery }: DeliveredCall,
  outcome: Outcome,
  needs: Pick<Plane, 'store' | 'log'>,
): Promise<Outcome> {
  const { writeBacks } = outcome;
  if (writeBacks === undefined) return outcome;
  const wanted = outcome.kind === 'ok' ? writeBacks.injectedTools : [];
  const kept = await keep(wanted);
  return { ...outcome, writeBacks: { ...writeBacks, injectedTools: wanted.filter(({ tool }) => kept.has(tool)) } };

  async function keep(offers: readonly InjectedTool[]): Promise<ReadonlySet<string>> {
    const tools = [...new Set(offers.map(({ tool }) => tool))].filter(
      (id): id is ToolId => splitToolId(id) !== undefined,
    );
    if (tools.length === 0) return new Set();
    const { callId, pool, workerId, entryId, fence } = delivery;
    try {
      const owned = { callId, pool, workerId, entryId, fence };
      const answer = await needs.store.injectTools({ ...owned, tools, limit: MOST_INJECTED });
      return new Set(answer.kind === 'injected' ? answer.tools : []);
    } catch (error) {
      // The outcome is worth more than its offers.
      needs.log.warn({ stage: 'settle', callId, error }, 'offered tools not kept');
      return new Set();
    }
  }
}
