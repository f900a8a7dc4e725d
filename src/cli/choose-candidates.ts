import { nearNames } from '../base/near-names.ts';
import { escapeHidden } from '../base/escape-text.ts';
import { linesOfCandidate } from '../upstreams/import/describe-candidate.ts';
import type { ImportCandidate } from '../upstreams/import/plan-import.ts';
import type { CommandContext } from './command-context.ts';
import { CommandFailure, usage } from './command-failure.ts';
import { confirm, isAtTerminal } from './confirm.ts';
import { EXIT } from './exit-codes.ts';

/**
 * Shows the candidates and returns those to take: by the flags, or by asking for each. Undefined if there is no terminal to
 * ask at: then nothing is taken.
 */
export async function chooseCandidates(
  { terminal, options }: CommandContext,
  candidates: readonly ImportCandidate[],
): Promise<readonly ImportCandidate[] | undefined> {
  const { yes, only } = options as { yes?: boolean; only?: string };
  const named = only === undefined ? undefined : findNamed(only, candidates);
  const isAsking = yes !== true && named === undefined && !terminal.json && isAtTerminal();
  const taken: ImportCandidate[] = [];
  for (const candidate of candidates) {
    if (!terminal.json) showCandidate(candidate, terminal);
    if (isAsking && candidate.blocked === undefined && (await confirm(`Take ${candidate.id}?`))) taken.push(candidate);
  }
  if (isAsking) return taken;
  if (named !== undefined) return named;
  return yes === true ? candidates.filter(({ blocked, disabled }) => blocked === undefined && !disabled) : undefined;
}

function showCandidate(candidate: ImportCandidate, terminal: CommandContext['terminal']): void {
  const [title = '', ...facts] = linesOfCandidate(candidate);
  terminal.print('');
  terminal.print(title, 'bold');
  for (const fact of facts) terminal.print(fact, /^ {2}(?:WARNING|REFUSED)/.test(fact) ? 'yellow' : undefined);
}

/** The candidates that the flag names, by their ids or by the names that they have in the client. */
function findNamed(only: string, candidates: readonly ImportCandidate[]): ImportCandidate[] {
  const words = only.split(',').map((word) => word.trim());
  if (words.includes('')) throw usage('--only needs names: --only a,b');
  const named = words.flatMap((word) => {
    const found = candidates.filter(({ id }) => id === word);
    const all = found.length > 0 ? found : candidates.filter(({ entries }) => entries[0].place.name === word);
    if (all.length === 0) throw unknown(word, candidates);
    return all;
  });
  const refused = named.find(({ blocked }) => blocked !== undefined);
  if (refused === undefined) return [...new Set(named)];
  throw new CommandFailure(
    'IMPORT_REFUSED',
    EXIT.notOk,
    escapeHidden(`${refused.id} cannot be taken over: ${refused.blocked}. Nothing was written.`),
  );
}

function unknown(word: string, candidates: readonly ImportCandidate[]): CommandFailure {
  const ids = candidates.map(({ id }) => id);
  const [near] = nearNames(word, ids);
  const question = near === undefined ? '' : ` Did you mean ${near}?`;
  const fix = ids.length === 0 ? undefined : `There are: ${ids.slice(0, 20).join(', ')}`;
  return usage(`There is no server "${escapeHidden(word.slice(0, 80))}".${question}`, fix);
}
