import type { Effect } from '../domain/tool/tool.ts';
import type { Delivery } from '../domain/ports/call-requests.ts';

/**
 * Whether an earlier worker may have run the tool for this call. `read` and `idempotent` tools may run without a start mark, so a missing
 * mark proves that the tool did not run only if the tool is `unsafe`.
 */
export function mayHaveRun(
  { recovered, handedBack, fence, resumedWith }: Pick<Delivery, 'recovered' | 'handedBack' | 'fence' | 'resumedWith'>,
  effect: Effect | undefined,
): boolean {
  // This is the first delivery, or the call was parked for an approval before any start and this is the first delivery since.
  if (recovered === undefined || resumedWith?.untouched === true) return false;
  // Every earlier worker handed the call back in `identify` because it does not serve the tool, so none of them started it.
  if (handedBack === fence - 1) return false;
  return effect !== 'unsafe' || recovered.starts > 0;
}
