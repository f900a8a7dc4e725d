/** Index of "-" in the alphabet of base64url. */
const DASH = 62;

/**
 * Changes random bytes whose base64url text would begin with "-". A command line takes such a text for an option: it then refuses an id, or
 * repeats a secret in its error.
 */
export function avoidDash(bytes: Buffer, at = 0): void {
  if (bytes[at]! >> 2 === DASH) bytes[at] = bytes[at]! & 0x7f;
}
