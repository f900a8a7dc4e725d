import { describe, expect, it } from 'vitest';
import { toolId, type SessionId } from '../../domain/identity/ids.ts';
import { bindingOf, type BoundParts } from './binding.ts';

const PARTS: BoundParts = {
  tool: toolId('files', 'write'),
  toolDigest: 'd1',
  arguments: '{"path":"a"}',
  session: '0.scope.session' as SessionId,
  askers: [
    { kind: 'rule', id: 'writes', digest: 'r1' },
    { kind: 'hook', id: 'budget', digest: 'h1' },
  ],
};

describe('bindingOf', () => {
  it('is a SHA-256 in hex, and the same for the same question', () => {
    expect(bindingOf(PARTS)).toMatch(/^[0-9a-f]{64}$/);
    expect(bindingOf({ ...PARTS })).toBe(bindingOf(PARTS));
    // Stored approvals contain this digest and may be older than the running release. If the value changed, none of them would apply.
    expect(bindingOf(PARTS)).toBe('d96edb7b00b2a7bdcaa9bdf51901628194ebe86491c81c1ea50963d332100d8d');
  });

  it.each<[string, Partial<BoundParts>]>([
    ['tool', { tool: toolId('files', 'read') }],
    ['definition of the tool', { toolDigest: 'd2' }],
    ['arguments', { arguments: '{"path":"b"}' }],
    ['arguments, by a space', { arguments: '{"path": "a"}' }],
    ['session', { session: '0.scope.other' as SessionId }],
    ['askers', { askers: PARTS.askers.slice(1) }],
    ['id of an asker', { askers: [{ ...PARTS.askers[0]!, id: 'other' }, PARTS.askers[1]!] }],
    ['text of an asking rule', { askers: [{ ...PARTS.askers[0]!, digest: 'r2' }, PARTS.askers[1]!] }],
    ['kind of an asker', { askers: [{ ...PARTS.askers[0]!, kind: 'hook' }, PARTS.askers[1]!] }],
  ])('of another %s is another one', (_what, change) => {
    expect(bindingOf({ ...PARTS, ...change })).not.toBe(bindingOf(PARTS));
  });

  it('cannot be found by trying arguments, without the salt of the question', () => {
    const salted = { ...PARTS, salt: 'b2c1' };
    expect(bindingOf(salted)).not.toBe(bindingOf(PARTS));
    expect(bindingOf(salted)).not.toBe(bindingOf({ ...PARTS, salt: 'b2c2' }));
  });

  it('does not depend on the order in which they asked', () => {
    expect(bindingOf({ ...PARTS, askers: PARTS.askers.toReversed() })).toBe(bindingOf(PARTS));
  });
});
