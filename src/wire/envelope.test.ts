import { describe, expect, it } from 'vitest';
import { LIMITS, type Envelope } from '../domain/call.ts';
import { decodeEnvelope, encodeEnvelope } from './envelope.ts';
import { encode } from './message-pack.ts';

const whole = {
  version: 1,
  session: '0.s.s',
  run: 'r',
  tool: 'a.b',
  toolDigest: 'd',
  arguments: '{}',
  key: 'k',
  depth: 0,
} as unknown as Envelope;

describe('decodeEnvelope', () => {
  it('gives back what was encoded, optional fields included', () => {
    const full = { ...whole, trace: '00-1', parent: 'p', untrusted: { name: 'Ann' } } as unknown as Envelope;
    expect(decodeEnvelope(encodeEnvelope(full))).toEqual({ kind: 'envelope', envelope: full });
  });

  it.each(['approved', 'fence', 'principal', '_internal', 'Tool', 'identity'])(
    'refuses the whole envelope for field %s',
    (name) => {
      expect(decodeEnvelope(encode({ ...whole, [name]: true }))).toEqual({
        kind: 'malformed',
        problem: `unknown field "${name}"`,
      });
    },
  );

  it.each(['session', 'run', 'tool', 'toolDigest', 'arguments', 'key', 'depth'])('misses field %s', (name) => {
    const { [name as 'key']: _, ...rest } = whole;
    expect(decodeEnvelope(encode(rest))).toEqual({ kind: 'malformed', problem: `field "${name}" is missing` });
  });

  it.each([0, 2, 999, '1', null])('refuses version %s visibly', (version) => {
    expect(decodeEnvelope(encode({ ...whole, version })).kind).toBe('unknown-version');
  });

  it.each([
    ['no bytes', new Uint8Array()],
    ['a cut body', encode(whole).subarray(0, 20)],
    ['JSON', Buffer.from(JSON.stringify(whole))],
    ['a list', encode([1, 2])],
    ['an extension type', Uint8Array.from([0xc7, 1, 0x65, 0])],
    ['trailing bytes', Buffer.concat([encode(whole), Buffer.from([1])])],
  ])('refuses %s', (_, bytes) => {
    expect(decodeEnvelope(bytes).kind).toBe('malformed');
  });

  it('refuses wrong types, no coercion', () => {
    expect(decodeEnvelope(encode({ ...whole, key: 5 }))).toMatchObject({ problem: 'field "key" must be a string' });
    expect(decodeEnvelope(encode({ ...whole, untrusted: null }))).toMatchObject({ kind: 'malformed' });
  });

  it('refuses arguments over the limit', () => {
    const large = { ...whole, arguments: 'x'.repeat(LIMITS.argumentsBytes + 1) };
    expect(decodeEnvelope(encode(large))).toMatchObject({ problem: 'the arguments are too large' });
  });
});
