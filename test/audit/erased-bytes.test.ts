import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { eraseSubject } from '../../src/audit/erase-subject.ts';
import { openSigner } from '../../src/audit/statement-signer.ts';
import { verifyTrail } from '../../src/audit/verify-trail.ts';
import { readTrustedKeys } from '../../src/audit/signing-keys.ts';
import { toSignedHead } from '../../src/domain/audit/record-bytes.ts';
import { encode } from '../../src/base/message-pack.ts';
import { temporaryFolder } from '../support/process.ts';
import { failOnLeaks } from '../support/reaper.ts';
import { cutTo, stageEmbedded, stageSqlite } from './trails.ts';

afterAll(failOnLeaks);

const MARKER = 'marker-of-a-payload';
/** Details of three sizes: the small ones share a page of the file with other rows, the largest one fills pages of its own. */
const DETAILS = [10, 50, 20_000].map((times) => encode({ arguments: MARKER.repeat(times) }));

function holdsMarker(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ parentPath, name }) => join(parentPath, name));
  return files.filter((file) => readFileSync(file).includes(MARKER));
}

describe.each([
  ['sqlite', stageSqlite],
  ['embedded', stageEmbedded],
])('what was erased from the trail of %s', (_name, stage) => {
  it('is in no file any more: neither in free pages nor in the log', async () => {
    const keys = temporaryFolder();
    const signer = openSigner(join(keys.path, 'keys'));
    const staged = await stage();
    for (const detail of [...DETAILS, ...DETAILS]) {
      await staged.intend(() => detail);
      await staged.fill(2);
    }
    expect(holdsMarker(staged.folder!)).not.toEqual([]);
    await eraseSubject(staged.trail, signer, { tenant: 'acme', subject: 'ann', at: 5 });
    await eraseSubject(staged.trail, signer, { tenant: 'acme', subject: 'bob', at: 6 });
    // The trail is still open, so its write-ahead log is among the files.
    expect(holdsMarker(staged.folder!)).toEqual([]);
    expect((await verifyTrail(staged.trail, readTrustedKeys(join(keys.path, 'keys')))).problem).toBeUndefined();
    await staged.close();
    keys.remove();
  });

  it('is not left over in pages that retention has freed before', async () => {
    const keys = temporaryFolder();
    const signer = openSigner(join(keys.path, 'keys'));
    const staged = await stage();
    for (const detail of DETAILS) await staged.intend(() => detail);
    const [head] = await staged.trail.auditHeads();
    const cut = toSignedHead(head!);
    const readKeys = () => readTrustedKeys(join(keys.path, 'keys'));
    expect(await cutTo({ trail: staged.trail, signer, readKeys }, cut)).toEqual(cut);
    await eraseSubject(staged.trail, signer, { tenant: 'acme', subject: 'ann', at: 5 });
    expect(holdsMarker(staged.folder!)).toEqual([]);
    await staged.close();
    keys.remove();
  });
});
