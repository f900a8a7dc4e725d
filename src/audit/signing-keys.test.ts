import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openSigningKey } from './signing-keys.ts';

const folder = mkdtempSync(join(tmpdir(), 'sallyport-keys-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const OTHER_USER = 61_184;

// Only root can give a file away.
it.runIf(isRoot)('a key of another user is refused with both users, and the advice to run as its owner', () => {
  openSigningKey(folder);
  chownSync(join(folder, 'signing.pem'), OTHER_USER, OTHER_USER);
  expect(() => openSigningKey(folder)).toThrow(
    expect.objectContaining({
      code: 'AUDIT_KEYS_FOREIGN',
      facts: { file: join(folder, 'signing.pem'), owner: OTHER_USER, user: 0 },
      fix: expect.stringContaining('Run the command as that user') as string,
    }),
  );
});

it.runIf(isRoot)('a folder of keys that this user cannot look into is refused, and not taken for an empty one', () => {
  chownSync(join(folder, 'signing.pem'), 0, 0);
  process.seteuid!(OTHER_USER);
  try {
    expect(() => openSigningKey(folder)).toThrow(expect.objectContaining({ code: 'AUDIT_KEYS_FOREIGN' }));
  } finally {
    process.seteuid!(0);
  }
});
