import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { planeFolder, type PlaneFolder } from './plane-folder.ts';

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/services-plane/${name}`, import.meta.url));
const CIRCLE = "export default { methods: [], needs: ['OTHER'], start: () => ({ open: () => ({}) }) };\n";

describe('services of the configuration', () => {
  let folder: PlaneFolder;
  beforeEach(() => {
    folder = planeFolder();
  });
  afterEach(() => folder.remove());

  const configure = (services: object): void =>
    writeFileSync(folder.file('sallyport.json'), JSON.stringify({ services }));
  const start = () => folder.cli('dev', '--modules', folder.modules);
  const life = (): string[] =>
    existsSync(folder.file('life.txt'))
      ? readFileSync(folder.file('life.txt'), 'utf8').split('\n').filter(Boolean)
      : [];

  it('one that fails to start stops the others, the last one first, and the command exits with 69', async () => {
    const config = { file: folder.file('life.txt') };
    configure({
      ledger: { module: fixture('ledger.mjs'), config },
      accounts: { module: fixture('chained.mjs'), config },
      zoo: { module: fixture('ledger.mjs'), config: { fail: true } },
    });
    const { code, stderr } = await start();
    expect([code, stderr]).toEqual([
      69,
      expect.stringContaining('The service zoo could not be started: the safe is locked.'),
    ]);
    expect(life()).toEqual(['started ledger', 'started accounts', 'stopped accounts', 'stopped ledger']);
  });

  it('a circle is refused with 78 and its members, before anything is started', async () => {
    writeFileSync(folder.file('one.mjs'), CIRCLE.replace('OTHER', 'two'));
    writeFileSync(folder.file('two.mjs'), CIRCLE.replace('OTHER', 'one'));
    const ledger = { module: fixture('ledger.mjs'), config: { file: folder.file('life.txt') } };
    configure({ ledger, one: { module: './one.mjs' }, two: { module: './two.mjs' } });
    const { code, stderr } = await start();
    expect([code, stderr]).toEqual([78, expect.stringContaining('one needs two needs one: a circle')]);
    expect(life()).toEqual([]);
  });

  it('an unknown service, a missing file and odd settings are refused with 78, all at once', async () => {
    configure({ vault: {}, ghost: { module: './ghost.mjs' } });
    const { code, stderr } = await start();
    expect(code).toBe(78);
    expect(stderr).toContain('services.vault: there is no such service; shipped are conversations');
    expect(stderr).toContain('services.ghost: ');
    configure({ conversations: { config: { maxMessages: 0 } } });
    const odd = await start();
    expect([odd.code, odd.stderr]).toEqual([
      78,
      expect.stringContaining('services.conversations.config: maxMessages: '),
    ]);
  });

  it('a typo in an entry is reported with its place', async () => {
    configure({ ledger: { modul: './ledger.mjs' } });
    const { code, stderr } = await start();
    expect([code, stderr]).toEqual([78, expect.stringContaining('modul')]);
  });

  it('config show prints the configured services without their settings', async () => {
    configure({ ledger: { module: './ledger.mjs', config: { password: 'hunter2' } } });
    const { options } = (await folder.json('config', 'show')) as { options: { option: string; value: unknown }[] };
    expect(options.find(({ option }) => option === 'services')?.value).toEqual({
      ledger: { module: folder.file('ledger.mjs'), config: { password: '***' } },
    });
    const { stdout } = await folder.cli('config', 'show');
    expect(stdout).not.toContain('hunter2');
  });

  it('doctor and workers report the health of services', async () => {
    configure({
      conversations: {},
      ledger: { module: fixture('ledger.mjs'), config: { sick: true } },
    });
    const dev = await folder.start('dev');
    const { stdout } = await folder.cli('doctor');
    expect(stdout).toMatch(/services +.*conversations, ledger/);
    expect(stdout).toContain('the service ledger has failed: it has a cold');
    const workers = await folder.cli('workers');
    expect(workers.stderr + workers.stdout).toContain('the service ledger has failed: it has a cold');
    await dev.stop();
  });
});
