import type { CallToolResult, ContentBlock as McpBlock } from '@modelcontextprotocol/server';
import type { ContentBlock, FileWriteBack, ResourceBlock } from '../../domain/outcome/content.ts';
import type { CallId } from '../../domain/identity/ids.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { EarlierCall } from './owed-calls.ts';

export const META = Object.freeze({
  callId: 'sallyport/callId',
  idempotencyKey: 'sallyport/idempotencyKey',
  run: 'sallyport/run',
  outcome: 'sallyport/outcome',
  state: 'sallyport/state',
  messages: 'sallyport/messages',
  /** In a result: the earlier call that the result belongs to. */
  earlier: 'sallyport/earlier',
  /** In a request: make a new call, even if the client could get the outcome of an earlier one. */
  new: 'sallyport/new',
});

export interface ShownCall {
  readonly callId?: CallId;
  /** True if structured content may be any JSON value. The revision 2025-11-25 allows only an object. */
  readonly anyStructured: boolean;
  /** Set if an earlier request made this call and its client did not get the outcome. */
  readonly earlier?: EarlierCall | undefined;
}

/** Converts an outcome to an MCP result. Every kind except `ok` is an error that the model can read, with Sallyport's code in `_meta`. */
export function showOutcome(outcome: Outcome, { callId, anyStructured, earlier }: ShownCall): CallToolResult {
  const files = outcome.writeBacks?.files ?? [];
  const content = [
    ...outcome.content.map((block, at) => showBlock(block, placeOf(callId, at))),
    ...files.map((file, at) => showFile(file, placeOf(callId, outcome.content.length + at))),
  ];
  const { error, structured, advice } = outcome;
  if (error !== undefined && !content.some((block) => block.type === 'text'))
    content.unshift({ type: 'text', text: error.message });
  // For clients that read only `content`.
  if (structured !== undefined) addText(content, JSON.stringify(structured));
  // The advice is added as text, because the model cannot see `_meta`.
  if (advice !== undefined) content.push({ type: 'text', text: advice });
  if (earlier !== undefined) content.push({ type: 'text', text: describeEarlier(earlier) });
  return {
    content,
    ...(structured !== undefined && (anyStructured || isJsonObject(structured))
      ? { structuredContent: structured as JsonObject }
      : {}),
    ...(outcome.kind === 'ok' ? {} : { isError: true }),
    _meta: { ...metaOf(outcome, callId), ...earlierMeta(earlier) },
  };
}

/** This text is for the model, which cannot see `_meta`. */
function describeEarlier({ callId, madeAt }: EarlierCall): string {
  return `This is the answer to your earlier call ${callId} of ${timeOf(madeAt)}, which had the same arguments. The call was not made a second time.`;
}

export function earlierMeta(earlier: EarlierCall | undefined): JsonObject {
  return earlier === undefined ? {} : { [META.earlier]: { callId: earlier.callId, at: timeOf(earlier.madeAt) } };
}

export function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

function addText(content: McpBlock[], text: string): void {
  if (!content.some((block) => block.type === 'text' && block.text === text)) content.unshift({ type: 'text', text });
}

function metaOf(outcome: Outcome, callId: CallId | undefined): JsonObject {
  const { kind, executed, retryable, error, advice } = outcome;
  const messages = outcome.writeBacks?.messages ?? [];
  return {
    ...(callId === undefined ? {} : { [META.callId]: callId }),
    [META.outcome]: {
      kind,
      executed,
      retryable,
      ...(error === undefined
        ? {}
        : {
            code: error.code,
            message: error.message,
            ...(error.fix === undefined ? {} : { fix: error.fix }),
            ...(error.facts === undefined ? {} : { facts: error.facts }),
          }),
      ...(advice === undefined ? {} : { advice }),
    },
    ...(messages.length === 0 ? {} : { [META.messages]: messages.map(({ format, body }) => ({ format, body })) }),
  };
}

/** A URI that names bytes in the result itself; it cannot be fetched. */
function placeOf(callId: CallId | undefined, at: number): string {
  return `sallyport://calls/${callId ?? 'refused'}/content/${at}`;
}

export function showBlock(block: ContentBlock, place: string): McpBlock {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'audio':
      return { type: block.kind, mimeType: block.mediaType, data: toBase64(block.bytes) };
    case 'file':
      return showFile(block, place);
    case 'structured':
      return { type: 'text', text: JSON.stringify(block.value) };
    case 'resource':
      return { type: 'resource', resource: showResource(block) };
  }
}

/** Text is sent as text, not as base64, so that models can read it. */
export function showResource(block: ResourceBlock): ResourceContents {
  const { uri, mediaType } = block;
  const type = mediaType === undefined ? {} : { mimeType: mediaType };
  return 'text' in block ? { uri, ...type, text: block.text } : { uri, ...type, blob: toBase64(block.bytes) };
}

type ResourceContents = { uri: string; mimeType?: string } & ({ text: string } | { blob: string });

function showFile({ name, mediaType, bytes }: FileWriteBack, place: string): McpBlock {
  const uri = `${place}/${encodeURIComponent(name)}`;
  return { type: 'resource', resource: { uri, mimeType: mediaType, blob: toBase64(bytes) } };
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
