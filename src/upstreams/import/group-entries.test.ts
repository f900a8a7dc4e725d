import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../base/sha256.ts';
import { groupEntries, oldValuesOf } from './group-entries.ts';
import { planImport } from './plan-import.ts';

let home: string;
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'sallyport-group-'))));
afterEach(() => rmSync(home, { recursive: true }));

const ONE = { command: 'one', env: { GITHUB_TOKEN: 'example0123' } };

describe('groupEntries and oldValuesOf', () => {
  it('name every place of a server, by file and group', async () => {
    const texts = [
      JSON.stringify({
        mcpServers: { one: ONE, two: { command: 'two' } },
        projects: { '/p': { mcpServers: { three: ONE } } },
      }),
      JSON.stringify({ mcpServers: { one: ONE } }, null, 1),
      '{}',
    ];
    const files = texts.map((text, index) => {
      const path = join(home, `${index}.json`);
      writeFileSync(path, text);
      return { path, client: undefined, scope: 'user' as const };
    });
    const place = { home, platform: 'linux' as const, project: home, env: {} };
    const plan = await planImport(files, { place, existingSecret: () => undefined });
    const taken = plan.candidates.filter(({ id }) => id !== 'two');
    expect(groupEntries(taken, plan.files)).toMatchObject([
      {
        path: files[0]!.path,
        digest: sha256(texts[0]!),
        replaced: [
          { group: { path: ['mcpServers'] }, names: ['one'] },
          { group: { path: ['projects', '/p', 'mcpServers'] }, names: ['three'] },
        ],
      },
      { path: files[1]!.path, replaced: [{ names: ['one'] }] },
    ]);
    expect(oldValuesOf(taken)).toEqual([
      { secret: 'GITHUB_TOKEN', file: files[0]!.path, line: 1 },
      { secret: 'GITHUB_TOKEN', file: files[1]!.path, line: 6 },
      { secret: 'GITHUB_TOKEN', file: files[0]!.path, line: 1 },
    ]);
  });
});
