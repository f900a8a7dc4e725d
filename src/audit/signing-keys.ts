import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { planeError, type PlaneError } from '../domain/errors/errors.ts';
import { sha256 } from '../base/sha256.ts';

export interface SigningKey {
  readonly id: string;
  readonly privateKey: KeyObject;
}

/**
 * The public keys, by id, with which signatures are checked: those of all keys that ever signed. The attack: a writer of the sink adds a
 * key of their own and signs another history. So a key is trusted only because its file is in one of the folders, and never because of
 * something in the sink or the store.
 */
export type TrustedKeys = ReadonlyMap<string, KeyObject>;

const PRIVATE_FILE = 'signing.pem';
const PUBLIC_ENDING = '.public.pem';
const ID_LENGTH = 16;

/** The key that signs from now on; created if there is none yet. */
export function openSigningKey(folder: string): { key: SigningKey; isNew: boolean } {
  const file = join(folder, PRIVATE_FILE);
  refuseForeignFolder(folder);
  if (!existsSync(file)) return { key: makeSigningKey(folder), isNew: true };
  const privateKey = readPrivateKey(file);
  const key = { id: keyId(createPublicKey(privateKey)), privateKey };
  writePublic(folder, key.id, createPublicKey(privateKey));
  return { key, isNew: false };
}

/** Creates a new key that replaces the current one. The public key of the old one is kept. */
export function makeSigningKey(folder: string): SigningKey {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const id = keyId(publicKey);
  // The public key is written first, so that no signature exists that cannot be checked.
  writePublic(folder, id, publicKey);
  const file = join(folder, PRIVATE_FILE);
  const fresh = `${file}.${id}`;
  writeFileSync(fresh, privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600, flag: 'wx' });
  renameSync(fresh, file);
  return { id, privateKey };
}

/**
 * @param others a folder with public keys of other gateways. If it is given, it must exist: with a wrong path, the other gateways would
 * silently not be trusted.
 */
export function readTrustedKeys(folder: string, others?: string): TrustedKeys {
  if (others !== undefined && statSync(others, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw planeError('AUDIT_TRUSTED_KEYS_MISSING', { folder: others });
  }
  const keys = new Map<string, KeyObject>();
  for (const each of [folder, ...(others === undefined ? [] : [others])].filter(existsSync)) {
    for (const name of readdirSync(each).filter((file) => file.endsWith(PUBLIC_ENDING))) {
      const key = parseKey(join(each, name), (text) => createPublicKey(text));
      keys.set(keyId(key), key);
    }
  }
  return keys;
}

/** Milliseconds since the newest key was created, by the clock of this machine. Undefined: there is no key. */
export function keyAgeMs(folder: string): number | undefined {
  if (!existsSync(folder)) return undefined;
  const made = readdirSync(folder)
    .filter((each) => each.endsWith(PUBLIC_ENDING))
    .map((name) => statSync(join(folder, name)).mtimeMs);
  return made.length === 0 ? undefined : Date.now() - Math.max(...made);
}

function keyId(publicKey: KeyObject): string {
  return sha256(publicKey.export({ format: 'der', type: 'spki' })).slice(0, ID_LENGTH);
}

function writePublic(folder: string, id: string, publicKey: KeyObject): void {
  const file = join(folder, `${id}${PUBLIC_ENDING}`);
  if (!existsSync(file)) writeFileSync(file, publicKey.export({ format: 'pem', type: 'spki' }), { mode: 0o644 });
}

/**
 * Throws if the folder belongs to another user and this user cannot read it. Otherwise the folder would seem empty, and a new key would be
 * created.
 */
function refuseForeignFolder(folder: string): void {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === process.geteuid?.()) return;
  try {
    readdirSync(folder);
  } catch {
    throw foreign(folder, owner);
  }
}

function foreign(file: string, owner: number): PlaneError {
  return planeError('AUDIT_KEYS_FOREIGN', { file, owner, user: process.geteuid?.() ?? -1 });
}

/** The file must belong to this user, be a regular file, and be closed to all other users: an attacker who reads it can sign anything. */
function readPrivateKey(file: string): KeyObject {
  const refuse = (problem: string): never => {
    throw planeError('AUDIT_KEYS_UNSAFE', { file, problem });
  };
  const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = fstatSync(opened);
    const own = process.geteuid?.();
    if (!facts.isFile()) refuse('it is not a regular file');
    if (own !== undefined && facts.uid !== own) throw foreign(file, facts.uid);
    if (process.platform !== 'win32' && (facts.mode & 0o077) !== 0) refuse('other users can read it');
  } finally {
    closeSync(opened);
  }
  return parseKey(file, (text) => createPrivateKey(text));
}

function parseKey(file: string, parse: (text: string) => KeyObject): KeyObject {
  try {
    const key = parse(readFileSync(file, 'utf8'));
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // The error thrown below reports this. The original error could quote the content of the file.
  }
  throw planeError('AUDIT_KEYS_UNSAFE', { file, problem: 'it is no Ed25519 key' });
}
