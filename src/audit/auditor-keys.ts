import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { planeError } from '../domain/errors/errors.ts';
import type { ArgumentSealer } from '../domain/ports/argument-sealer.ts';
import { auditorKeyId, createSealer } from './seal-arguments.ts';

const PRIVATE_FILE = 'auditor.private.pem';
const PUBLIC_FILE = 'auditor.public.pem';
const MAX_FILE_BYTES = 16 * 1024;

export interface AuditorKeyFiles {
  readonly id: string;
  readonly privateFile: string;
  readonly publicFile: string;
}

/**
 * Creates a key pair in a folder. Never overwrites a file, because the old private key is the only way to open what was sealed with its
 * public key.
 */
export function makeAuditorKeys(folder: string): AuditorKeyFiles {
  const [privateFile, publicFile] = [join(folder, PRIVATE_FILE), join(folder, PUBLIC_FILE)];
  for (const file of [privateFile, publicFile]) if (existsSync(file)) throw refused(file, 'it is there already');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const pair = generateKeyPairSync('x25519');
  // `wx`: if two commands run at once, only one of them creates the pair.
  writeFileSync(privateFile, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' });
  try {
    writeFileSync(publicFile, pair.publicKey.export({ format: 'pem', type: 'spki' }), { mode: 0o644, flag: 'wx' });
  } catch (error) {
    rmSync(privateFile);
    throw error;
  }
  return { id: auditorKeyId(pair.publicKey), privateFile, publicFile };
}

/** The sealer of a worker. The file must contain only the public key, so that an attacker who breaks into a worker cannot open any seal. */
export function readSealer(file: string): ArgumentSealer {
  const text = readText(file);
  if (/PRIVATE KEY/.test(text)) {
    throw refused(file, 'it holds a private key, which belongs to the auditor alone; name the file of the public key');
  }
  const sealer = createSealer(parseKey(file, text, createPublicKey));
  try {
    // With some 32-byte public keys, key agreement with any other key fails. Such a key is rejected here and not at the first call.
    sealer.seal('{}', { callId: '', tool: '', digest: '' });
  } catch {
    throw refused(file, 'nothing can be sealed to it');
  }
  return sealer;
}

/** Parses the private key, for `audit open`. `text` is the content of a file that only its owner can read. */
export function parseAuditorKey(file: string, text: string): KeyObject {
  if (!/PRIVATE KEY/.test(text)) throw refused(file, 'it holds no private key');
  return parseKey(file, text, createPrivateKey);
}

function readText(file: string): string {
  try {
    const text = readFileSync(file, 'utf8');
    if (text.length <= MAX_FILE_BYTES) return text;
  } catch (error) {
    throw refused(file, `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  throw refused(file, 'it is too large for a key');
}

function parseKey(file: string, text: string, parse: (text: string) => KeyObject): KeyObject {
  try {
    const key = parse(text);
    if (key.asymmetricKeyType === 'x25519') return key;
  } catch {
    // The error thrown below reports this. The original error could quote the content of the file.
  }
  throw refused(file, 'it is no X25519 key');
}

function refused(file: string, problem: string): Error {
  return planeError('AUDITOR_KEY_INVALID', { file, problem });
}
