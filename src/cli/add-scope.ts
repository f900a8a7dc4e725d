import type { TokenScope } from '../domain/identity/gateway-token.ts';
import { Option } from 'commander';
import { usage } from './command-failure.ts';

/** The repeatable option `--scope`. Help and completion list its values. */
export function scopeOption(known: readonly TokenScope[], description: string): Option {
  // `choices` sets a parser too, for a single value, so the parser comes last.
  return new Option('--scope <scope>', description)
    .choices(known)
    .argParser((word, before: readonly TokenScope[] | undefined) => addScope(known, word, before));
}

/** Adds one value of the repeatable option `--scope`. Rejects an unknown scope and a duplicate. */
function addScope(
  known: readonly TokenScope[],
  word: string,
  before: readonly TokenScope[] = [],
): readonly TokenScope[] {
  const scope = known.find((one) => one === word);
  if (scope === undefined) throw usage(`--scope: Expected one of ${known.join(', ')}.`);
  if (before.includes(scope)) throw usage(`--scope ${scope} is given twice.`);
  return [...before, scope];
}
