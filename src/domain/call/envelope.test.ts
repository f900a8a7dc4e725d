import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../test/support/any-character.ts';
import { LIMITS, type Envelope } from './call.ts';
import { decodeEnvelope, encodeEnvelope } from './envelope.ts';
import { encode } from '../../base/message-pack.ts';

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
    const full = {
      ...whole,
      trace: '00-1',
      traceState: 'a=1',
      parent: 'p',
      untrusted: { name: 'Ann' },
      input: `{"responses":{"a":{}},"state":"${'0'.repeat(32)}.{\\"answers\\":{}}"}`,
      inputKinds: ['elicit', 'roots'],
    } as unknown as Envelope;
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
    ['a key that is a map', Uint8Array.from([0x81, 0x80, 0x01])],
    ['trailing bytes', Buffer.concat([encode(whole), Buffer.from([1])])],
  ])('refuses %s', (_, bytes) => {
    expect(decodeEnvelope(bytes).kind).toBe('malformed');
  });

  it('refuses wrong types, no coercion', () => {
    expect(decodeEnvelope(encode({ ...whole, key: 5 }))).toMatchObject({ problem: 'field "key" must be a string' });
    expect(decodeEnvelope(encode({ ...whole, untrusted: null }))).toMatchObject({ kind: 'malformed' });
  });

  it.each([
    ['a list for the untrusted context', { untrusted: [1] }, 'the untrusted context is not a plain JSON object'],
    ['bytes in it', { untrusted: { a: Buffer.from([1]) } }, 'the untrusted context is not a plain JSON object'],
    ['too much of it', { untrusted: { t: 'x'.repeat(LIMITS.untrustedBytes) } }, 'the untrusted context is too large'],
    ['a long trace', { trace: 'x'.repeat(LIMITS.traceLength + 1) }, 'its trace is too long'],
    ['a long trace state', { traceState: 'x'.repeat(LIMITS.traceStateLength + 1) }, 'its trace state is too long'],
    ['a negative depth', { depth: -1 }, 'its depth is out of bounds'],
    ['half a depth', { depth: 0.5 }, 'its depth is out of bounds'],
    ['a depth beyond the limit', { depth: LIMITS.nestedDepth + 1 }, 'its depth is out of bounds'],
    ['a depth that is no number', { depth: Number.NaN }, 'its depth is out of bounds'],
    ['an unknown kind of input', { inputKinds: ['elicit', 'everything'] }, 'it names kinds of input that nobody knows'],
    ['a map for kinds of input', { inputKinds: { 0: 'elicit' } }, 'it names kinds of input that nobody knows'],
    ['too much input', { input: `{"state":"${'x'.repeat(LIMITS.inputBytes)}"}` }, 'its input is too large'],
    ['input with more in it', { input: '{"approved":true}' }, 'its input is no responses and state'],
    ['input with a duplicate key', { input: '{"state":"a","state":"b"}' }, 'its input is no responses and state'],
    ['responses in a list', { input: '{"responses":[]}' }, 'its input is no responses and state'],
    ['a state that no outcome gave', { input: '{"state":"s"}' }, 'its input is no responses and state'],
    ['a state that is no text', { input: '{"state":{}}' }, 'its input is no responses and state'],
    ['a list for the tool', { tool: ['a.b'] }, 'field "tool" must be a string'],
    ['bytes for the key', { key: Buffer.from('k') }, 'field "key" must be a string'],
  ])('refuses %s', (_, change, problem) => {
    expect(decodeEnvelope(encode({ ...whole, ...change }))).toEqual({ kind: 'malformed', problem });
  });

  it('takes what is just within the bounds', () => {
    const largest = {
      ...whole,
      depth: LIMITS.nestedDepth,
      trace: 'x'.repeat(LIMITS.traceLength),
      traceState: 'x'.repeat(LIMITS.traceStateLength),
      untrusted: { t: 'x'.repeat(LIMITS.untrustedBytes - '{"t":""}'.length) },
    } as unknown as Envelope;
    expect(decodeEnvelope(encodeEnvelope(largest))).toEqual({ kind: 'envelope', envelope: largest });
  });

  it('refuses a field that is there twice', () => {
    const twice = Buffer.concat([
      Buffer.from([0xde, 0, 9]),
      Buffer.from(encodeEnvelope(whole)).subarray(3),
      encode('tool'),
      encode('x.y'),
    ]);
    expect(decodeEnvelope(twice)).toEqual({ kind: 'malformed', problem: 'a field is there twice' });
  });

  it('refuses text that is no UTF-8', () => {
    const bytes = Buffer.from(encode({ ...whole, arguments: '{"a":"qq"}' }));
    bytes.set([0xc3, 0x28], bytes.indexOf('qq'));
    expect(decodeEnvelope(bytes)).toEqual({ kind: 'malformed', problem: 'it is not plain MessagePack' });
  });

  it('reads any text the general reader reads, in both ways of writing', () => {
    const texts = fc.record({
      session: fc.string({ maxLength: 70, unit: anyCharacter }),
      run: fc.string({ unit: 'grapheme' }),
      arguments: fc.oneof(
        fc.string({ maxLength: 400 }),
        fc.string({ minLength: 120, maxLength: 400, unit: anyCharacter }),
      ),
      key: fc.string(),
      depth: fc.integer({ min: 0, max: LIMITS.nestedDepth }),
    });
    fc.assert(
      fc.property(texts, (change) => {
        const envelope = { ...whole, ...change } as unknown as Envelope;
        const { version, ...rest } = envelope;
        const expected = { kind: 'envelope', envelope };
        expect(decodeEnvelope(encodeEnvelope(envelope))).toEqual(expected);
        // This project's encoder never writes this order of the fields, so only the general reader reads it.
        expect(decodeEnvelope(encode({ ...rest, version }))).toEqual(expected);
      }),
    );
  });

  it('never takes a changed byte for the envelope that was sent', () => {
    const sent = Buffer.from(encodeEnvelope({ ...whole, arguments: `{"a":"${'x'.repeat(140)}"}` } as Envelope));
    fc.assert(
      fc.property(fc.nat(sent.length - 1), fc.nat(255), (at, value) => {
        fc.pre(sent[at] !== value);
        const changed = Buffer.from(sent);
        changed[at] = value;
        const decoded = decodeEnvelope(changed);
        const read = decoded.kind === 'envelope' ? Buffer.from(encodeEnvelope(decoded.envelope)) : changed;
        expect(read).toEqual(changed);
      }),
    );
  });

  it('refuses arguments over the limit', () => {
    const large = { ...whole, arguments: 'x'.repeat(LIMITS.argumentsBytes + 1) };
    expect(decodeEnvelope(encode(large))).toMatchObject({ problem: 'the arguments are too large' });
  });
});
