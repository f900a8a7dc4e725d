import { types } from 'node:util';
import { displayFileName, isMediaType } from '../../modules/authoring/shown-text.ts';
import {
  MAX_COST,
  NO_WRITE_BACKS,
  type ContentBlock,
  type FileWriteBack,
  type InjectedTool,
  type RichMessage,
  type WriteBacks,
} from '../../domain/outcome/content.ts';
import { splitToolId } from '../../domain/identity/ids.ts';
import { isJsonObject } from '../../base/json.ts';
import { isUri } from '../../base/uri-template.ts';
import { makePlain, NotPlain, type SizeBudget } from './make-plain.ts';
import { hasLoneSurrogate } from '../../base/well-formed.ts';

const MAX_BLOCKS = 1000;
export const MAX_FILES = 100;
export const MAX_MESSAGES = 100;
export const MAX_OFFERS = 32;
const FORMAT = /^[a-z0-9][a-z0-9_.+/-]{0,63}$/i;
const MAX_OFFER_DESCRIPTION = 2048;

/**
 * The functions of this file read what tool code made or a tool's process sent, so the shape is not known. All of them throw NotPlain or
 * TooLarge.
 */
function plainBlock(block: unknown, budget: SizeBudget, path: string): ContentBlock {
  const fields = asFields(block, path);
  const { kind } = fields;
  switch (kind) {
    case 'text':
      return { kind, text: plainText(fields['text'], budget, `${path}.text`) };
    case 'image':
    case 'audio':
      return { kind, mediaType: plainMediaType(fields, budget, path), bytes: plainBytes(fields, budget, path) };
    case 'file':
      return { kind, ...plainFile(fields, budget, path) };
    case 'resource':
      return plainResource(fields, budget, path);
    case 'structured':
      return { kind, value: makePlain(fields['value'], budget, `${path}.value`) };
    default:
      throw new NotPlain(`${path} is no content block`);
  }
}

function plainResource(fields: Record<string, unknown>, budget: SizeBudget, path: string): ContentBlock {
  const { uri } = fields;
  if (!isUri(uri)) throw new NotPlain(`${path}.uri is no absolute URI`);
  budget.take(uri.length);
  const head = {
    kind: 'resource',
    uri,
    ...(fields['mediaType'] === undefined ? {} : { mediaType: plainMediaType(fields, budget, path) }),
  } as const;
  return fields['bytes'] === undefined
    ? { ...head, text: plainText(fields['text'], budget, `${path}.text`) }
    : { ...head, bytes: plainBytes(fields, budget, path) };
}

export function plainBlocks(blocks: unknown, budget: SizeBudget): ContentBlock[] {
  return plainList(blocks, MAX_BLOCKS, 'content', (block, path) => plainBlock(block, budget, path));
}

export function plainWriteBacks(writeBacks: unknown, budget: SizeBudget): WriteBacks {
  if (writeBacks === NO_WRITE_BACKS) return NO_WRITE_BACKS;
  const { files, messages, injectedTools, cost } = asFields(writeBacks, 'the write-backs');
  if (cost !== undefined && !isCost(cost)) throw new NotPlain('cost is no cost');
  return {
    files: plainList(files, MAX_FILES, 'files', (file, path) => plainFile(file, budget, path)),
    messages: plainList(messages, MAX_MESSAGES, 'messages', (message, path) => plainMessage(message, budget, path)),
    injectedTools: plainList(injectedTools, MAX_OFFERS, 'offers', (offer, path) => plainOffer(offer, budget, path)),
    ...(cost === undefined ? {} : { cost }),
  };
}

export function isCost(amount: unknown): amount is number {
  return typeof amount === 'number' && amount >= 0 && amount <= MAX_COST;
}

export function plainFile(file: unknown, budget: SizeBudget, path: string): FileWriteBack {
  const fields = asFields(file, path);
  const { name } = fields;
  if (typeof name !== 'string') throw new NotPlain(`${path}.name is not a text`);
  const shown = displayFileName(name);
  budget.take(Buffer.byteLength(shown));
  return { name: shown, mediaType: plainMediaType(fields, budget, path), bytes: plainBytes(fields, budget, path) };
}

export function plainMessage(message: unknown, budget: SizeBudget, path: string): RichMessage {
  const { format, body } = asFields(message, path);
  if (typeof format !== 'string' || !FORMAT.test(format)) throw new NotPlain(`${path}.format is not a short name`);
  budget.take(format.length);
  const plain = makePlain(body, budget, `${path}.body`);
  if (!isJsonObject(plain)) throw new NotPlain(`${path}.body is not an object`);
  return { format, body: plain };
}

export function plainOffer(offer: unknown, budget: SizeBudget, path: string): InjectedTool {
  const { tool, description } = asFields(offer, path);
  if (typeof tool !== 'string' || splitToolId(tool) === undefined) throw new NotPlain(`${path}.tool is no tool id`);
  budget.take(tool.length);
  if (description === undefined) return { tool };
  const text = plainText(description, budget, `${path}.description`);
  if (text.length > MAX_OFFER_DESCRIPTION) throw new NotPlain(`${path}.description is too long`);
  return { tool, description: text };
}

function plainList<Item>(
  list: unknown,
  max: number,
  name: string,
  plain: (item: unknown, path: string) => Item,
): Item[] {
  if (!Array.isArray(list)) throw new NotPlain(`${name} is not a list`);
  if (list.length > max) throw new NotPlain(`${name} has ${list.length} entries; the limit is ${max}`);
  return Array.from(list, (item: unknown, index) => plain(item, `${name}[${index}]`));
}

function asFields(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new NotPlain(`${path} is not an object`);
  return value as Record<string, unknown>;
}

function plainText(text: unknown, budget: SizeBudget, path: string): string {
  if (typeof text !== 'string') throw new NotPlain(`${path} is not a text`);
  budget.take(Buffer.byteLength(text));
  if (hasLoneSurrogate(text)) throw new NotPlain(`${path} contains half a surrogate pair`);
  return text;
}

function plainMediaType(fields: Record<string, unknown>, budget: SizeBudget, path: string): string {
  const { mediaType } = fields;
  if (!isMediaType(mediaType)) throw new NotPlain(`${path}.mediaType is no media type such as image/png`);
  budget.take(mediaType.length);
  return mediaType;
}

/** Copies the bytes: the tool could change its own bytes after it has answered. */
function plainBytes(fields: Record<string, unknown>, budget: SizeBudget, path: string): Uint8Array {
  const { bytes } = fields;
  if (!types.isUint8Array(bytes)) throw new NotPlain(`${path}.bytes is no Uint8Array`);
  budget.take(bytes.byteLength);
  return Buffer.from(bytes);
}
