import { hash } from 'node:crypto';

/** SHA-256 in hex. One-shot hashing: a hash object costs the garbage collector more than the hashing itself. */
export function sha256(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

export function sha256Bytes(data: Uint8Array): Uint8Array {
  return hash('sha256', data, 'buffer');
}

/** The first characters of a digest in base64url; each character has six bits. */
export function shortSha256(data: string, characters: number): string {
  return hash('sha256', data, 'base64url').slice(0, characters);
}
