import { ENVELOPE_VERSION } from './call.ts';
import type { RunId, SessionId, ToolId } from '../identity/ids.ts';
import { takeBytes } from '../../base/byte-slab.ts';

/**
 * The envelope as most calls send it, built as text and encoded in one step: where every field is ASCII, each character is one byte, and
 * MessagePack's own bytes are characters below 256. Produces exactly the bytes that `encodeEnvelope` produces.
 */

const ASCII = /^[\0-\x7f]*$/;
/** MessagePack header of a map with eight fields, with its size in two bytes. The depth is the last field. */
const MAP = '\xde\0\b';

/** Everything before the arguments; undefined if it is not ASCII. All calls of a run to one tool share it. */
export function envelopeHead(session: SessionId, run: RunId, tool: ToolId, toolDigest: string): string | undefined {
  if (![session, run, tool, toolDigest].every((text) => typeof text === 'string' && ASCII.test(text))) return undefined;
  return (
    MAP +
    written('version') +
    String.fromCharCode(ENVELOPE_VERSION) +
    written('session') +
    written(session) +
    written('run') +
    written(run) +
    written('tool') +
    written(tool) +
    written('toolDigest') +
    written(toolDigest) +
    written('arguments')
  );
}

const KEY = written('key');
const DEPTH = written('depth');

/** `canonicalArguments` and `key` must be ASCII, and `depth` below 128. */
export function encodeEnvelopeText(head: string, canonicalArguments: string, key: string, depth: number): Uint8Array {
  const text = head + written(canonicalArguments) + KEY + written(key) + DEPTH + String.fromCharCode(depth);
  const bytes = takeBytes(text.length);
  bytes.write(text, 'latin1');
  return bytes;
}

function written(text: string): string {
  const { length } = text;
  if (length < 0x20) return String.fromCharCode(0xa0 | length) + text;
  if (length < 0x100) return `\xd9${String.fromCharCode(length)}${text}`;
  if (length < 0x10000) return `\xda${String.fromCharCode(length >> 8, length & 0xff)}${text}`;
  return `\xdb${String.fromCharCode(length >>> 24, (length >> 16) & 0xff, (length >> 8) & 0xff, length & 0xff)}${text}`;
}
