import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { planeError } from '../../domain/errors/errors.ts';
import { readPrivateFile } from '../../base/read-private-file.ts';
import { randomId } from '../../domain/identity/new-id.ts';
import type { McpPlane } from './mcp-plane.ts';

const NAME = 'seal.key';
const KEY_BYTES = 32;
const KEY_TEXT = /^[A-Za-z0-9_-]{43}$/;

/**
 * Reads the key from the configured file, or from a file in the plane's folder, which is created if it is missing. States that were sealed
 * before a restart can therefore still be opened.
 */
export function sealKeyOf({ folder, gateway }: McpPlane['config']): Uint8Array {
  if (gateway.sealKeyFile !== undefined) return readKey(gateway.sealKeyFile);
  const path = join(folder, NAME);
  makeKeyFile(path);
  return readKey(path);
}

function readKey(path: string): Uint8Array {
  const read = readPrivateFile(path);
  if (read.kind === 'problem') throw refused(path, read.problem);
  const text = read.text.trim();
  if (!KEY_TEXT.test(text)) throw refused(path, 'does not hold 43 characters of base64url');
  return Buffer.from(text, 'base64url');
}

function refused(path: string, problem: string): Error {
  return planeError('CONFIG_INVALID', { problems: [`the seal key file ${path} ${problem}`] });
}

/** Creates the file completely or not at all, and never overwrites one: two gateways may start at the same time. */
function makeKeyFile(path: string): void {
  const found = readPrivateFile(path);
  if (found.kind === 'read' || !found.absent) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomId()}`;
  writeFileSync(draft, `${randomBytes(KEY_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft);
  }
}
