import { hash } from 'node:crypto';
import type { ContentBlock, WriteBacks } from '../../domain/content.ts';
import { type JsonValue } from '../../domain/json.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { ToolDeclaration } from '../../domain/tool.ts';
import { readPointer } from './read-pointer.ts';
import { signatureOf } from './signature.ts';
import { StableText } from './stable-text.ts';

/**
 * The short digest of what a tool gave: the same if nothing has changed but ids and times. Looks at 32 Ki characters at most, so that
 * a huge result costs no more than a large one. With declared pointers only what they name counts, as it is.
 */
export function resultSignature(outcome: Outcome, tool: Pick<ToolDeclaration, 'progress'>): string {
  const declared = tool.progress === undefined ? undefined : projection(outcome.structured, tool.progress);
  return signatureOf(declared ?? stableText(outcome));
}

/** Undefined when nothing that was declared is there: then the whole result has to speak for itself. */
function projection(structured: JsonValue | undefined, pointers: readonly string[]): string | undefined {
  const text = new StableText(false);
  let found = pointers.length === 0;
  for (const pointer of pointers) {
    const value = structured === undefined ? undefined : readPointer(structured, pointer);
    found ||= value !== undefined;
    text.mark('/');
    if (value !== undefined) text.addValue(value);
  }
  return found ? text.text : undefined;
}

function stableText({ content, structured, writeBacks }: Outcome): string {
  const text = new StableText(true);
  for (const block of content) addBlock(text, block);
  if (structured !== undefined) {
    text.mark('=');
    text.addValue(structured);
  }
  if (writeBacks !== undefined) addWriteBacks(text, writeBacks);
  return text.text;
}

function addBlock(text: StableText, block: ContentBlock): void {
  text.mark(block.kind);
  switch (block.kind) {
    case 'text':
      return text.addText(block.text);
    case 'structured':
      return text.addValue(block.value);
    case 'resource':
      text.addText(block.uri);
      return 'text' in block ? text.addText(block.text) : text.mark(bytesDigest(block.bytes));
    case 'image':
    case 'audio':
    case 'file':
      return text.mark(bytesDigest(block.bytes));
  }
}

function addWriteBacks(text: StableText, { files, messages, injectedTools }: WriteBacks): void {
  for (const { name, bytes } of files) {
    text.mark('sent');
    text.addText(name);
    text.mark(bytesDigest(bytes));
  }
  for (const { format, body } of messages) {
    text.mark(format);
    text.addValue(body);
  }
  for (const { tool } of injectedTools) text.mark(tool);
}

const HASHED_BYTES = 64 * 1024;

/** Of large ones the beginning, the end and the length. */
function bytesDigest(bytes: Uint8Array): string {
  if (bytes.byteLength <= HASHED_BYTES) return hash('sha256', bytes, 'base64url');
  const first = hash('sha256', bytes.subarray(0, HASHED_BYTES / 2), 'base64url');
  const last = hash('sha256', bytes.subarray(bytes.byteLength - HASHED_BYTES / 2), 'base64url');
  return `${bytes.byteLength} ${first} ${last}`;
}
