import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadModules } from '../../src/modules/catalog/load-modules.ts';
import { sourcesOf } from '../../src/modules/catalog/module-sources.ts';
import { createToolIndex } from '../../src/modules/catalog/tool-index.ts';
import { ProcessRunner } from '../../src/worker/runners/process/process-runner.ts';
import { createModuleFolder, moduleText, type ModuleFolder } from '../fixtures/catalog/module-folder.ts';
import { runRequest } from './run-request.ts';

const OLD = moduleText({
  id: 'sample',
  before: `import { word } from './lib/word.mjs';
import { createRequire } from 'node:module';
const { twice } = createRequire(import.meta.url)('./lib/twice.cjs');
import plain from './lib/plain.js';
import facts from './lib/facts.json' with { type: 'json' };`,
  tool: `run: () => ({ said: [word, twice(word), plain, facts.name].join(' '), at: import.meta.url }),`,
});

describe('a new process of a module that was changed after it was loaded', () => {
  let folder: ModuleFolder;
  let runner: ProcessRunner;
  let source: NonNullable<ReturnType<ReturnType<typeof createToolIndex>['find']>>['source'];
  beforeEach(async () => {
    folder = createModuleFolder({
      'sample.mjs': OLD,
      'lib/word.mjs': `export const word = 'old';`,
      'lib/twice.cjs': `exports.twice = (text) => text + text;`,
      'lib/plain.js': `export default 'plain';`,
      'lib/facts.json': `{ "name": "json" }`,
      'modules.json': JSON.stringify({ modules: [{ file: './sample.mjs', runner: 'process' }] }),
    });
    const loaded = await loadModules(folder.file('modules.json'));
    source = createToolIndex(loaded.modules).find('sample.echo')!.source;
    runner = new ProcessRunner({ runsPerProcess: 1, sourcesOf });
  });
  afterEach(async () => {
    await runner.close();
    folder.dispose();
  });

  async function said(): Promise<unknown> {
    const { request } = runRequest('sample.echo');
    const ending = await runner.run({ ...request, source });
    return ending.kind === 'returned' ? (ending.result.value as { said: string }).said : ending;
  }

  it('reads the files themselves while they are what was loaded', async () => {
    expect(await said()).toBe('old oldold plain json');
  });

  it.each([
    ['its file is broken', (): void => folder.write('sample.mjs', 'export default {{')],
    ['its file is another one', (): void => folder.write('sample.mjs', OLD.replace('said: [word,', `said: ['new',`))],
    ['its file is gone', (): void => folder.remove('sample.mjs')],
    ['a file it imports is another one', (): void => folder.write('lib/word.mjs', `export const word = 'new';`)],
    ['a file it requires is another one', (): void => folder.write('lib/twice.cjs', `exports.twice = () => 'new';`)],
    ['a JSON file it imports is another one', (): void => folder.write('lib/facts.json', `{ "name": "new" }`)],
    ['a file it imports is gone', (): void => folder.remove('lib/word.mjs')],
    ['a file without a telling name is gone', (): void => folder.remove('lib/plain.js')],
  ])('runs what was loaded when %s', async (_what, change) => {
    expect(await said()).toBe('old oldold plain json');
    change();
    expect(await said()).toBe('old oldold plain json');
  });

  it('keeps its own address, so that it finds what lies beside it', async () => {
    folder.write('sample.mjs', 'export default {{');
    const { request } = runRequest('sample.echo');
    const ending = await runner.run({ ...request, source });
    expect(ending).toMatchObject({ result: { value: { at: expect.stringContaining('/sample.mjs?') as string } } });
  });
});
