import { parseArgs } from 'node:util';
import { MUTANTS } from './catalogue/index.ts';
import type { Mutant } from './mutant.ts';
import { nameOf } from './runner/judge-mutant.ts';
import { stopChildren } from './runner/run-child.ts';
import { runMutants, type RunEnd } from './runner/run-mutants.ts';
import { tableOf } from './runner/table.ts';
import { makeFolder } from './runner/tree-copy.ts';

const USAGE = 'npm run chaos:mutants [-- --only id,… --jobs 2 --json --table | --list]';
const EXIT_USAGE = 2;

export interface MainOptions {
  readonly project: string;
  readonly args: readonly string[];
  /** Builds the project and provides what its tests need, such as a Redis server. */
  readonly prepare: () => Promise<void>;
  /** Writes the requested result to standard output. Progress goes to `console.log`, which the script may redirect to standard error. */
  readonly print: (text: string) => void;
}

/** Runs `npm run chaos:mutants`; resolves with the exit code. */
export async function main({ project, args, prepare, print }: MainOptions): Promise<number> {
  const options = readOptions(args);
  if (typeof options === 'string') {
    console.error(`${options}\n${USAGE}`);
    return EXIT_USAGE;
  }
  const { mutants, jobs } = options;
  if (options.list) {
    print(options.json ? JSON.stringify(mutants, undefined, 2) : mutants.map(describe).join('\n'));
    return 0;
  }
  await prepare();
  const folder = makeFolder();
  stopOnSignal(folder.remove);
  try {
    const end = await runMutants(mutants, { project, folder: folder.path, jobs, say: (line) => console.log(line) });
    if (options.json) print(JSON.stringify(end, undefined, 2));
    if (options.table && end.kind === 'judged') print(tableOf(mutants, end.judgements));
    return conclude(end);
  } finally {
    folder.remove();
  }
}

interface Options {
  readonly mutants: readonly Mutant[];
  readonly jobs: number;
  readonly list: boolean;
  readonly json: boolean;
  readonly table: boolean;
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
        table: { type: 'boolean', default: false },
      },
    }));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  const { list, json, table } = values;
  if (!/^[1-9]\d?$/.test(values.jobs)) return `--jobs takes a number from 1 to 99, not "${values.jobs}".`;
  const wanted = values.only?.split(',').filter(Boolean);
  const unknown = wanted?.filter((id) => !MUTANTS.some((mutant) => mutant.id === id)) ?? [];
  if (unknown.length > 0) return `No mutant has the id ${unknown.join(', ')}. --list shows them all.`;
  const mutants = wanted ? MUTANTS.filter((mutant) => wanted.includes(mutant.id)) : MUTANTS;
  if (mutants.length === 0) return '--only names no mutant.';
  return { mutants, jobs: Math.min(Number(values.jobs), mutants.length), list, json, table };
}

function describe({ id, bug, file, caughtBy }: Mutant): string {
  return `${id}\n  ${bug}\n  ${file}\n  ${caughtBy.map(nameOf).join('\n  ')}`;
}

function conclude(end: RunEnd): number {
  if (end.kind === 'refused') {
    console.log('Nothing was planted. A red test proves nothing unless it is green without the bug:');
    for (const problem of end.problems) console.log(`  ${problem}`);
    return 1;
  }
  const count = (result: string): number => end.judgements.filter((judgement) => judgement.result === result).length;
  if (count('error') > 0) console.log(`${count('error')} could not be judged: not built, or their tests not run`);
  console.log(`${count('caught')} caught, ${count('survived')} survived`);
  return count('survived') + count('error') === 0 ? 0 : 1;
}

function stopOnSignal(remove: () => void): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(signal, () => {
      void stopChildren().then(() => {
        remove();
        process.exit(code);
      });
    });
  }
}
