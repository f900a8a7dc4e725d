import { htmlToText } from './html-to-text.ts';

export interface Readable {
  readonly mediaType: string;
  readonly title?: string | undefined;
  /** Absent when the content is not text. */
  readonly text?: string;
}

const HTML = /^(?:text\/html|application\/xhtml\+xml)$/u;
const TEXT = /^text\/|[/+](?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|x-sh|graphql)$/u;

/** What a model can read of a body: the words of a page, text as it is, nothing of the rest. */
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
    // An unknown charset: most of the web is UTF-8.
    return new TextDecoder().decode(bytes);
  }
}

/** `<meta charset>` stands at the beginning, in ASCII. */
function charsetInPage(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  return /<meta[^>]{0,200}charset=["']?([\w-]{1,40})/iu.exec(head)?.[1];
}

function guessType(bytes: Uint8Array): string {
  return bytes.subarray(0, 1024).includes(0) ? 'application/octet-stream' : 'text/plain';
}
