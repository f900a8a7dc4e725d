import { MAX_INJECTED } from '../../domain/tool/injected-tools.ts';
import { splitToolId, type ToolId } from '../../domain/identity/ids.ts';
import type { InjectedTool } from '../../domain/outcome/content.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { DeliveredCall, Plane } from '../../domain/ports/plane.ts';

/**
 * Stores the tools that a call offered to its run. This is done before the outcome is visible, so that a caller that reads the outcome can
 * use the offers at once. Offers that could not be stored are removed from the outcome. If this worker has lost the call, the store refuses
 * both the offers and the outcome.
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
      const answer = await needs.store.injectTools({ ...owned, tools, limit: MAX_INJECTED });
      return new Set(answer.kind === 'injected' ? answer.tools : []);
    } catch (error) {
      // A lost outcome would be worse than lost offers, so the call is settled without them.
      needs.log.warn({ stage: 'settle', callId, error }, 'offered tools not kept');
      return new Set();
    }
  }
}
