import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '../base/sha256.ts';
import { createSealer, openSeal } from './seal-arguments.ts';

const AUDITOR = generateKeyPairSync('x25519');
const sealer = createSealer(AUDITOR.publicKey);
const text = '{"command":["sh","-c","echo ok"]}';
const binding = { callId: '0.abc.def', tool: 'shell.run', digest: sha256(text) };
const open = (sealed: Uint8Array, more: Partial<typeof binding> = {}) =>
  openSeal(sealed, { ...binding, ...more }, AUDITOR.privateKey);

describe('sealed arguments', () => {
  it('are opened whole with the private key, with any content', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (given) => {
        expect(open(sealer.seal(given, binding))).toEqual({ kind: 'opened', arguments: given });
      }),
    );
    const large = JSON.stringify({ text: 'ä'.repeat(512 * 1024) });
    const sealed = sealer.seal(large, binding);
    expect(open(sealed)).toEqual({ kind: 'opened', arguments: large });
    expect(sealed.length - Buffer.byteLength(large)).toBe(57);
  });

  it('do not show what they hold, and are different each time', () => {
    const [one, other] = [sealer.seal(text, binding), sealer.seal(text, binding)];
    expect(Buffer.from(one).toString('latin1')).not.toContain('echo');
    expect(Buffer.from(one).subarray(9)).not.toEqual(Buffer.from(other).subarray(9));
  });

  it.each([{ callId: '0.abc.other' }, { tool: 'shell.other' }, { digest: sha256('{}') }])(
    'do not open as those of another record: %j',
    (other) => {
      expect(open(sealer.seal(text, binding), other)).toEqual({
        kind: 'broken',
        problem: 'it was changed, or it belongs to another record',
      });
    },
  );

  it('name the key they were sealed to when another one is given', () => {
    const stranger = generateKeyPairSync('x25519').privateKey;
    const answer = openSeal(sealer.seal(text, binding), binding, stranger);
    expect(answer).toMatchObject({ kind: 'other-key', sealedTo: expect.stringMatching(/^[0-9a-f]{16}$/) as string });
  });

  it('are broken by a change of any byte, and by a cut', () => {
    const sealed = Buffer.from(sealer.seal(text, binding));
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(open(changed).kind, `byte ${at}`).not.toBe('opened');
    }
    for (const end of [0, 1, 56, sealed.length - 1]) expect(open(sealed.subarray(0, end)).kind).toBe('broken');
  });

  it('need only the public half to be made', () => {
    // Only the private key of a pair can open a seal, and the sealer above was made from the public key alone.
    const pem = AUDITOR.privateKey.export({ format: 'pem', type: 'pkcs8' });
    expect(openSeal(sealer.seal(text, binding), binding, createPrivateKey(pem))).toMatchObject({ kind: 'opened' });
  });
});
