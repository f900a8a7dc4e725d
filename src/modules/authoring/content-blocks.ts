import type { ContentBlock } from '../../domain/outcome/content.ts';
import type { JsonValue } from '../../base/json.ts';

/** Distinguishes a block from a JSON value that happens to have a `kind`. All copies of this package share it. */
const MARK = Symbol.for('sallyport.content-block');

/** A content block, made by `text`, `image`, `audio`, `file`, `embedded` and `structured`. A tool returns one, or an array of them. */
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

/** A resource embedded in an answer: what a client that reads this URI would get. */
export function embedded(uri: string, content: string | Uint8Array, mediaType?: string): ToolContent {
  const type = mediaType === undefined ? {} : { mediaType };
  return typeof content === 'string'
    ? block<'resource'>({ kind: 'resource', uri, ...type, text: content })
    : block<'resource'>({ kind: 'resource', uri, ...type, bytes: content });
}

/** A JSON block next to other blocks. If an answer has exactly one such block, it is also the answer's structured value. */
export function structured(value: JsonValue): ToolContent {
  return block<'structured'>({ kind: 'structured', value });
}

export function isToolContent(value: unknown): value is ToolContent {
  return typeof value === 'object' && value !== null && (value as { [MARK]?: unknown })[MARK] === true;
}
