import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mutant } from '../../mutants/mutant.ts';
import { checkRequirements, countLine, type CheckedRequirement } from '../../requirements/check-requirements.ts';
import { REQUIREMENTS } from '../../requirements/index.ts';
import { checkAll } from '../../requirements/main.ts';
import type { ProvenRequirement, Requirement } from '../../requirements/requirement.ts';
import { spawnNode, temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { TOP } from './pages.ts';

const numbered = (letter: string, last: number): string[] =>
  Array.from({ length: last }, (_, index) => `${letter}${index + 1}`);

describe('the requirements', () => {
  let checked: CheckedRequirement[];
  beforeAll(() => void (checked = checkAll(TOP)));

  it('are all there, and none twice', () => {
    const ids = REQUIREMENTS.flatMap(({ rows }) => rows.map(({ id }) => id));
    expect(ids).toStrictEqual([
      ...numbered('A', 23),
      ...numbered('B', 12),
      ...numbered('C', 7),
      ...numbered('D', 10).flatMap((id) => (id === 'D5' ? [id, 'D5b'] : [id])),
      ...numbered('T', 7),
      ...numbered('S', 3),
      ...numbered('Y', 7),
      ...numbered('O', 7),
      ...numbered('J', 5),
      ...numbered('ADM', 4),
      ...numbered('SET', 11),
      ...numbered('FR', 6),
      ...numbered('AL', 3),
      ...numbered('LP', 5),
      ...numbered('RV', 4),
      ...numbered('SH', 4),
      ...numbered('AG', 4),
      ...numbered('UN', 3),
      ...numbered('TA', 2),
      ...numbered('LIB', 7),
      ...numbered('RH', 4),
      ...numbered('CO', 6),
      ...numbered('I', 26),
    ]);
  });

  it('have tests that are there, and known bugs which those catch', () => {
    const open = checked.filter(({ state }) => state === 'without proof');
    expect(open.map(({ id, problems }) => ({ id, problems }))).toStrictEqual([]);
  });

  it('are for later only where that is decided', () => {
    const later = checked.filter(({ state }) => state === 'later');
    expect(later.map(({ id }) => id)).toStrictEqual(['D5b', 'D6', 'D7']);
  });

  it('are counted by the command, which prints JSON and nothing else when asked to', async () => {
    const command = await spawnNode(join(TOP, 'scripts/requirements.mjs'), ['--json']);
    expect((await command.exited).code).toBe(0);
    expect(JSON.parse(command.stdout)).toStrictEqual(checked);
    expect(command.stderr.trim().split('\n').at(-1)).toBe(countLine(checked));
    const wrong = await spawnNode(join(TOP, 'scripts/requirements.mjs'), ['--jsno']);
    expect((await wrong.exited).code).toBe(2);
  });
});

describe('a requirement', () => {
  const FILE = 'test/doors.test.ts';
  let folder: TemporaryFolder;
  beforeAll(() => {
    folder = temporaryFolder('sallyport-requirements');
    mkdirSync(join(folder.path, 'test/suites'), { recursive: true });
    const suite = "export function describeLocks() {\n  it('a lock holds', () => {});\n}\n";
    writeFileSync(join(folder.path, 'test/suites/locks.ts'), suite);
    writeFileSync(
      join(folder.path, FILE),
      [
        "import { describeLocks } from './suites/locks.ts';",
        "const TABLE = [{ what: 'with rust' }];",
        "describe('a door', () => {",
        '  it(`of ${KIND} opens`, () => {});',
        "  it.each<string>(['a wind'])('withstands %s', () => {});",
        "  it.each(TABLE.filter(Boolean))('is refused $what', () => {});",
        "  it.skip('sings', () => {});",
        '});',
        "describe.skip('a window', () => {",
        "  it('opens too', () => {});",
        '});',
        'describeLocks();',
      ].join('\n'),
    );
    writeFileSync(join(folder.path, 'test/notes.ts'), "it('is no test file', () => {});");
  });
  afterAll(() => folder.remove());

  const caughtBy = (id: string, title?: string, file = FILE): Mutant => ({
    id,
    bug: 'It is open.',
    file: 'src/door.ts',
    find: 'shut',
    replace: 'open',
    caughtBy: [title === undefined ? { file } : { file, title }],
  });
  const MUTANTS = [
    caughtBy('any'),
    caughtBy('wind', 'a wind'),
    caughtBy('rust', 'with rust'),
    caughtBy('lock', 'holds'),
  ];

  function check(row: Partial<ProvenRequirement> | Requirement): CheckedRequirement {
    const complete = { id: 'X1', says: 'A door is a door.', tests: [], mutants: [], ...row } as Requirement;
    return checkRequirements([{ title: 'Doors', rows: [complete] }], MUTANTS, folder.path)[0]!;
  }

  it.each([
    [[{ file: FILE, title: 'a door of' }], ['any']],
    [[{ file: FILE, title: 'withstands' }], ['wind']],
    [[{ file: FILE, title: 'is refused' }], ['rust']],
    [[{ file: FILE, title: 'a lock' }], ['lock', 'any']],
  ])('is proved by %j and %j', (tests, mutants) => {
    expect(check({ tests, mutants })).toMatchObject({ state: 'proved', problems: [] });
  });

  it.each([
    [{ tests: [], mutants: ['any'] }, 'it names no test'],
    [{ tests: [{ file: FILE, title: 'opens' }] }, 'no mutant turns its tests red'],
    [{ tests: [{ file: FILE, title: 'opens' }], mutants: ['gone'] }, 'there is no mutant gone'],
    [{ tests: [{ file: FILE, title: 'opens' }], mutants: ['lock'] }, 'the mutant lock is caught by none of its tests'],
    [
      { tests: [{ file: FILE, title: 'withstands' }], mutants: ['rust'] },
      'the mutant rust is caught by none of its tests',
    ],
    [{ tests: [{ file: FILE, title: 'sings' }], mutants: ['any'] }, `no test of ${FILE} has "sings" in its title`],
    [
      { tests: [{ file: FILE, title: 'opens too' }], mutants: ['any'] },
      `no test of ${FILE} has "opens too" in its title`,
    ],
    [
      { tests: [{ file: 'test/gone.test.ts', title: 'x' }], mutants: ['any'] },
      'there is no test file test/gone.test.ts',
    ],
    [{ tests: [{ file: 'test/notes.ts', title: 'is' }], mutants: ['any'] }, 'there is no test file test/notes.ts'],
    [{ tests: [{ file: FILE, title: '' }], mutants: ['any'] }, `it names no title in ${FILE}`],
  ])('is without proof with %j', (row, problem) => {
    const { state, problems } = check(row);
    expect(state).toBe('without proof');
    expect(problems).toContain(problem);
  });

  it('for later says why', () => {
    expect(check({ id: 'X1', says: 'It flies.', later: 'No wings yet.' })).toMatchObject({ state: 'later' });
    expect(check({ id: 'X1', says: 'It flies.', later: ' ' })).toMatchObject({ state: 'without proof' });
  });

  it('has an id of its own', () => {
    const row = { id: 'X1', says: 'It flies.', later: 'No wings yet.' };
    const checked = checkRequirements([{ title: 'Doors', rows: [row, row] }], MUTANTS, folder.path);
    expect(checked.map(({ problems }) => problems)).toStrictEqual([['its id is used twice'], ['its id is used twice']]);
    expect(countLine(checked)).toBe('0 rows proved, 0 later, 2 without proof');
  });
});
