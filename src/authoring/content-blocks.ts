import type { ContentBlock } from '../domain/content.ts';
import type { JsonValue } from '../domain/json.ts';

/** Tells a block from a JSON value that happens to have a `kind`. Shared by all copies of this package. */
const MARK = Symbol.for('sallyport.content-block');

/** Made by `text`, `image`, `audio`, `file`, `embedded` and `structured`; return one, or an array of them. */
export type ToolContent = ContentBlock & { readonly [MARK]: true };

function block<Kind extends ContentBlock['kind']>(content: Extract<ContentBlock, { kind: Kind }>): ToolContent {
  return Object.freeze(Object.defineProperty(content, MARK, { value: true })) as unknown as ToolContent;
}

export function text(content: string): ToolContent {
  return block<'text'>({ kind: 'text', text: content });
}

export function image(bytes: Uint8Array, mediaType: string): ToolContent {
  return block<'image'>({ kind: 'image', mediaType, bytes });
}

export function audio(bytes: Uint8Array, mediaType: string): ToolContent {
  return block<'audio'>({ kind: 'audio', mediaType, bytes });
}

export function file(name: string, bytes: Uint8Array, mediaType = 'application/octet-stream'): ToolContent {
  return block<'file'>({ kind: 'file', name, mediaType, bytes });
}

/** A resource within an answer: what a reader of that URI would get. */
export function embedded(uri: string, content: string | Uint8Array, mediaType?: string): ToolContent {
  const type = mediaType === undefined ? {} : { mediaType };
  return typeof content === 'string'
    ? block<'resource'>({ kind: 'resource', uri, ...type, text: content })
    : block<'resource'>({ kind: 'resource', uri, ...type, bytes: content });
}

/** JSON beside other blocks. Exactly one of them in an answer is also its structured value. */
export function structured(value: JsonValue): ToolContent {
  return block<'structured'>({ kind: 'structured', value });
}

export function isToolContent(value: unknown): value is ToolContent {
  return typeof value === 'object' && value !== null && (value as { [MARK]?: unknown })[MARK] === true;
}
