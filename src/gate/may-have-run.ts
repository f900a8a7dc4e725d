import type { Effect } from '../domain/tool.ts';
import type { Delivery } from '../ports/call-store.ts';

/**
 * Whether a former owner may have run the call without a start mark, as `read` and `idempotent` tools do. Only of an unsafe tool
 * without a mark is it known that it did not.
 */
export function mayHaveRun(
  { recovered, handedBack, fence, resumedWith }: Pick<Delivery, 'recovered' | 'handedBack' | 'fence' | 'resumedWith'>,
  effect: Effect | undefined,
): boolean {
  // It waited for a person and not for a worker.
  if (recovered === undefined || resumedWith?.untouched === true) return false;
  // All owners so far did not serve it and handed it back in identify, so nobody has begun it.
  if (handedBack === fence - 1) return false;
  return effect !== 'unsafe' || recovered.starts > 0;
}
