import { parseArgs } from 'node:util';
import { MUTANTS } from './catalogue/index.ts';
import type { Mutant } from './mutant.ts';
import { nameOf } from './runner/judge-mutant.ts';
import { stopChildren } from './runner/run-child.ts';
import { runMutants, type RunEnd } from './runner/run-mutants.ts';
import { makeFolder } from './runner/tree-copy.ts';

const USAGE = 'npm run chaos:mutants [-- --only id,… --jobs 2 --json | --list]';
const EXIT_USAGE = 2;

/** What `npm run chaos:mutants` does; resolves with the exit code. */
export async function main(project: string, args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`${options}\n${USAGE}`);
    return EXIT_USAGE;
  }
  if (options.list) {
    list(options.mutants, options.json);
    return 0;
  }
  const folder = makeFolder();
  stopOnSignal(folder.remove);
  try {
    // With --json, standard output holds the result alone.
    const say = options.json ? console.error : console.log;
    const end = await runMutants(options.mutants, { project, folder: folder.path, jobs: options.jobs, say });
    if (options.json) console.log(JSON.stringify(end, undefined, 2));
    return conclude(end, say);
  } finally {
    folder.remove();
  }
}

interface Options {
  readonly mutants: readonly Mutant[];
  readonly jobs: number;
  readonly list: boolean;
  readonly json: boolean;
}

function readOptions(args: readonly string[]): Options | string {
  let values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        jobs: { type: 'string', default: '2' },
        list: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  if (!/^[1-9]\d?$/.test(values.jobs)) return `--jobs takes a number from 1 to 99, not "${values.jobs}".`;
  const wanted = values.only?.split(',').filter(Boolean);
  const unknown = wanted?.filter((id) => !MUTANTS.some((mutant) => mutant.id === id)) ?? [];
  if (unknown.length > 0) return `No mutant has the id ${unknown.join(', ')}. --list shows them all.`;
  const mutants = wanted ? MUTANTS.filter((mutant) => wanted.includes(mutant.id)) : MUTANTS;
  if (mutants.length === 0) return '--only names no mutant.';
  return { mutants, jobs: Math.min(Number(values.jobs), mutants.length), list: values.list, json: values.json };
}

function list(mutants: readonly Mutant[], json: boolean): void {
  if (json) console.log(JSON.stringify(mutants, undefined, 2));
  else
    for (const { id, bug, file, caughtBy } of mutants)
      console.log(`${id}\n  ${bug}\n  ${file}\n  ${caughtBy.map(nameOf).join('\n  ')}`);
}

function conclude(end: RunEnd, say: (line: string) => void): number {
  if (end.kind === 'refused') {
    say(`Nothing was planted. A red test proves nothing unless it is green without the bug:`);
    for (const problem of end.problems) say(`  ${problem}`);
    return 1;
  }
  const count = (result: string): number => end.judgements.filter((judgement) => judgement.result === result).length;
  if (count('error') > 0) say(`${count('error')} could not be judged: not built, or their tests not run`);
  say(`${count('caught')} caught, ${count('survived')} survived`);
  return count('survived') + count('error') === 0 ? 0 : 1;
}

function stopOnSignal(remove: () => void): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      stopChildren();
      remove();
      process.exit(code);
    });
  }
}
