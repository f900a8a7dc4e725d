import { agentsOf } from '../../domain/agent.ts';
import { DENIED_RESULT, type RunHistory } from '../../domain/attempt.ts';
import type { Policy } from '../../domain/policy.ts';
import type { Identity } from '../../domain/session.ts';
import { codeOf } from '../../wire/history.ts';

/** So often the same was denied in a run, and nobody is asked again. */
const DENIALS_ENOUGH = 2;
const DENIED = codeOf(DENIED_RESULT);

/** Why nobody needs to be asked about a call with this signature; undefined when somebody does. */
export function deniedAtOnce(
  { unattended }: Pick<Policy, 'unattended'>,
  identity: Identity,
  history: RunHistory,
  raw: string,
): string | undefined {
  const agent = unattended === undefined ? undefined : agentsOf(identity).find((name) => unattended.includes(name));
  if (agent !== undefined) return `agent ${agent} runs unattended`;
  const own = codeOf(raw);
  let denials = 0;
  for (let index = 0; index < history.length; index += 1) {
    if (history.raw(index) === own && history.result(index) === DENIED) denials += 1;
  }
  return denials >= DENIALS_ENOUGH ? 'the same call was denied twice in this run' : undefined;
}
