import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../base/sha256.ts';
import { rewireFile, type Rewire } from './rewire.ts';
import { readRewired } from './rewired-record.ts';
import { undoRewire, type UndoneFile } from './undo-rewire.ts';

const JSON_TEXT = readFileSync(new URL('../../../test/fixtures/client-files/cursor.json.txt', import.meta.url), 'utf8');
const GROUP = { path: ['mcpServers'], shape: 'mcpServers' as const };

let folder: string;
let file: string;
let dataFolder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-undo-'));
  file = join(folder, 'mcp.json');
  dataFolder = join(folder, 'data');
  writeFileSync(file, JSON_TEXT);
  rewire('linear', 'my notes');
});
afterEach(() => rmSync(folder, { recursive: true }));

function rewire(...names: string[]): Rewire {
  const own = { command: '/srv/sallyport', args: ['mcp'] };
  const digest = sha256(readFileSync(file));
  return rewireFile({ path: file, digest, replaced: [{ group: GROUP, names }], own, dataFolder, now: new Date(0) });
}

const undo = (force = false, path?: string): readonly UndoneFile[] => {
  const result = undoRewire({ dataFolder, force, path });
  if (result.kind === 'problem') throw new Error(result.problem);
  return result.files;
};

describe('undoRewire', () => {
  it('refuses a file that was changed, and shows the difference without values', () => {
    const changed = readFileSync(file, 'utf8').replace('"other"', '"mine": {"token": "example0123"},\n\t"other"');
    writeFileSync(file, changed);
    const [undone] = undo();
    expect(undone).toMatchObject({ kind: 'changed' });
    const { diff } = undone as Extract<UndoneFile, { kind: 'changed' }>;
    expect(diff).toContain(`--- ${file} now\n+++ ${file} after the undo\n@@ `);
    expect(diff).toContain('\n-\t\t"sallyport": {');
    expect(diff).toContain('\n-\t"mine": {"token": "[hidden]"},');
    expect(diff).toContain('"LEVEL": "[hidden]"');
    expect(diff).not.toMatch(/example0123|example-0123456789|debug/);
    expect(readFileSync(file, 'utf8')).toBe(changed);
    expect(readRewired(dataFolder)).toMatchObject({ files: [{ path: file }] });
  });

  it('restores a changed file by force, and keeps what it was', () => {
    writeFileSync(file, '{"mine": 1}');
    expect(undo(true)).toEqual([{ path: file, kind: 'restored', kept: `${file}.sallyport-backup-2` }]);
    expect(readFileSync(file, 'utf8')).toBe(JSON_TEXT);
    expect(readFileSync(`${file}.sallyport-backup-2`, 'utf8')).toBe('{"mine": 1}');
  });

  it('restores a file that was deleted by force only', () => {
    rmSync(file);
    expect(undo()).toMatchObject([{ kind: 'changed' }]);
    expect(undo(true)).toEqual([{ path: file, kind: 'restored' }]);
    expect(readFileSync(file, 'utf8')).toBe(JSON_TEXT);
  });

  it('restores no backup that was changed, also by force', () => {
    writeFileSync(`${file}.sallyport-backup-1`, '{}');
    expect(undo(true)).toMatchObject([{ kind: 'problem', problem: `${file}.sallyport-backup-1 was changed` }]);
    rmSync(`${file}.sallyport-backup-1`);
    expect(undo(true)).toMatchObject([{ kind: 'problem' }]);
  });

  it('undoes the last of two steps first', () => {
    const first = readFileSync(file, 'utf8');
    // The entry is there already: only the other one is removed.
    expect(rewire('weather')).toMatchObject({ kind: 'rewired' });
    undo();
    expect(readFileSync(file, 'utf8')).toBe(first);
    undo();
    expect(readFileSync(file, 'utf8')).toBe(JSON_TEXT);
  });

  it('undoes only the file that is named', () => {
    expect(undo(false, join(folder, 'other.json'))).toEqual([]);
    expect(undo(false, file)).toMatchObject([{ kind: 'restored' }]);
  });

  it('reports a damaged record', () => {
    writeFileSync(join(dataFolder, 'rewired.json'), '{');
    expect(undoRewire({ dataFolder, force: false })).toMatchObject({ kind: 'problem' });
    expect(rewire('weather')).toMatchObject({ kind: 'problem' });
  });
});
