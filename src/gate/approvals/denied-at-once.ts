import { DENIED_RESULT, type RunHistory } from '../../domain/call/attempt.ts';
import type { Policy } from '../../domain/policy/policy.ts';
import type { Identity } from '../../domain/identity/session.ts';
import { whyUnattended } from '../../domain/identity/unattended.ts';
import { codeOf } from '../../domain/call/history.ts';

/** After this many denials of the same call in a run, no approver is asked about it again. */
const DENIALS_ENOUGH = 2;
const DENIED = codeOf(DENIED_RESULT);

/** The identity that makes a call, and the run that the call belongs to. */
interface Caller {
  readonly identity: Identity;
  readonly run: string;
}

/** Why no approver is asked about a call with this signature; undefined if an approver must be asked. */
export function deniedAtOnce(
  policy: Pick<Policy, 'unattended'>,
  { identity, run }: Caller,
  history: RunHistory,
  raw: string,
): string | undefined {
  const unattended = whyUnattended(policy, identity, run);
  if (unattended !== undefined) return unattended;
  const own = codeOf(raw);
  let denials = 0;
  for (let index = 0; index < history.length; index += 1) {
    if (history.raw(index) === own && history.result(index) === DENIED) denials += 1;
  }
  return denials >= DENIALS_ENOUGH ? 'the same call was denied twice in this run' : undefined;
}
