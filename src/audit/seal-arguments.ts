import {
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto';
import type { ArgumentSealer, SealBinding } from '../domain/ports/argument-sealer.ts';
import { sha256Bytes } from '../base/sha256.ts';

/*
 * Version 1, all lengths in bytes:
 *
 *   version 1 │ key id 8 │ ephemeral public key 32 │ ciphertext │ tag 16
 *
 * Each seal makes an X25519 key pair of its own. HKDF-SHA-256 over the shared secret, salted with both public keys, gives the key and
 * the nonce of AES-256-GCM. The header and the binding (call id, tool, digest) are associated data: a seal that was moved to another
 * record does not open.
 */
const VERSION = 1;
const KEY_ID_BYTES = 8;
const PUBLIC_BYTES = 32;
const TAG_BYTES = 16;
const HEADER_BYTES = 1 + KEY_ID_BYTES + PUBLIC_BYTES;
const CIPHER = 'aes-256-gcm';
const CIPHER_KEY_BYTES = 32;
const NONCE_BYTES = 12;
const PURPOSE = 'sallyport sealed arguments 1';
/** The fixed start of an X25519 public key in DER; the key itself is the rest. */
const DER_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

export function createSealer(auditor: KeyObject): ArgumentSealer {
  const auditorBytes = rawPublicKey(auditor);
  const keyId = keyIdOf(auditorBytes);
  return {
    seal(canonical, binding) {
      const own = generateKeyPairSync('x25519');
      const ownBytes = rawPublicKey(own.publicKey);
      const header = Buffer.concat([Buffer.from([VERSION]), keyId, ownBytes]);
      const shared = diffieHellman({ privateKey: own.privateKey, publicKey: auditor });
      const { key, nonce } = deriveKey(shared, ownBytes, auditorBytes);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associated(header, binding));
      const sealed = Buffer.concat([header, cipher.update(canonical, 'utf8'), cipher.final()]);
      return Buffer.concat([sealed, cipher.getAuthTag()]);
    },
  };
}

export type OpenedSeal =
  | { readonly kind: 'opened'; readonly arguments: string }
  | { readonly kind: 'other-key'; readonly sealedTo: string; readonly given: string }
  /** The seal was changed, moved from another record, or is of a later version. */
  | { readonly kind: 'broken'; readonly problem: string };

export function openSeal(sealed: Uint8Array, binding: SealBinding, auditor: KeyObject): OpenedSeal {
  const bytes = Buffer.from(sealed);
  if (bytes[0] !== VERSION) return { kind: 'broken', problem: `it has the unknown version ${bytes[0] ?? 'none'}` };
  if (bytes.length < HEADER_BYTES + TAG_BYTES) return { kind: 'broken', problem: 'it is cut off' };
  const header = bytes.subarray(0, HEADER_BYTES);
  const auditorBytes = rawPublicKey(createPublicKey(auditor));
  const [sealedTo, given] = [
    header.subarray(1, 1 + KEY_ID_BYTES).toString('hex'),
    keyIdOf(auditorBytes).toString('hex'),
  ];
  if (sealedTo !== given) return { kind: 'other-key', sealedTo, given };
  try {
    const ownBytes = header.subarray(1 + KEY_ID_BYTES);
    const publicKey = createPublicKey({ key: Buffer.concat([DER_PREFIX, ownBytes]), format: 'der', type: 'spki' });
    const { key, nonce } = deriveKey(diffieHellman({ privateKey: auditor, publicKey }), ownBytes, auditorBytes);
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(associated(header, binding)).setAuthTag(bytes.subarray(-TAG_BYTES));
    const text = Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES, -TAG_BYTES)), decipher.final()]);
    return { kind: 'opened', arguments: text.toString('utf8') };
  } catch {
    return { kind: 'broken', problem: 'it was changed, or it belongs to another record' };
  }
}

/** The id by which people and errors name an auditor's key. */
export function auditorKeyId(publicKey: KeyObject): string {
  return keyIdOf(rawPublicKey(publicKey)).toString('hex');
}

function keyIdOf(publicKey: Uint8Array): Buffer {
  return Buffer.from(sha256Bytes(publicKey)).subarray(0, KEY_ID_BYTES);
}

function rawPublicKey(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(-PUBLIC_BYTES);
}

function deriveKey(shared: Uint8Array, own: Uint8Array, auditor: Uint8Array): { key: Buffer; nonce: Buffer } {
  const salt = Buffer.concat([own, auditor]);
  const bytes = Buffer.from(hkdfSync('sha256', shared, salt, PURPOSE, CIPHER_KEY_BYTES + NONCE_BYTES));
  return { key: bytes.subarray(0, CIPHER_KEY_BYTES), nonce: bytes.subarray(CIPHER_KEY_BYTES) };
}

/** The associated data of a seal. None of the three values contains a line feed, so one value cannot be shifted into another. */
function associated(header: Uint8Array, { callId, tool, digest }: SealBinding): Buffer {
  return Buffer.concat([header, Buffer.from(`\n${callId}\n${tool}\n${digest}`)]);
}
