import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/process.ts';
import type { KeptPublication } from '../modules/catalog/keep-published.ts';
import { loadServedModules } from './served-modules.ts';

let folder: TemporaryFolder;
beforeEach(() => {
  folder = temporaryFolder('sallyport-served');
});
afterEach(() => folder.remove());

function writeModule(id: string, version: string): void {
  const tool = "{ description: 'Rolls.', effect: 'read', input: { type: 'object' }, run: () => 4 }";
  const text = `export default { id: '${id}', version: '${version}', description: 'Rolls.', tools: { roll: ${tool} } };`;
  writeFileSync(join(folder.path, `${id}.mjs`), text);
}

it('a broken module is reported once, and only the file that changed counts as changed', async () => {
  const reported: string[] = [];
  const ignore = (): void => undefined;
  const error = (facts: object): void => void reported.push((facts as { id?: string }).id ?? JSON.stringify(facts));
  const log = { debug: ignore, info: ignore, warn: ignore, error };
  const place = { pool: 'default', placement: undefined };
  for (const id of ['cup', 'dice']) writeModule(id, '1.0.0');
  const served = await loadServedModules(
    folder.path,
    place,
    log,
    async () => [],
    async (found) => found,
  );
  const publication = { publish: async () => [] } as unknown as KeptPublication;
  const changed: string[][] = [];
  const watcher = await served.watch(publication, {
    onChange: async (found) => void changed.push(found.changed.map(({ declaration }) => declaration.id)),
  });
  try {
    writeFileSync(join(folder.path, 'dice.mjs'), 'export default {');
    await watcher.reload();
    writeModule('cup', '1.0.1');
    await watcher.reload();
    expect(served.loaded.modules.find(({ declaration }) => declaration.id === 'cup')?.declaration.version).toBe(
      '1.0.1',
    );
    expect(reported).toEqual(['dice']);
    expect(changed.flat()).toEqual(['cup']);
  } finally {
    await watcher.close();
  }
});
