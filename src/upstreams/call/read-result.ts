import type { RunEnding } from '../../domain/ports/tool-runner.ts';
import { NO_WRITE_BACKS, type ContentBlock } from '../../domain/outcome/content.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { isMediaType } from '../../modules/authoring/shown-text.ts';
import { endingOfReceived } from '../../worker/runners/plain-result.ts';

const ANY_MEDIA_TYPE = 'application/octet-stream';

/** The ending for the result of `tools/call`. A server may send anything, so what cannot be read becomes an ending that says so. */
export function endingOfToolResult(result: JsonObject, maxBytes: number): RunEnding {
  const { content, structuredContent, isError } = result;
  const blocks = Array.isArray(content) ? content.map(readBlock) : [];
  const given = {
    ...(blocks.length === 0 && structuredContent !== undefined ? {} : { content: blocks }),
    ...(structuredContent === undefined ? {} : { value: structuredContent }),
  };
  const ending = endingOfReceived(given, NO_WRITE_BACKS, maxBytes);
  if (isError !== true || ending.kind !== 'returned') return ending;
  return { ...ending, result: { ...ending.result, reportsFailure: true } };
}

/** The ending for the result of `resources/read`: its contents as blocks. */
export function endingOfContents(result: JsonObject, maxBytes: number): RunEnding {
  const contents = Array.isArray(result['contents']) ? result['contents'] : [];
  return endingOfReceived({ content: contents.map(readResource) }, NO_WRITE_BACKS, maxBytes);
}

/** The ending for the result of `prompts/get`: the content of each message, and in the value its role. */
export function endingOfPrompt(result: JsonObject, maxBytes: number): RunEnding {
  const messages = (Array.isArray(result['messages']) ? result['messages'] : []).filter(isJsonObject);
  const { description } = result;
  const value = {
    roles: messages.map(({ role }) => (role === 'assistant' ? 'assistant' : 'user')),
    ...(typeof description === 'string' ? { description } : {}),
  };
  return endingOfReceived(
    { content: messages.map((message) => readBlock(message['content']!)), value },
    NO_WRITE_BACKS,
    maxBytes,
  );
}

/** The ending for the result of `completion/complete`. */
export function endingOfCompletion(result: JsonObject, maxBytes: number): RunEnding {
  const completion = isJsonObject(result['completion']) ? result['completion'] : {};
  const { values, hasMore, total } = completion;
  const texts = (Array.isArray(values) ? values : []).filter((value) => typeof value === 'string').slice(0, 100);
  const value = {
    completion: { values: texts, hasMore: hasMore === true, ...(typeof total === 'number' ? { total } : {}) },
  };
  return endingOfReceived({ value }, NO_WRITE_BACKS, maxBytes);
}

/** What the block is in Sallyport. Unknown kinds stay readable, as JSON. */
function readBlock(block: JsonValue): ContentBlock {
  if (!isJsonObject(block)) return { kind: 'structured', value: block };
  const { type, text, data, resource } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return { kind: type, mediaType: mediaTypeOf(block), bytes: bytesOf(data) };
  if (type === 'resource' && isJsonObject(resource)) return readResource(resource);
  return { kind: 'structured', value: block };
}

function readResource(resource: JsonValue): ContentBlock {
  if (!isJsonObject(resource)) return { kind: 'structured', value: resource };
  const { uri, text, blob } = resource;
  const mediaType = isMediaType(resource['mimeType']) ? { mediaType: resource['mimeType'] } : {};
  if (typeof uri === 'string' && typeof text === 'string') return { kind: 'resource', uri, ...mediaType, text };
  if (typeof uri === 'string' && typeof blob === 'string')
    return { kind: 'resource', uri, ...mediaType, bytes: bytesOf(blob) };
  return { kind: 'structured', value: resource };
}

function mediaTypeOf({ mimeType }: JsonObject): string {
  return isMediaType(mimeType) ? mimeType : ANY_MEDIA_TYPE;
}

function bytesOf(base64: string): Uint8Array {
  return Buffer.from(base64, 'base64');
}
