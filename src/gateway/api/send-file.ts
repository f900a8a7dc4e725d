import type { OutcomeFile } from './show-outcome.ts';

/** Media types that are sent as they are. Every other type is sent as plain bytes, since a browser might run code in it. */
const PLAIN_TYPES = /^(image\/(png|jpeg|gif|webp)|audio\/[\w.+-]{1,60}|text\/(plain|csv)|application\/(pdf|json|zip))$/;

/**
 * Sends a file as an attachment, so that a browser saves it and never shows it. The attack: a tool's file that is a web page, opened from
 * the gateway's own origin, where it could act with the console's cookie.
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

/** The file name for the header. Only the last part of a path is used. Characters that RFC 8187 does not allow are percent-encoded. */
function encodeName(name: string): string {
  const last = wellFormed(name).split(/[/\\]/).at(-1) ?? '';
  const shown = wellFormed(last.replaceAll(/[\p{Cc}\p{Cf}]/gu, '_').slice(0, MAX_NAME_LENGTH));
  return encodeURIComponent(shown === '' || /^\.+$/.test(shown) ? 'file' : shown).replaceAll(
    /['()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Replaces lone surrogates: half a character cannot be written in UTF-8. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString('utf8');
}
