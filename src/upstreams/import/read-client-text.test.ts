import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAX_FILE_BYTES, readClientText } from './read-client-text.ts';

describe('readClientText', () => {
  let folder: string;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'sallyport-read-'))));
  afterEach(() => rmSync(folder, { recursive: true }));
  const written = (content: string | Uint8Array): string => {
    const path = join(folder, 'file');
    writeFileSync(path, content);
    return path;
  };

  it('takes the byte order mark off, and keeps it', () => {
    expect(readClientText(written('\ufeff{}\r\n'))).toMatchObject({ text: '{}\r\n', bom: '\ufeff' });
    expect(readClientText(written('{}'))).toMatchObject({ text: '{}', bom: '' });
  });

  it('refuses what is too large, not UTF-8, not a file, or not there', () => {
    expect(readClientText(written(Buffer.alloc(MAX_FILE_BYTES, 32)))).toMatchObject({ kind: 'read' });
    expect(readClientText(written(Buffer.alloc(MAX_FILE_BYTES + 1, 32)))).toMatchObject({ kind: 'problem' });
    expect(readClientText(written(Buffer.from('\ufeff{}', 'utf16le')))).toMatchObject({
      problem: 'it is not UTF-8 text',
    });
    expect(readClientText(folder)).toMatchObject({ problem: 'it is not a regular file' });
    expect(readClientText(join(folder, 'none'))).toMatchObject({ problem: 'the file does not exist', absent: true });
  });

  it.skipIf(process.platform === 'win32')('does not wait for a FIFO', () => {
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(readClientText(join(folder, 'pipe'))).toMatchObject({ problem: 'it is not a regular file' });
  });
});
