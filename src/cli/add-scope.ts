import type { TokenScope } from '../domain/identity/gateway-token.ts';
import { usage } from './command-failure.ts';

/** Adds one value of the repeatable option `--scope`. Rejects an unknown scope and a duplicate. */
export function addScope(
  known: readonly TokenScope[],
  word: string,
  before: readonly TokenScope[] = [],
): readonly TokenScope[] {
  const scope = known.find((one) => one === word);
  if (scope === undefined) throw usage(`--scope: Expected one of ${known.join(', ')}.`);
  if (before.includes(scope)) throw usage(`--scope ${scope} is given twice.`);
  return [...before, scope];
}
