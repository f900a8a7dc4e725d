import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../base/sha256.ts';
import { rewireFile, type Rewire } from './rewire.ts';
import { readRewired } from './rewired-record.ts';
import type { FileMoves } from './replace-file.ts';
import { undoRewire, type UndoneFile } from './undo-rewire.ts';

const JSON_TEXT = readFileSync(new URL('../../../test/fixtures/client-files/cursor.json.txt', import.meta.url), 'utf8');
const TOML_TEXT = readFileSync(new URL('../../../test/fixtures/client-files/codex.toml.txt', import.meta.url), 'utf8');
const GROUPS = {
  json: { group: { path: ['mcpServers'], shape: 'mcpServers' as const }, names: ['linear', 'my notes'] },
  toml: { group: { path: ['mcp_servers'], shape: 'codex' as const }, names: ['context7'] },
};

let folder: string;
let file: string;
let dataFolder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sallyport-rewire-'));
  file = join(folder, 'mcp.json');
  dataFolder = join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true }));

function rewire(
  format: keyof typeof GROUPS = 'json',
  moves?: FileMoves,
  digest = sha256(readFileSync(file)),
  now = new Date(0),
): Rewire {
  const own = { command: '/srv/sallyport', args: ['mcp'] };
  return rewireFile({ path: file, digest, replaced: [GROUPS[format]], own, dataFolder, now }, moves);
}

const undo = (force = false, path?: string): readonly UndoneFile[] => {
  const result = undoRewire({ dataFolder, force, path });
  if (result.kind === 'problem') throw new Error(result.problem);
  return result.files;
};
const modeOf = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
const recorded = (): number => {
  const record = readRewired(dataFolder);
  return record.kind === 'read' ? record.files.length : -1;
};

describe('rewireFile and undoRewire', () => {
  it.each([
    ['json', 'as it is', JSON_TEXT, 0o644],
    ['json', 'CRLF and a byte order mark', `\ufeff${JSON_TEXT.replaceAll('\n', '\r\n')}`, 0o640],
    ['json', 'no line break at the end', JSON_TEXT.trimEnd(), 0o600],
    ['json', 'spaces behind lines', JSON_TEXT.replaceAll(',\n', ', \t\n'), 0o664],
    ['toml', 'as it is', TOML_TEXT, 0o640],
    ['toml', 'CRLF', TOML_TEXT.replaceAll('\n', '\r\n'), 0o600],
  ] as const)('bring back every byte and the mode: %s, %s', (format, _, text, mode) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    const result = rewire(format);
    expect(result).toMatchObject({
      kind: 'rewired',
      backup: `${file}.sallyport-backup-1`,
      names: GROUPS[format].names,
    });
    expect(readFileSync(file, 'utf8')).toContain('/srv/sallyport');
    expect(readFileSync(file, 'utf8').startsWith('\ufeff')).toBe(text.startsWith('\ufeff'));
    expect([modeOf(file), modeOf(`${file}.sallyport-backup-1`)]).toEqual([mode.toString(8), '600']);
    expect([modeOf(dataFolder), modeOf(join(dataFolder, 'rewired.json'))]).toEqual(['700', '600']);
    // A mode that was changed meanwhile is brought back too.
    chmodSync(file, 0o600);
    expect(undo()).toEqual([{ path: file, kind: 'restored' }]);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(modeOf(file)).toBe(mode.toString(8));
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'mcp.json']);
    expect(undo()).toEqual([]);
  });

  it('records what is needed to undo it', () => {
    writeFileSync(file, JSON_TEXT, { mode: 0o644 });
    rewire();
    const record = readRewired(dataFolder);
    expect(record).toMatchObject({
      files: [
        {
          path: file,
          before: sha256(JSON_TEXT),
          after: sha256(readFileSync(file)),
          mode: 0o644,
          at: '1970-01-01T00:00:00.000Z',
          names: ['linear', 'my notes'],
        },
      ],
    });
    expect(readFileSync(join(dataFolder, 'rewired.json'), 'utf8')).not.toContain('example-0123456789');
  });

  it('follow a symbolic link, which stays one', () => {
    const target = join(folder, 'dotfiles');
    mkdirSync(target);
    writeFileSync(join(target, 'real.json'), JSON_TEXT);
    symlinkSync(join(target, 'real.json'), file);
    rewire();
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(target, 'real.json'), 'utf8')).toContain('/srv/sallyport');
    expect(readdirSync(target)).toEqual(['real.json']);
    undo();
    expect(lstatSync(file).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(target, 'real.json'), 'utf8')).toBe(JSON_TEXT);
  });

  it('leave nothing behind when the rename fails', () => {
    writeFileSync(file, JSON_TEXT);
    const moves: FileMoves = {
      rename: () => {
        throw new Error('disk');
      },
    };
    expect(() => rewire('json', moves)).toThrow('disk');
    expect(readFileSync(file, 'utf8')).toBe(JSON_TEXT);
    expect(readdirSync(folder).toSorted()).toEqual(['data', 'mcp.json']);
    expect(recorded()).toBe(0);
  });

  it('can be undone when the process was killed between backup and write', () => {
    writeFileSync(file, JSON_TEXT);
    let copy: string | undefined;
    const moves: FileMoves = {
      // What a kill at this point would leave on the disk.
      rename: (from, to) => {
        copy = readFileSync(join(dataFolder, 'rewired.json'), 'utf8');
        renameSync(from, to);
      },
    };
    rewire('json', moves);
    writeFileSync(file, JSON_TEXT);
    writeFileSync(join(dataFolder, 'rewired.json'), copy!);
    expect(undo()).toEqual([{ path: file, kind: 'already' }]);
    expect([recorded(), existsSync(`${file}.sallyport-backup-1`)]).toEqual([0, false]);
  });

  it('refuse a file that changed since it was read, or while it is replaced', () => {
    writeFileSync(file, JSON_TEXT);
    const problem = { kind: 'problem', problem: 'another program changed it meanwhile' };
    expect(rewire('json', undefined, sha256('other'))).toEqual(problem);
    expect(existsSync(dataFolder)).toBe(false);
    // The clock is read between the file's reading and its replacement.
    class WritingClock extends Date {
      override toISOString(): string {
        writeFileSync(file, '{"mine": 1}');
        return super.toISOString();
      }
    }
    expect(rewire('json', undefined, undefined, new WritingClock(0))).toEqual(problem);
    expect(readFileSync(file, 'utf8')).toBe('{"mine": 1}');
    expect([readdirSync(folder).toSorted(), recorded()]).toEqual([['data', 'mcp.json'], 0]);
  });

  it('keep earlier backups', () => {
    writeFileSync(file, JSON_TEXT);
    writeFileSync(`${file}.sallyport-backup-1`, 'old');
    expect(rewire()).toMatchObject({ backup: `${file}.sallyport-backup-2` });
    expect(readFileSync(`${file}.sallyport-backup-1`, 'utf8')).toBe('old');
  });
});
