import { once, EventEmitter } from 'node:events';
import { renameSync, utimesSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { loadModules } from '../../src/modules/catalog/load-modules.ts';
import { watchModules, type ModuleWatch, type Reloaded } from '../../src/modules/catalog/watch-modules.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).toReversed()) await close();
});

interface Watched {
  readonly folder: ModuleFolder;
  readonly watch: ModuleWatch;
  /** Changes files with `change` and waits for the reload that it causes. */
  readonly reloadedBy: (change: () => void) => Promise<Reloaded>;
  readonly reloads: Reloaded[];
}

async function watchFolder(
  files: Record<string, string>,
  place = '',
  published: readonly string[] = [],
): Promise<Watched> {
  const folder = createModuleFolder(files);
  toClose.push(folder.dispose);
  const path = folder.file(place);
  const events = new EventEmitter();
  const reloads: Reloaded[] = [];
  const established = async (): Promise<readonly string[]> => published;
  const watch = watchModules(path, {
    established,
    current: await loadModules(path, { established }),
    settleMs: 40,
    onReload: (result) => {
      reloads.push(result);
      events.emit('reload', result);
    },
    onError: (error) => events.emit('error', error),
  });
  toClose.push(() => watch.close());
  await watch.ready;
  const next = async <T>(name: string, change: () => void): Promise<T> => {
    const happened = once(events, name, { signal: AbortSignal.timeout(30_000) });
    change();
    return ((await happened) as [T])[0];
  };
  return {
    folder,
    watch,
    reloads,
    reloadedBy: (change) => next<Reloaded>('reload', change),
  };
}

const versionsOf = ({ modules }: Reloaded): string[] =>
  modules.map(({ declaration }) => `${declaration.id}@${declaration.version}`);

describe('watchModules', () => {
  it('loads a changed, an added and a removed module', async () => {
    const { folder, reloadedBy } = await watchFolder({ 'a.js': moduleText({ id: 'a' }) });
    const changed = await reloadedBy(() => folder.write('a.js', moduleText({ id: 'a', version: '1.1.0' })));
    expect(versionsOf(changed)).toStrictEqual(['a@1.1.0']);
    const added = await reloadedBy(() => folder.write('b/index.js', moduleText({ id: 'b' })));
    expect(versionsOf(added)).toStrictEqual(['a@1.1.0', 'b@1.0.0']);
    const removed = await reloadedBy(() => folder.remove('a.js'));
    expect(versionsOf(removed)).toStrictEqual(['b@1.0.0']);
    expect(removed.broken).toStrictEqual([]);
  });

  it('loads a renamed file from its new place, also with the same code', async () => {
    const { folder, reloadedBy } = await watchFolder({
      'a.js': moduleText({ id: 'a' }),
      'b.js': moduleText({ id: 'b' }),
    });
    const renamed = await reloadedBy(() => renameSync(folder.file('a.js'), folder.file('c.js')));
    expect(versionsOf(renamed)).toStrictEqual(['a@1.0.0', 'b@1.0.0']);
    expect(renamed.modules[0]!.file).toBe(folder.file('c.js'));
    expect(renamed).toMatchObject({ kept: [], broken: [] });
  });

  it('serves the old module on while its new file is broken, and says so', async () => {
    const { folder, reloadedBy } = await watchFolder({
      'file.js': moduleText({ id: 'mine' }),
      'b.js': moduleText({ id: 'b' }),
    });
    const broken = await reloadedBy(() => folder.write('file.js', 'export default {{'));
    expect(versionsOf(broken)).toStrictEqual(['b@1.0.0', 'mine@1.0.0']);
    expect(broken.kept).toStrictEqual(['mine']);
    expect(broken.broken).toMatchObject([
      { file: folder.file('file.js'), reason: expect.stringMatching(/SyntaxError/) as string },
    ]);

    const repaired = await reloadedBy(() => folder.write('file.js', moduleText({ id: 'mine', version: '2.0.0' })));
    expect(versionsOf(repaired)).toStrictEqual(['b@1.0.0', 'mine@2.0.0']);
    expect(repaired).toMatchObject({ kept: [], broken: [] });
  });

  it('keeps the generation of modules whose code did not change', async () => {
    const { folder, reloadedBy, watch } = await watchFolder({
      'a.js': moduleText({ id: 'a' }),
      'b.js': moduleText({ id: 'b' }),
    });
    const first = await reloadedBy(() => folder.write('a.js', moduleText({ id: 'a', version: '1.1.0' })));
    const second = await reloadedBy(() => folder.write('a.js', moduleText({ id: 'a', version: '1.2.0' })));
    expect(second.modules[1]).toStrictEqual(first.modules[1]);
    expect(second.modules[0]!.generation).not.toBe(first.modules[0]!.generation);
    await watch.close();
  });

  it('does not report a reload that found nothing new', async () => {
    const { folder, watch, reloads } = await watchFolder({ 'a.js': moduleText({ id: 'a' }) });
    utimesSync(folder.file('a.js'), new Date(), new Date());
    await watch.reload();
    folder.write('notes.db', 'data');
    await watch.reload();
    expect(reloads).toStrictEqual([]);
  });

  it('follows a manifest, its files and their replacement by renaming', async () => {
    const manifest = (version: number): string =>
      JSON.stringify([{ id: 'a', file: 'lib/x.js', pool: `pool-${version}` }]);
    const { folder, reloadedBy } = await watchFolder(
      { 'lib/x.js': moduleText(), 'modules.json': manifest(1) },
      'modules.json',
    );
    const repooled = await reloadedBy(() => {
      folder.write('modules.json.new', manifest(2));
      renameSync(folder.file('modules.json.new'), folder.file('modules.json'));
    });
    expect(repooled.modules[0]!.declaration.pool).toBe('pool-2');
    const changed = await reloadedBy(() => folder.write('lib/x.js', moduleText({ version: '3.0.0' })));
    expect(versionsOf(changed)).toStrictEqual(['a@3.0.0']);
  });

  describe('two setups of one file', () => {
    const ROOT = "setup: jsonSchema({ type: 'object', properties: { root: { type: 'string' } }, required: ['root'] }),";
    const manifest = (setups: Readonly<Record<string, unknown>>): string =>
      JSON.stringify(Object.entries(setups).map(([id, root]) => ({ id, file: 'x.js', setup: { root } })));
    const watchSetups = (setups: Readonly<Record<string, unknown>>): Promise<Watched> =>
      watchFolder({ 'x.js': moduleText({ more: ROOT }), 'modules.json': manifest(setups) }, 'modules.json');
    const setupsOf = ({ modules }: Reloaded): unknown =>
      Object.fromEntries(modules.map(({ declaration, setup }) => [declaration.id, setup['root']]));

    it('change one without the other', async () => {
      const { folder, reloadedBy } = await watchSetups({ home: '/a', work: '/b' });
      const first = await reloadedBy(() => folder.write('modules.json', manifest({ home: '/c', work: '/b' })));
      expect(setupsOf(first)).toStrictEqual({ home: '/c', work: '/b' });
      const second = await reloadedBy(() => folder.write('modules.json', manifest({ home: '/d', work: '/b' })));
      expect(setupsOf(second)).toStrictEqual({ home: '/d', work: '/b' });
      expect(second.modules[1]).toBe(first.modules[1]);
    });

    it('serve the one on whose new setup does not fit, and the other as it is now', async () => {
      const { folder, reloadedBy } = await watchSetups({ home: '/a', work: '/b' });
      const broken = await reloadedBy(() => folder.write('modules.json', manifest({ home: 1, work: '/c' })));
      expect(setupsOf(broken)).toStrictEqual({ home: '/a', work: '/c' });
      expect(broken).toMatchObject({ kept: ['home'], broken: [{ id: 'home' }] });
    });

    it('do not come back for a broken third one when they were taken away', async () => {
      const { folder, reloadedBy } = await watchSetups({ home: '/a', work: '/b' });
      const broken = await reloadedBy(() => folder.write('modules.json', manifest({ home: '/a', third: 1 })));
      expect(setupsOf(broken)).toStrictEqual({ home: '/a' });
      expect(broken).toMatchObject({ kept: [], broken: [{ id: 'third' }] });
    });

    it('go on both when a new manifest gives them one id', async () => {
      const { folder, reloadedBy } = await watchSetups({ home: '/a', work: '/b' });
      const twice = manifest({ home: '/a', work: '/b' }).replace('"work"', '"home"');
      const refused = await reloadedBy(() => folder.write('modules.json', twice));
      expect(setupsOf(refused)).toStrictEqual({ home: '/a', work: '/b' });
      expect(refused.broken).toMatchObject([{ reason: expect.stringContaining('more than once') as string }]);
    });

    it('are followed on after the manifest was away: what it no longer names is no longer served', async () => {
      const { folder, reloadedBy } = await watchSetups({ home: '/a', work: '/b' });
      const away = await reloadedBy(() => folder.remove('modules.json'));
      expect(setupsOf(away)).toStrictEqual({ home: '/a', work: '/b' });
      const back = await reloadedBy(() => folder.write('modules.json', manifest({ home: '/a' })));
      expect(setupsOf(back)).toStrictEqual({ home: '/a' });
      expect(back.broken).toStrictEqual([]);
      const edited = await reloadedBy(() => folder.write('modules.json', manifest({ home: '/c' })));
      expect(setupsOf(edited)).toStrictEqual({ home: '/c' });
    });

    it('are followed on after the manifest was replaced by a file with the same inode', async () => {
      const { folder, reloadedBy } = await watchSetups({ home: '/a', work: '/b' });
      const replaced = await reloadedBy(() => {
        folder.remove('modules.json');
        folder.write('modules.json', manifest({ home: '/a' }));
      });
      expect(setupsOf(replaced)).toStrictEqual({ home: '/a' });
      const edited = await reloadedBy(() => folder.write('modules.json', manifest({ home: '/c' })));
      expect(setupsOf(edited)).toStrictEqual({ home: '/c' });
    });
  });

  it('keeps a published module in its place when one comes that a reader could confuse with it', async () => {
    const { folder, reloadedBy } = await watchFolder({ 'box.js': moduleText({ id: 'box' }) }, '', ['box']);
    const both = await reloadedBy(() => folder.write('Abox.js', moduleText({ id: 'Box' })));
    expect(versionsOf(both)).toStrictEqual(['box@1.0.0']);
    expect(both.broken).toMatchObject([{ id: 'Box', file: folder.file('Abox.js') }]);
  });

  it('loads a refused module once the other one is gone from the folder and from the catalog', async () => {
    const published = ['box'];
    const files = { 'Abox.js': moduleText({ id: 'Box' }), 'box.js': moduleText({ id: 'box' }) };
    const { folder, reloads, reloadedBy } = await watchFolder(files, '', published);
    // Emptying `published` stands for the worker, which takes the removed module out of the catalog when it learns of this reload.
    const withdrawn = reloadedBy(() => folder.remove('box.js')).then(() => published.splice(0));
    await withdrawn;
    await expect.poll(() => reloads.map(versionsOf), { timeout: 30_000 }).toStrictEqual([[], ['Box@1.0.0']]);
  });

  it('serves everything on while the manifest is broken, and says so until it is as before', async () => {
    const { folder, reloadedBy } = await watchFolder(
      { 'x.js': moduleText(), 'modules.yaml': '- file: x.js\n' },
      'modules.yaml',
    );
    const broken = await reloadedBy(() => folder.write('modules.yaml', '- fille: x.js\n'));
    expect(versionsOf(broken)).toStrictEqual(['sample@1.0.0']);
    expect(broken.broken).toMatchObject([
      { id: '"modules.yaml"', reason: expect.stringMatching(/^No modules can be loaded from .*fille/) as string },
    ]);
    const repaired = await reloadedBy(() => folder.write('modules.yaml', '- file: x.js\n'));
    expect(versionsOf(repaired)).toStrictEqual(['sample@1.0.0']);
    expect(repaired.broken).toStrictEqual([]);
  });

  it('serves everything on while the folder is away, and follows the new folder', async () => {
    const { folder, reloadedBy } = await watchFolder({ 'mods/a.js': moduleText({ id: 'a' }) }, 'mods');
    const away = await reloadedBy(() => renameSync(folder.file('mods'), folder.file('mods2')));
    expect(versionsOf(away)).toStrictEqual(['a@1.0.0']);
    expect(away.broken).toMatchObject([{ id: '"mods"', reason: expect.stringContaining('does not exist') as string }]);
    const back = await reloadedBy(() => folder.write('mods/b.js', moduleText({ id: 'b' })));
    expect(versionsOf(back)).toStrictEqual(['b@1.0.0']);
    const changed = await reloadedBy(() => folder.write('mods/b.js', moduleText({ id: 'b', version: '1.1.0' })));
    expect(versionsOf(changed)).toStrictEqual(['b@1.1.0']);
  });
});
