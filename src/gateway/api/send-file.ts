import type { OutcomeFile } from './show-outcome.ts';

/** Types that a browser would run something of are sent as plain bytes. */
const PLAIN_TYPES = /^(image\/(png|jpeg|gif|webp)|audio\/[\w.+-]{1,60}|text\/(plain|csv)|application\/(pdf|json|zip))$/;

/**
 * Never shown, always saved. The attack: a tool's file that is a page, opened from the gateway's own origin, where it could act with the
 * console's cookie.
 */
export function sendFile({ name, mediaType, bytes }: OutcomeFile, index: number): Response {
  const plain = `file-${index}`;
  return new Response(Uint8Array.from(bytes), {
    headers: {
      'content-type': PLAIN_TYPES.test(mediaType) ? mediaType : 'application/octet-stream',
      'content-length': String(bytes.byteLength),
      'content-disposition': `attachment; filename="${plain}"${name === undefined ? '' : `; filename*=UTF-8''${encodeName(name)}`}`,
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'private, no-store',
      'accept-ranges': 'none',
    },
  });
}

const MAX_NAME_LENGTH = 200;

/** The last part of a path at most, in the letters that RFC 8187 has; whatever else is spelled out. */
function encodeName(name: string): string {
  const last = wellFormed(name).split(/[/\\]/).at(-1) ?? '';
  const shown = wellFormed(last.replaceAll(/[\p{Cc}\p{Cf}]/gu, '_').slice(0, MAX_NAME_LENGTH));
  return encodeURIComponent(shown === '' || /^\.+$/.test(shown) ? 'file' : shown).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Half a character cannot be written in UTF-8. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString('utf8');
}
