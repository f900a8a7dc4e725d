import { hash } from 'node:crypto';
import type { JsonValue } from '../../base/json.ts';
import type { ContentBlock, WriteBacks } from '../../domain/outcome/content.ts';
import type { Outcome } from '../../domain/outcome/outcome.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import { parsePointer, readPointer, type MemberStep } from '../../base/json-pointer.ts';
import { signatureOf } from './signature.ts';
import { StableText } from './stable-text.ts';

/**
 * Short digest of a tool's result. It stays the same if only ids and times have changed. At most 32 Ki characters are read, which limits
 * the time for a huge result. If the tool declares `progress` pointers, only the values they name count, ids and times included.
 */
export function resultSignature(outcome: Outcome, tool: Pick<ToolDeclaration, 'progress'>): string {
  const declared = tool.progress === undefined ? undefined : projection(outcome.structured, tool.progress);
  return signatureOf(declared ?? stableText(outcome));
}

/** Cache of parsed pointers, by the list that declares them. A tool's declaration never changes, so an entry never becomes stale. */
const parsedLists = new WeakMap<readonly string[], readonly (readonly MemberStep[] | undefined)[]>();

function parsed(pointers: readonly string[]): readonly (readonly MemberStep[] | undefined)[] {
  let steps = parsedLists.get(pointers);
  if (steps === undefined) {
    steps = pointers.map((pointer) => parsePointer(pointer));
    parsedLists.set(pointers, steps);
  }
  return steps;
}

/** The declared values as text. Undefined if none of them exists: then the whole result is used. */
function projection(structured: JsonValue | undefined, pointers: readonly string[]): string | undefined {
  const text = new StableText(false);
  let found = pointers.length === 0;
  for (const steps of parsed(pointers)) {
    const value = structured === undefined || steps === undefined ? undefined : readPointer(structured, steps);
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

/** Digest of bytes. For more than 64 KiB: the length and the digests of the first and last 32 KiB. */
function bytesDigest(bytes: Uint8Array): string {
  if (bytes.byteLength <= HASHED_BYTES) return hash('sha256', bytes, 'base64url');
  const first = hash('sha256', bytes.subarray(0, HASHED_BYTES / 2), 'base64url');
  const last = hash('sha256', bytes.subarray(bytes.byteLength - HASHED_BYTES / 2), 'base64url');
  return `${bytes.byteLength} ${first} ${last}`;
}
