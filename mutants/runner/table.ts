import type { Mutant } from '../mutant.ts';
import type { Judgement } from './judge-mutant.ts';

/** The table of docs/proofs/mutants.md, as Markdown: each bug, the tests that turned red, and the seconds it took. */
export function tableOf(mutants: readonly Mutant[], judgements: readonly Judgement[]): string {
  const rows = judgements.map(({ id, result, red, tookMs }) => {
    const mutant = mutants.find((each) => each.id === id)!;
    const [first = ''] = red;
    const more = red.length > 1 ? ` and ${red.length - 1} more` : '';
    const shown = result === 'caught' ? `${mutant.caughtBy[0]!.file}: “${first}”${more}` : `**${result}**`;
    return `| \`${id}\` | ${cell(mutant.bug)} | ${cell(shown)} | ${(tookMs / 1000).toFixed(1)} |`;
  });
  return ['| bug | what it does | what turned red | seconds |', '| --- | --- | --- | ---: |', ...rows].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', String.raw`\|`);
}
