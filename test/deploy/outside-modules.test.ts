import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli, startCli } from '../cli/run-cli.ts';
import { temporaryFolder, type TemporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import type { WatchedProcess } from '../support/watched-process.ts';

const TOP = fileURLToPath(new URL('../../', import.meta.url));

/** Files that no process loads. They are not copied, only to save time. */
const UNUSED = /\/dist\/(?:bench|chaos|test|examples|console)$|\.(?:d\.ts|map)$/;

/**
 * Makes the layout of the container below an empty folder: the package is in /app, next to the packages that it needs. Those are linked
 * instead of copied. The files of this repository are copied, so that no import works only because a file is inside this repository.
 */
function layOut(root: string): string {
  const app = join(root, 'app');
  mkdirSync(app);
  symlinkSync(join(TOP, 'node_modules'), join(app, 'node_modules'));
  for (const name of ['package.json', 'dist'])
    cpSync(join(TOP, name), join(app, name), { recursive: true, filter: (path) => !UNUSED.test(path) });
  return join(app, 'dist/cli/main.js');
}

const TOOL = `tool({ description: 'Says hello.', effect: 'read', input: jsonSchema({ type: 'object' }), run: () => ({ text: word }) })`;
const moduleOf = (id: string, head: string, foot = 'export default'): string =>
  `${head}\n${foot} defineModule({ id: '${id}', version: '1.0.0', description: 'Says hello.', tools: { hello: ${TOOL} } });\n`;

const FILES: Readonly<Record<string, string>> = {
  'plain.mjs': moduleOf(
    'plain',
    `import { defineModule, jsonSchema, tool } from 'sallyport/tool'; const word = 'plain';`,
  ),
  'nested/index.js': moduleOf(
    'nested',
    `export * from './_parts.mjs'; import { defineModule, jsonSchema, tool, word } from './_parts.mjs';`,
  ),
  'nested/_parts.mjs': `export { defineModule, jsonSchema, tool } from 'sallyport/tool'; export const word = 'nested';\n`,
  'required.js': moduleOf(
    'required',
    `const { defineModule, jsonSchema, tool } = require('sallyport/tool'); const word = 'required';`,
    'module.exports =',
  ),
  'modules.json': JSON.stringify({
    modules: ['plain.mjs', 'nested/index.js', 'required.js'].flatMap((file) => {
      const id = file.split(/[./]/)[0]!;
      return [{ file }, { file, id: `${id}-apart`, runner: 'process' }];
    }),
  }),
};

const HOOKS = `import { defineHooks } from 'sallyport/gate';
export default defineHooks({ id: 'none', hooks: [{ id: 'pass', on: 'before_tool_call', tools: ['*'], run: () => undefined }] });\n`;
const SERVICE = `import { defineService } from 'sallyport/service';
export default defineService({ methods: ['say'], start: () => ({ open: () => ({ say: () => 'x' }) }) });\n`;

describe('modules, hooks and services outside the package, in the layout of the container', () => {
  let folder: TemporaryFolder;
  let main: string;
  let dev: WatchedProcess;
  const cli = (...args: string[]) => runCli(args, { cwd: folder.path, main });
  beforeAll(async () => {
    folder = temporaryFolder('sallyport-outside');
    main = layOut(folder.path);
    for (const [name, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(folder.path, 'modules', name)), { recursive: true });
      writeFileSync(join(folder.path, 'modules', name), text);
    }
    writeFileSync(join(folder.path, 'hooks.mjs'), HOOKS);
    writeFileSync(join(folder.path, 'service.mjs'), SERVICE);
    const config = { worker: { hooks: [{ file: './hooks.mjs' }] }, services: { mine: { module: './service.mjs' } } };
    writeFileSync(join(folder.path, 'sallyport.json'), JSON.stringify(config));
    const args = ['dev', '--modules', 'modules/modules.json', '--http-port', '0'];
    dev = await startCli(args, { cwd: folder.path, main });
    await dev.waitForLine(/^Ctrl-C ends it/, 120_000);
  });
  afterAll(async () => {
    await dev.stop();
    folder.remove();
    failOnLeaks();
  });

  it.each(['plain', 'nested', 'required'])(
    'import sallyport from the installation that runs them, in the worker and in a process: %s',
    async (id) => {
      for (const tool of [`${id}.hello`, `${id}-apart.hello`]) {
        const { code, stdout, stderr } = await cli('call', tool, '{}');
        expect([tool, code, stderr]).toStrictEqual([tool, 0, '']);
        expect(JSON.parse(stdout)).toStrictEqual({ text: id });
      }
    },
  );

  it('are all loaded', async () => {
    expect(dev.stdout).not.toContain('not loaded');
    expect((await cli('doctor')).code).toBe(0);
  });

  it('say which package is missing if it is another one', async () => {
    const path = join(folder.path, 'broken');
    mkdirSync(path);
    writeFileSync(join(path, 'lost.mjs'), `import 'no-such-package';\n`);
    writeFileSync(join(path, 'near.mjs'), `import 'sallyport-plus';\n`);
    writeFileSync(join(path, 'part.mjs'), `import 'sallyport/no-such-part';\n`);
    const { loadModules } = await import('../../src/modules/catalog/load-modules.ts');
    const { broken } = await loadModules(path);
    const reasons = Object.fromEntries(broken.map(({ id, reason }) => [id, reason]));
    expect(reasons['lost']).toContain("Cannot find package 'no-such-package'");
    expect(reasons['near']).toContain("Cannot find package 'sallyport-plus'");
    expect(reasons['part']).toContain('no-such-part');
  });
});
