import { planeError } from '../errors/errors.ts';
import type { JsonValue } from '../../base/json.ts';
import { OUTCOME_KINDS, type Outcome } from './outcome.ts';
import { takeBytes } from '../../base/byte-slab.ts';
import { decode, encode } from '../../base/message-pack.ts';

/**
 * First byte of the short form; no MessagePack value starts with it. After it comes the result of a call that ended `ok` with only a value,
 * or only one text.
 */
const SHORT_FORM = 0xc1;
const VALUE = 1;
const TEXT = 2;

/**
 * Bytes stay bytes: files and images are not base64-encoded. The two usual results have a short form, which is written and read in a third
 * of the time.
 */
export function encodeOutcome(outcome: Outcome): Uint8Array {
  const { kind, executed, retryable, content, structured, writeBacks, error, advice } = outcome;
  const hasMore = writeBacks !== undefined || error !== undefined || advice !== undefined;
  const isUsual = kind === 'ok' && executed === 'yes' && !retryable && !hasMore;
  if (!isUsual) return encode(outcome);
  if (content.length === 0 && structured !== undefined) return shortForm(VALUE, JSON.stringify(structured));
  const [only] = content;
  if (content.length === 1 && structured === undefined && only?.kind === 'text') return shortForm(TEXT, only.text);
  return encode(outcome);
}

export function decodeOutcome(bytes: Uint8Array): Outcome {
  if (bytes[0] === SHORT_FORM) return readShortForm(bytes);
  const value = orUnreadable(() => decode(bytes)) as Partial<Outcome> | null;
  if (value === null || typeof value !== 'object' || !OUTCOME_KINDS.includes(value.kind as Outcome['kind'])) {
    throw unreadable();
  }
  return value as Outcome;
}

function shortForm(form: number, text: string): Uint8Array {
  const length = Buffer.byteLength(text);
  const bytes = takeBytes(length + 2);
  bytes[0] = SHORT_FORM;
  bytes[1] = form;
  bytes.write(text, 2, length === text.length ? 'latin1' : 'utf8');
  return bytes;
}

function readShortForm(bytes: Uint8Array): Outcome {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8', 2);
  if (bytes[1] === TEXT) {
    return { kind: 'ok', retryable: false, executed: 'yes', content: [{ kind: 'text', text }] };
  }
  if (bytes[1] !== VALUE) throw unreadable();
  const structured = orUnreadable(() => JSON.parse(text)) as JsonValue;
  return { kind: 'ok', retryable: false, executed: 'yes', content: [], structured };
}

function orUnreadable(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    throw unreadable();
  }
}

function unreadable(): Error {
  return planeError('INTERNAL', { problem: 'an outcome in the store cannot be read' });
}
