import { mkdirSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { loadModules, type KnownModules } from '../../src/modules/catalog/load-modules.ts';
import type { LoadResult } from '../../src/modules/catalog/loaded-module.ts';
import { BAD_MODULES } from '../fixtures/catalog/bad-modules.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';

const folders: ModuleFolder[] = [];
function folderOf(files: Record<string, string>): ModuleFolder {
  const folder = createModuleFolder(files);
  folders.push(folder);
  return folder;
}
afterEach(() => {
  for (const folder of folders.splice(0)) folder.dispose();
});

const idsOf = (result: LoadResult): string[] => result.modules.map((module) => module.declaration.id);

describe('loadModules', () => {
  it('loads files and folders with an index, and skips what is not meant as a module', async () => {
    const { path, file } = folderOf({
      'clock.js': moduleText({ id: 'clock' }),
      'notes.mjs': moduleText({ id: 'notes' }),
      'web/index.js': moduleText({ id: 'web', before: "import './parts/one.js';" }),
      'web/parts/one.js': '',
      'web/not-a-module.js': 'throw new Error();',
      '_shared.js': 'throw new Error();',
      '.hidden.js': 'throw new Error();',
      'README.md': '# modules',
      'data/rows.json': '[]',
    });
    const result = await loadModules(path);
    expect(result.broken).toStrictEqual([]);
    expect(result.modules.map((module) => [module.declaration.id, module.file])).toStrictEqual([
      ['clock', file('clock.js')],
      ['notes', file('notes.mjs')],
      ['web', file('web/index.js')],
    ]);
  });

  it('says everything a worker needs to serve a module', async () => {
    const { path, file } = folderOf({
      'sample.js': moduleText({
        tool: "effect: 'read', denials: ['^no$'], poll: { everyMs: 500 }, progress: ['/n'], cost: 2",
        more: "runner: 'process', pool: 'special',",
      }),
    });
    const { modules } = await loadModules(path);
    expect(modules).toMatchObject([
      {
        declaration: {
          id: 'sample',
          version: '1.0.0',
          pool: 'special',
          digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
          tools: [
            {
              id: 'sample.echo',
              effect: 'read',
              privileged: false,
              serial: false,
              limits: { maxAttempts: 3 },
              poll: { everyMs: 500 },
              progress: ['/n'],
              cost: 2,
            },
          ],
        },
        runner: 'process',
        file: file('sample.js'),
        generation: expect.stringMatching(/^[\w-]{22}$/) as string,
        setup: {},
        denialPatterns: { 'sample.echo': ['^no$'] },
      },
    ]);
  });

  it('gives the same digests in another order of files and after a restart', async () => {
    const a = moduleText({ id: 'a' });
    const b = moduleText({ id: 'b' });
    const one = await loadModules(folderOf({ '1.js': a, '2.js': b }).path);
    const other = await loadModules(folderOf({ '1.js': b, '2.js': a }).path);
    expect(other.modules.map((module) => module.declaration)).toStrictEqual(
      one.modules.map((module) => module.declaration),
    );
  });

  it('gives no module a way to change what is shared', async () => {
    const { modules } = await loadModules(folderOf({ 'sample.js': moduleText() }).path);
    const { inputSchema } = modules[0]!.declaration.tools[0]!;
    expect(() => {
      inputSchema['type'] = 'string';
    }).toThrow(TypeError);
    expect(() => {
      (inputSchema['properties'] as Record<string, unknown>)['text'] = true;
    }).toThrow(TypeError);
  });

  it('T07 takes a tool without an effect for unsafe, with one attempt', async () => {
    const { modules } = await loadModules(folderOf({ 'sample.js': moduleText() }).path);
    expect(modules[0]!.declaration.tools[0]).toMatchObject({ effect: 'unsafe', limits: { maxAttempts: 1 } });
  });

  describe('with one bad module of each kind between good ones', () => {
    const name = (index: number): string => `m${String(index).padStart(2, '0')}`;
    let folder: ModuleFolder;
    let result: LoadResult;
    beforeAll(async () => {
      folder = createModuleFolder();
      for (const [index, { source }] of BAD_MODULES.entries()) {
        folder.write(`${name(index)}-bad.js`, source);
        folder.write(`${name(index)}-good.js`, moduleText({ id: `good-${'x'.repeat(index)}` }));
      }
      result = await loadModules(folder.path, { importTimeoutMs: 5_000 });
    });
    afterAll(() => folder.dispose());

    it.each(BAD_MODULES.map((row, index) => ({ ...row, index })))('$row reports $what', ({ index, reason }) => {
      const file = folder.file(`${name(index)}-bad.js`);
      expect(result.broken.filter((broken) => broken.file === file)).toStrictEqual([
        { id: expect.any(String) as string, file, reason: expect.stringMatching(reason) as string },
      ]);
    });

    it('loads all the good ones', () => {
      expect(result.modules).toHaveLength(BAD_MODULES.length);
      expect(result.broken).toHaveLength(BAD_MODULES.length);
    });
  });

  it('T01 reports a link to a file that is gone', async () => {
    const { path, file, write, remove } = folderOf({ 'modules.json': '[{ "file": "gone.js", "id": "mine" }]' });
    expect((await loadModules(file('modules.json'))).broken).toStrictEqual([
      { id: 'mine', file: file('gone.js'), reason: 'The file does not exist.', named: true },
    ]);
    write('there.js', moduleText());
    remove('modules.json');
    expect(idsOf(await loadModules(path))).toStrictEqual(['sample']);
  });

  it('T01 blames the module that is being imported, not one that an earlier one takes down with it', async () => {
    const { path, file } = folderOf({
      'a.js': moduleText({ id: 'a', before: 'setTimeout(() => process.exit(3), 1);' }),
      'b.js': moduleText({ id: 'b', before: 'await new Promise((done) => setTimeout(done, 200));' }),
      'c.js': 'process.exit(4);',
    });
    const result = await loadModules(path);
    expect(idsOf(result)).toStrictEqual(['a', 'b']);
    expect(result.broken).toStrictEqual([
      { id: 'c', file: file('c.js'), reason: 'Its import ended the process (exit code 4).' },
    ]);
  });

  it('T04 serves the first of two modules that a reader could confuse', async () => {
    const { path } = folderOf({
      '1.js': moduleText({ id: 'notes' }),
      '2.js': moduleText({ id: 'notes' }),
      '3.js': moduleText({ id: 'Notes' }),
      '4.js': moduleText({ id: 'n0tes' }),
      '5.js': moduleText({ id: 'votes' }),
    });
    const result = await loadModules(path);
    expect(idsOf(result)).toStrictEqual(['notes', 'votes']);
    expect(result.broken.map(({ id, reason }) => [id, reason])).toStrictEqual([
      ['notes', 'Another module already has the id "notes".'],
      ['Notes', 'Its id "Notes" is easily confused with "notes".'],
      ['n0tes', 'Its id "n0tes" is easily confused with "notes".'],
    ]);
  });

  it('T04 serves the published one of two modules that a reader could confuse, in any order of their files', async () => {
    const { path } = folderOf({ 'Abox.js': moduleText({ id: 'Box' }), 'box.js': moduleText({ id: 'box' }) });
    const fresh = await loadModules(path);
    expect([idsOf(fresh), fresh.broken.map(({ id }) => id)]).toStrictEqual([['Box'], ['box']]);
    const result = await loadModules(path, { established: async () => ['box', 'other'] });
    expect(idsOf(result)).toStrictEqual(['box']);
    expect(result.broken).toMatchObject([
      { id: 'Box', reason: expect.stringContaining('easily confused with "box", which is published') as string },
    ]);
  });

  it('T04 refuses a module that a reader could confuse with one that another worker published', async () => {
    const { path } = folderOf({ 'a.js': moduleText({ id: 'Box' }), 'b.js': moduleText({ id: 'dice' }) });
    const result = await loadModules(path, { established: async () => ['box'] });
    expect(idsOf(result)).toStrictEqual(['dice']);
    expect(result.broken).toMatchObject([
      { id: 'Box', reason: expect.stringContaining('sallyport catalog withdraw box') as string },
    ]);
  });

  it('imports modules without the environment of the worker', async () => {
    const names = ['A_SECRET', 'PATH', 'HOME', 'NODE_OPTIONS', 'NODE_CHANNEL_FD'];
    process.env['A_SECRET'] = 'x';
    try {
      const before = `const seen = ${JSON.stringify(names)}.filter((name) => name in process.env); if (seen.length > 0) throw new Error('saw ' + seen);`;
      const { path } = folderOf({ 'sample.js': moduleText({ before }) });
      expect((await loadModules(path)).broken).toStrictEqual([]);
    } finally {
      delete process.env['A_SECRET'];
    }
  });

  describe('from a manifest', () => {
    const setup =
      "setup: jsonSchema({ type: 'object', properties: { root: { type: 'string' } }, required: ['root'] }),";

    it('serves one file several times, each with its own setup', async () => {
      const { file } = folderOf({
        'files.js': moduleText({ id: 'files', more: setup }),
        'modules.yaml': `modules:
  - { id: home, file: files.js, setup: { root: /home }, pool: a }
  - { id: work, file: files.js, setup: { root: /work }, runner: process, pool: main }
`,
      });
      const result = await loadModules(file('modules.yaml'));
      expect(result.broken).toStrictEqual([]);
      const shown = result.modules.map(({ declaration, runner, setup: given, generation }) => [
        declaration.id,
        declaration.tools[0]!.id,
        declaration.pool,
        runner,
        given,
        generation,
      ]);
      const { generation } = result.modules[0]!;
      expect(shown).toStrictEqual([
        ['home', 'home.echo', 'a', 'inline', { root: '/home' }, generation],
        ['work', 'work.echo', 'main', 'process', { root: '/work' }, generation],
      ]);
    });

    it('puts an entry without a pool into the pool of the loader only if no entry of the manifest names a pool', async () => {
      const { file, write } = folderOf({ 'x.js': moduleText() });
      const poolsOf = async (manifest: string): Promise<unknown[]> => {
        write('modules.yaml', manifest);
        const { modules } = await loadModules(file('modules.yaml'), { pool: 'games' });
        return modules.map(({ declaration: { id, pool } }) => [id, pool]);
      };
      expect(await poolsOf('- { id: a, file: x.js }\n- { id: b, file: x.js }\n')).toStrictEqual([
        ['a', 'games'],
        ['b', 'games'],
      ]);
      expect(await poolsOf('- { id: a, file: x.js }\n- { id: b, file: x.js, pool: games }\n')).toStrictEqual([
        ['a', 'default'],
        ['b', 'games'],
      ]);
    });

    it('holds the schemas of a module once, however often it is set up, and frozen', async () => {
      const { file } = folderOf({
        'files.js': moduleText({ id: 'files', more: setup }),
        'modules.yaml': `modules:
  - { id: home, file: files.js, setup: { root: /home } }
  - { id: work, file: files.js, setup: { root: /work } }
`,
      });
      const known: KnownModules = new Map();
      const first = await loadModules(file('modules.yaml'), { known });
      const [home, work] = first.modules.map((module) => module.declaration.tools[0]!);
      expect(work!.inputSchema).toBe(home!.inputSchema);
      expect(work!.digest).not.toBe(home!.digest);
      expect(Object.isFrozen(work!.inputSchema['properties'])).toBe(true);
      const again = await loadModules(file('modules.yaml'), { known });
      expect(again.modules[0]).toBe(first.modules[0]);
      expect(again.modules[1]).toBe(first.modules[1]);
    });

    it('makes a setup anew when its setup, pool or runner changed, and leaves the others', async () => {
      const manifest = (more: object): string =>
        JSON.stringify([
          { id: 'home', file: 'files.js', setup: { root: '/home' }, ...more },
          { id: 'work', file: 'files.js', setup: { root: '/work' } },
        ]);
      const { file, write } = folderOf({ 'files.js': moduleText({ id: 'files', more: setup }) });
      const known: KnownModules = new Map();
      write('modules.json', manifest({}));
      const before = await loadModules(file('modules.json'), { known });
      for (const more of [{ setup: { root: '/new' } }, { pool: 'other' }, { runner: 'process' }]) {
        write('modules.json', manifest(more));
        const after = await loadModules(file('modules.json'), { known });
        expect(after.modules[0]).not.toStrictEqual(before.modules[0]);
        expect(after.modules[1]).toBe(before.modules[1]);
      }
    });

    it.each([
      ['- { id: a, file: x.js }\n- { id: a, file: x.js }\n', '"a"'],
      ['- file: x.js\n- file: x.js\n', 'x.js without an id'],
    ])('refuses setups that would have one id: %j', async (text, named) => {
      const { file } = folderOf({ 'x.js': moduleText(), 'modules.yaml': text });
      await expect(loadModules(file('modules.yaml'))).rejects.toMatchObject({
        code: 'SETUP_DUPLICATE',
        message: `${file('modules.yaml')} sets up ${named} more than once, in modules[0] and modules[1].`,
      });
    });

    it('checks a setup with the schema of the module, and with its own code', async () => {
      const { file } = folderOf({
        'files.js': moduleText({ id: 'files', more: setup }),
        'zod.js': moduleText({
          id: 'zod',
          before: `import { z } from ${JSON.stringify(import.meta.resolve('zod'))};`,
          more: "setup: z.object({ root: z.string().refine((root) => root !== '/', 'not the whole disk') }),",
        }),
        'plain.js': moduleText({ id: 'plain' }),
        'modules.json': JSON.stringify([
          { id: 'none', file: 'files.js' },
          { id: 'wrong', file: 'files.js', setup: { root: 1 } },
          { id: 'refined', file: 'zod.js', setup: { root: '/' } },
          { id: 'unasked', file: 'plain.js', setup: { root: '/' } },
          { id: 'good', file: 'zod.js', setup: { root: '/x' } },
        ]),
      });
      const result = await loadModules(file('modules.json'));
      expect(idsOf(result)).toStrictEqual(['good']);
      expect(result.broken.map(({ id, reason }) => [id, reason])).toStrictEqual([
        ['none', 'Its setup does not fit: root: is missing.'],
        ['wrong', 'Its setup does not fit: root: must be string.'],
        ['refined', 'Its setup does not fit: root: not the whole disk.'],
        ['unasked', 'It has a setup, but the module takes none.'],
      ]);
    });
  });

  describe('of a place that cannot be read', () => {
    it.each([
      ['a missing folder', 'nowhere', 'it does not exist'],
      ['a file that is no manifest', 'notes.txt', 'it is neither a folder nor a .yaml, .yml or .json file'],
      ['a broken manifest', 'modules.json', '"," or "}" is expected'],
    ])('throws MODULES_MISSING for %s', async (_what, name, problem) => {
      const { file } = folderOf({ 'notes.txt': '', 'modules.json': '{"modules":[] x' });
      await expect(loadModules(file(name))).rejects.toMatchObject({
        code: 'MODULES_MISSING',
        facts: { path: file(name), problem },
      });
    });
  });

  it('loads nothing from an empty folder', async () => {
    const { path, file } = folderOf({});
    mkdirSync(file('empty'));
    expect(await loadModules(path)).toStrictEqual({ modules: [], broken: [] });
  });

  describe('the generation', () => {
    const generationsOf = async (path: string): Promise<Record<string, string>> => {
      const { modules } = await loadModules(path);
      return Object.fromEntries(modules.map((module) => [module.declaration.id, module.generation]));
    };

    it('changes with the code of the module and of what it shares, and with nothing else', async () => {
      const { path, write } = folderOf({
        'a.js': moduleText({ id: 'a' }),
        'b/index.js': moduleText({ id: 'b' }),
        'b/part.js': 'export {};',
        'lib/shared.js': 'export {};',
      });
      const first = await generationsOf(path);
      write('notes.db', 'data');
      write('b/notes.db', 'data');
      expect(await generationsOf(path)).toStrictEqual(first);

      write('b/part.js', 'export const changed = 1;');
      const second = await generationsOf(path);
      expect(second['a']).toBe(first['a']);
      expect(second['b']).not.toBe(first['b']);

      write('lib/shared.js', 'export const changed = 1;');
      const third = await generationsOf(path);
      expect(third['a']).not.toBe(second['a']);
      expect(third['b']).toBe(second['b']);

      write('a.js', moduleText({ id: 'a', version: '1.0.1' }));
      const fourth = await generationsOf(path);
      expect(fourth['a']).not.toBe(third['a']);
      expect(fourth['b']).toBe(third['b']);
    });
  });
});
