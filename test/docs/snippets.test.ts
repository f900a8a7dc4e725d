import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nearNames } from '../../src/base/near-names.ts';
import { readManifest } from '../../src/modules/catalog/read-manifest.ts';
import { createProgram } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { OPTION_ROWS } from '../../src/config/option-rows.ts';
import { readPolicyFile } from '../../src/gate/policy/policy-file.ts';
import { OUTCOME_KINDS } from '../../src/domain/outcome/outcome.ts';
import { STAGES } from '../../src/domain/call/stages.ts';
import { DEFAULT_LIMITS } from '../../src/domain/tool/tool.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { problemOf, shownCommands } from './commands.ts';
import { codeBlocks, inlineCode, readPages, TOP, type CodeBlock } from './pages.ts';

const pages = readPages();
const pageAt = (path: string) => pages.find((page) => page.path === path)!;
const blocksOf = (language: string): CodeBlock[] =>
  pages.flatMap((page) => (page.generated ? [] : codeBlocks(page))).filter((block) => block.language === language);

/** Every region of an example, and every example without regions as a whole, by its text. */
function readRegions(): Map<string, string> {
  const regions = new Map<string, string>();
  const folder = join(TOP, 'examples/docs');
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )) {
    const text = readFileSync(join(folder, name), 'utf8');
    const found = [...text.matchAll(/^ *\/\/ #region (\S+)\n([\s\S]*?)^ *\/\/ #endregion/gm)];
    if (found.length === 0) regions.set(dedent(text), name);
    for (const [, region, body] of found) regions.set(dedent(body!), `${name}#${region}`);
  }
  return regions;
}

function dedent(text: string): string {
  const lines = text.trimEnd().split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const least = Math.min(...indents);
  return lines.map((line) => line.slice(least)).join('\n');
}

describe('the TypeScript on the pages', () => {
  const regions = readRegions();

  it('is a region of a file in examples/docs, which the compiler checks', () => {
    const shown = blocksOf('ts');
    expect(
      shown.filter(({ text }) => !regions.has(dedent(text))).map(({ place, text }) => `${place}\n${text}`),
    ).toStrictEqual([]);
    expect(shown.length).toBeGreaterThan(15);
  });

  it('leaves no region of examples/docs unused', () => {
    const shown = new Set(blocksOf('ts').map(({ text }) => dedent(text)));
    expect([...regions].filter(([text]) => !shown.has(text)).map(([, name]) => name)).toStrictEqual([]);
  });

  /** Pages whose blocks are copied into one file, from the top down. On other pages a block stands in a program of the reader. */
  const WHOLE = ['docs/tools.md', 'docs/services.md', 'docs/hooks.md'];

  it('imports what it calls, in the same block or above it on the page', () => {
    const missing = readPages().flatMap((page) => {
      const known = new Set<string>();
      return codeBlocks(page).flatMap(({ language, place, text }) => {
        const example = language === 'ts' ? regions.get(dedent(text)) : undefined;
        if (example === undefined) return [];
        for (const { name } of importsOf(text)) known.add(name);
        const [file] = example.split('#');
        const imports = importsOf(readFileSync(join(TOP, 'examples/docs', file!), 'utf8'));
        return imports
          .filter(({ from }) => from.startsWith('node:') || WHOLE.includes(page.path))
          .filter(({ name }) => !known.has(name) && new RegExp(`(?<![.\\w'"])${name}[(.]`).test(text))
          .map(({ name, from }) => `${place}: ${name} of ${from}`);
      });
    });
    expect(missing).toStrictEqual([]);
  });
});

/** The values that a file imports. A type that is not imported fails no program. */
function importsOf(text: string): { readonly name: string; readonly from: string }[] {
  return [...text.matchAll(/^import (?!type )(.*?) from '(.*?)';$/gms)].flatMap(([, names, from]) =>
    names!
      .split(/[{},]/)
      .map((part) => part.trim().split(/ as /).at(-1)!)
      .filter((name) => name !== '' && !name.startsWith('type '))
      .map((name) => ({ name, from: from! })),
  );
}

describe('the YAML on the pages', () => {
  let folder: TemporaryFolder;
  beforeAll(() => (folder = temporaryFolder('sallyport-docs')));
  afterAll(() => folder.remove());

  const readers: Readonly<Record<string, (path: string) => unknown>> = {
    '# config': (file) => loadConfig({ env: { REDIS_PASSWORD: 'x' }, cwd: folder.path, file, near: nearNames }),
    '# policy': (file) => readPolicyFile(file, nearNames),
    '# manifest': (file) => {
      const read = readManifest(file, readFileSync(file));
      if (read.kind === 'problem') throw new Error(read.problem);
    },
  };
  const blocks = blocksOf('yaml').filter(({ place }) => !place.startsWith('examples/'));

  it('is there', () => expect(blocks.length).toBeGreaterThan(4));

  it.each(blocks)('of $place is accepted by what reads it', ({ text }) => {
    const [kind = ''] = text.split('\n');
    const read = readers[kind];
    if (read === undefined) throw new Error(`The first line says what it is: ${Object.keys(readers).join(', ')}`);
    const file = join(folder.path, 'block.yaml');
    writeFileSync(file, text, { mode: 0o600 });
    expect(() => read(file)).not.toThrow();
  });
});

describe('the commands on the pages', () => {
  it('begin with `sallyport`, as README says; only README writes the command of a clone', () => {
    const others = pages.filter(({ path }) => path !== 'README.md').flatMap(shownCommands);
    expect(
      others
        .filter(({ line }) => !line.startsWith('sallyport ') && line.includes(' '))
        .map(({ place, line }) => `${place}: ${line}`),
    ).toEqual([]);
  });

  it('write secrets only where .gitignore keeps them out of a commit', () => {
    const written = pages.flatMap(shownCommands).flatMap(({ place, line }) => {
      const out = /^(?:\.\/)?sallyport (?:tokens create|sessions open|audit auditor-key)\b.* --out (\S+)/.exec(
        line,
      )?.[1];
      return out === undefined || out.startsWith('/') ? [] : [{ place, out }];
    });
    const ignored = readFileSync(join(TOP, '.gitignore'), 'utf8').split('\n');
    const isIgnored = (out: string): boolean => out.endsWith('.token') || ignored.includes(`/${out}/`);
    expect(ignored).toContain('*.token');
    expect(written.filter(({ out }) => !isIgnored(out))).toEqual([]);
    expect(written.length).toBeGreaterThan(4);
  });

  it('exist, with the flags and arguments shown', async () => {
    const program = await createProgram();
    const shown = pages.flatMap(shownCommands);
    const wrong = shown.flatMap((command) => {
      const problem = problemOf(command, program);
      return problem === undefined ? [] : [`${command.place}: ${command.line}: ${problem}`];
    });
    expect(wrong).toStrictEqual([]);
    expect(shown.length).toBeGreaterThan(40);
  });

  it('of npm exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(TOP, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const named = pages
      .flatMap(inlineCode)
      .flatMap(({ code }) => [...code.matchAll(/^npm run (\S+)/g)].map(([, name]) => name!));
    expect(named.filter((name) => !Object.hasOwn(scripts, name))).toStrictEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });
});

describe('the words on the pages', () => {
  it('of docs/data-path.md have a heading for each stage, in order', () => {
    const headings = [...pageAt('docs/data-path.md').text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings.slice(0, STAGES.length)).toStrictEqual([...STAGES]);
  });

  it('of the README name every kind of outcome', () => {
    const table = /## Outcomes([\s\S]*?)\n## /.exec(pageAt('README.md').text)![1]!;
    expect(OUTCOME_KINDS.filter((kind) => !table.includes(`\`${kind}\``))).toStrictEqual([]);
  });

  it.each([
    ['docs/failure.md', 'lease 15 s', 'worker.leaseMs', 15_000],
    ['docs/failure.md', 'within the grace, 30 s', 'worker.graceMs', 30_000],
    ['docs/failure.md', 'up to 15 s (`redis.patienceMs`)', 'redis.patienceMs', 15_000],
    ['docs/failure.md', 'for 10 s (`redis.commandTimeoutMs`)', 'redis.commandTimeoutMs', 10_000],
    ['docs/failure.md', 'At most 64 of its calls', 'admission.subjectWindow', 64],
    ['docs/operations.md', '| `admission.liveCalls` | 100,000 |', 'admission.liveCalls', 100_000],
    ['docs/operations.md', '| `admission.liveBytes` | 256 MiB |', 'admission.liveBytes', 256 * 1024 * 1024],
    ['docs/operations.md', '| `admission.retainedBytes` | 1 GiB |', 'admission.retainedBytes', 1024 * 1024 * 1024],
    ['docs/operations.md', '| `admission.subjectBacklog` | 20,000 |', 'admission.subjectBacklog', 20_000],
    ['docs/operations.md', '| `worker.retentionMs` | 24 h |', 'worker.retentionMs', 24 * 60 * 60 * 1000],
  ])('of %s say "%s", which is the default of %s', (path, words, option, value) => {
    expect(pageAt(path).text.toLowerCase()).toContain(words.toLowerCase());
    expect(OPTION_ROWS.find((row) => row.path === option)?.fallback).toBe(value);
  });

  it('of docs/tools.md name the default limits of a tool', () => {
    const rows = [...pageAt('docs/tools.md').text.matchAll(/^\| `(timeoutMs|waitMs|maxAttempts)` \| ([\d,]+)/gm)];
    const named = Object.fromEntries(rows.map(([, name, number]) => [name, Number(number!.replaceAll(',', ''))]));
    const { timeoutMs, waitMs, maxAttempts } = DEFAULT_LIMITS;
    expect(named).toStrictEqual({ timeoutMs, waitMs, maxAttempts });
  });
});
