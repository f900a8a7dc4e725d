import { htmlToText } from './html-to-text.ts';

export interface Readable {
  readonly mediaType: string;
  readonly title?: string | undefined;
  /** Absent when the content is not text. */
  readonly text?: string;
}

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/u;
const TEXT = /^text\/|[/+](?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|x-sh|graphql)$/u;

/** The part of a body that a model can read: the words of a page, or plain text as it is. Any other content has no text. */
export function readableText(bytes: Uint8Array, contentType: string, url: string): Readable {
  const [declared = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  const mediaType = declared === '' ? guessType(bytes) : declared;
  const charset = parameters
    .find((part) => part.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (HTML.test(mediaType)) {
    return { mediaType, ...htmlToText(decode(bytes, charset ?? charsetInPage(bytes)), url) };
  }
  return TEXT.test(mediaType) ? { mediaType, text: decode(bytes, charset) } : { mediaType };
}

function decode(bytes: Uint8Array, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // The charset is unknown. Most of the web is UTF-8, so UTF-8 is used.
    return new TextDecoder().decode(bytes);
  }
}

/** `<meta charset>` is near the beginning of a page, in ASCII. */
function charsetInPage(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /<meta[^>]{0,200}charset=["']?([\w-]{1,40})/iu.exec(head)?.[1];
}

function guessType(bytes: Uint8Array): string {
  return bytes.subarray(0, 1024).includes(0) ? 'application/octet-stream' : 'text/plain';
}
