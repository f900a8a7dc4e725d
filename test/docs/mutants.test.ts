import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MUTANTS } from '../../mutants/catalogue/index.ts';
import type { Mutant } from '../../mutants/mutant.ts';
import { findProblems } from '../../mutants/runner/find-problems.ts';
import { runMutants } from '../../mutants/runner/run-mutants.ts';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { TOP } from './pages.ts';

describe('the list of mutants', () => {
  it('has for each bug a text that occurs once in its file, and tests that exist', () => {
    expect(findProblems(MUTANTS, TOP)).toEqual([]);
  });
});

describe('a mistake in the list', () => {
  const door: Mutant = {
    id: 'door-stays-open',
    bug: 'It does.',
    file: 'src/door.ts',
    find: 'shut',
    replace: 'open',
    caughtBy: [{ file: 'test/door.test.ts', title: 'a door is shut' }],
  };
  let folder: TemporaryFolder;
  beforeAll(() => {
    folder = temporaryFolder('sallyport-mutants-list');
    for (const name of ['src', 'test']) mkdirSync(join(folder.path, name));
    writeFileSync(join(folder.path, 'src/door.ts'), 'shut lock lock');
    writeFileSync(join(folder.path, 'test/suite.ts'), "it('a door is shut', () => {});");
    writeFileSync(join(folder.path, 'test/door.test.ts'), "import { suite } from './suite.ts';");
  });
  afterAll(() => folder.remove());

  it.each<[string, Partial<Mutant>]>([
    ['occurs 0 times', { find: 'ajar' }],
    ['occurs 2 times', { find: 'lock' }],
    ['there is no src/gone.ts', { file: 'src/gone.ts' }],
    ['there is no test file test/gone.test.ts', { caughtBy: [{ file: 'test/gone.test.ts' }] }],
    ['no test of test/door.test.ts', { caughtBy: [{ file: 'test/door.test.ts', title: 'a window' }] }],
    ['it names no test', { caughtBy: [] }],
    ['it changes nothing', { replace: 'shut' }],
    ['its id is not kebab-case', { id: 'Door' }],
  ])('is reported: %s', (problem, change) => {
    expect(findProblems([door], folder.path)).toEqual([]);
    expect(findProblems([{ ...door, ...change }], folder.path)).toEqual([expect.stringContaining(problem)]);
  });

  it('is reported: an id that is used twice', () => {
    expect(findProblems([door, door], folder.path)).toEqual(['door-stays-open: its id is used twice']);
  });
});

describe('a run', () => {
  const FENCE = MUTANTS.find(({ id }) => id === 'settle-ignores-the-fence')!;
  let folder: TemporaryFolder;
  beforeAll(() => void (folder = temporaryFolder('sallyport-mutants-run')));
  afterAll(() => folder.remove());

  const run = (mutants: readonly Mutant[], name: string) => {
    mkdirSync(join(folder.path, name));
    return runMutants(mutants, { project: TOP, folder: join(folder.path, name), jobs: 1, say: () => undefined });
  };

  it('distinguishes bugs that are caught, that survive and that cannot be built, and does not change the tree', async () => {
    const harmless = { ...FENCE, id: 'harmless', replace: `(${FENCE.find})` };
    const broken = {
      ...FENCE,
      id: 'broken',
      file: 'src/domain/outcome/outcome.ts',
      find: "'overloaded'];",
      replace: "'overladen'];",
    };
    const files = [FENCE.file, broken.file, 'dist/domain/outcome/outcome.js'];
    const read = () => files.map((file) => readFileSync(join(TOP, file), 'utf8'));
    const before = read();
    const end = await run([FENCE, harmless, broken], 'judged');
    expect(end).toMatchObject({
      kind: 'judged',
      judgements: [
        { id: FENCE.id, result: 'caught', red: [expect.stringContaining(FENCE.caughtBy[0]!.title!)] },
        { id: 'harmless', result: 'survived', red: [] },
        { id: 'broken', result: 'error', reason: expect.stringContaining('could not be built') as string },
      ],
    });
    expect(read()).toEqual(before);
    const copied = files.map((file) => readFileSync(join(folder.path, 'judged/job-1', file), 'utf8'));
    expect(copied).toEqual(before);
  });

  it('plants nothing when a title is that of no test', async () => {
    const caughtBy = [{ file: 'test/docs/mutants.test.ts', title: 'only in this text, not in a title' }];
    expect(await run([{ ...FENCE, caughtBy }], 'refused')).toEqual({
      kind: 'refused',
      problems: [`no test: ${caughtBy[0]!.file} "${caughtBy[0]!.title}"`],
    });
  });
});

it('the command prints only JSON of all mutants, and refuses unknown ids', async () => {
  const command = join(TOP, 'scripts/mutants.mjs');
  const list = await spawnNode(command, ['--list', '--json']);
  expect((await list.exited).code).toBe(0);
  expect(JSON.parse(list.stdout)).toEqual(MUTANTS);
  const wrong = await spawnNode(command, ['--only', 'nobody']);
  expect((await wrong.exited).code).toBe(2);
  expect(wrong.stderr).toContain('No mutant has the id nobody');
});
