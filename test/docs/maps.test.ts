import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { links, readPages, TOP } from './pages.ts';

const pages = readPages();
const textOf = (path: string): string => pages.find((page) => page.path === path)!.text;
const readme = textOf('README.md');

/** The first cells of a table, by the head of its first column. */
function firstCells(text: string, head: string): string[] {
  const rows = new RegExp(`^\\| ${head} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, 'm').exec(text)?.[1];
  if (rows === undefined) throw new Error(`There is no table of ${head}.`);
  return rows
    .trim()
    .split('\n')
    .map((row) => row.split(' | ')[0]!.slice(2));
}
const codesIn = (cells: readonly string[]): string[] =>
  cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!));

describe('the README', () => {
  it('names every folder of the repository and of src/ once, and no other', () => {
    const tracked = execFileSync('git', ['ls-files'], { cwd: TOP, encoding: 'utf8' }).split('\n');
    const top = tracked.filter((path) => path.includes('/')).map((path) => path.split('/')[0]!);
    const shown = [...new Set(top)].filter((name) => !name.startsWith('.') && name !== 'src');
    const rooms = readdirSync(join(TOP, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const expected = [...shown.map((name) => `${name}/`), ...rooms.map(({ name }) => `src/${name}/`)];
    expect(codesIn(firstCells(readme, 'folder')).sort()).toStrictEqual(expected.sort());
  });

  it('names every import path of the package once, and no other', () => {
    const { exports } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8')) as { exports: object };
    const expected = Object.keys(exports)
      .filter((path) => path !== './package.json')
      .map((path) => path.replace('.', 'sallyport'));
    expect(codesIn(firstCells(readme, 'import path'))).toStrictEqual(expected);
  });
});

it('CONTRIBUTING.md lists every command of npm', () => {
  const { scripts } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8')) as { scripts: object };
  const commands = /## Commands([^]*?)\n## /.exec(textOf('CONTRIBUTING.md'))![1]!;
  const named = (name: string): boolean =>
    [`\`npm ${name}\``, `\`npm run ${name}\``, `\`npm run ${name} --`].some((text) => commands.includes(text));
  expect(Object.keys(scripts).filter((name) => !named(name))).toStrictEqual([]);
});

describe('the glossary', () => {
  const cells = firstCells(textOf('docs/glossary.md'), 'word');
  const words = cells.flatMap((cell) => cell.replaceAll('*', '').split(', '));

  it('has each word once', () => {
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toStrictEqual([]);
    expect(cells.filter((cell) => !/^\*\*[^*]+\*\*(, \*\*[^*]+\*\*)*$/.test(cell))).toStrictEqual([]);
  });

  it('is in alphabetical order', () => {
    const letters = cells.map((cell) => cell.toLowerCase().replaceAll(/[^a-z ]/g, ''));
    expect(letters).toStrictEqual([...letters].sort());
  });

  it('has the words that everything else is explained with', () => {
    const basic =
      'tool module catalog agent selection toolkit session run call lease fence gate verdict approval grant outcome waiter pool lane worker gateway console store plane';
    expect([...basic.split(' '), 'calls owed'].filter((word) => !words.includes(word))).toStrictEqual([]);
  });
});

describe('the changelog', () => {
  it('names each change once', () => {
    const entries = [...textOf('CHANGELOG.md').matchAll(/^- (.+)$/gm)].map(([, entry]) => entry!);
    const starts = entries.map((entry) =>
      entry
        .split(/[ :,.]+/)
        .slice(0, 3)
        .join(' '),
    );
    expect(starts.filter((start, at) => starts.indexOf(start) !== at)).toStrictEqual([]);
    expect(new Set(entries).size).toBe(entries.length);
  });
});

/** `the HTTP API` is `http api`. */
const wordsOf = (text: string): string[] =>
  (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => word !== 'the' && word !== 'a');

describe('links', () => {
  it('whose words are in the title of one page lead to that page', () => {
    const titles = pages
      .filter(({ path }) => !path.startsWith('docs/decisions/'))
      .map(({ path, text }) => ({ path, title: ` ${wordsOf(/^# (.+)$/m.exec(text)![1]!).join(' ')} ` }));
    const wrong = pages.flatMap((page) =>
      links(page).flatMap(({ place, words, target }) => {
        const named = wordsOf(words).join(' ');
        const meant = titles.filter(({ title }) => title.includes(` ${named} `));
        const isElsewhere = /^(https?:|#)/.test(target) || target.endsWith('.png');
        if (named === '' || meant.length !== 1 || isElsewhere) return [];
        const path = normalize(join(dirname(page.path), target.split('#')[0]!));
        return path === meant[0]!.path ? [] : [`${place}: [${words}] leads to ${path}, not to ${meant[0]!.path}`];
      }),
    );
    expect(wrong).toStrictEqual([]);
  });
});
