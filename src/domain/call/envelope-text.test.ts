import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Envelope } from './call.ts';
import type { RunId, SessionId, ToolId } from '../identity/ids.ts';
import { encodeEnvelope } from './envelope.ts';
import { encodeEnvelopeText, envelopeHead } from './envelope-text.ts';

const ENVELOPE: Envelope = {
  version: 1,
  session: '0.AAAAAAAAAAAA.BBBBBBBBBBBBBBBBBBBBBB' as SessionId,
  run: 'run' as RunId,
  tool: 'notes.add' as ToolId,
  toolDigest: 'd'.repeat(64),
  arguments: '{}',
  key: 'k',
  depth: 0,
};

function written({ session, run, tool, toolDigest, arguments: args, key, depth }: Envelope): Buffer {
  return Buffer.from(encodeEnvelopeText(envelopeHead(session, run, tool, toolDigest)!, args, key, depth));
}

describe('encodeEnvelopeText', () => {
  it.each([0, 1, 31, 32, 255, 256, 65_535, 65_536, 300_000])('writes %d characters as the encoder does', (length) => {
    const envelope = { ...ENVELOPE, arguments: 'x'.repeat(length), key: 'y'.repeat(Math.min(length, 255)), depth: 8 };
    expect(written(envelope).equals(encodeEnvelope(envelope))).toBe(true);
  });

  it('writes any ASCII fields as the encoder does', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 400 });
    fc.assert(
      fc.property(ascii, ascii, ascii, ascii, ascii, fc.nat(8), (session, run, tool, args, key, depth) => {
        const ids = { session: session as SessionId, run: run as RunId, tool: tool as ToolId };
        const envelope = { ...ENVELOPE, ...ids, arguments: args, key, depth };
        expect(written(envelope).equals(encodeEnvelope(envelope))).toBe(true);
      }),
    );
  });

  it('has no head for fields that are not ASCII', () => {
    const { session, tool, toolDigest } = ENVELOPE;
    for (const run of ['é', '\u0080', '☃', '\ud800']) {
      expect(envelopeHead(session, run as RunId, tool, toolDigest)).toBeUndefined();
    }
  });
});
