import { describe, expect, it } from 'vitest';
import { definitionDigest, type UpstreamDefinition } from '../../domain/upstream/definition.ts';
import type { UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';
import { changedMembers, compareOffer } from './compare-offer.ts';

const define = (name: string, description = 'x', kind: UpstreamDefinition['kind'] = 'tool'): UpstreamDefinition => ({
  kind,
  name,
  body: { name, description },
});
const pin = (definition: UpstreamDefinition): UpstreamPin => ({
  ...definition,
  digest: definitionDigest(definition),
  effect: 'unsafe',
});
const pinsOf = (...definitions: UpstreamDefinition[]): UpstreamPins => ({ server: {}, pins: definitions.map(pin) });
const statuses = (pins: UpstreamPins | undefined, ...definitions: UpstreamDefinition[]): string[] =>
  compareOffer(pins, { server: {}, definitions }).definitions.map(({ key, status }) => `${key}: ${status}`);

describe('the comparison of an offer with its pins', () => {
  it.each<[string, UpstreamPins | undefined, UpstreamDefinition[], string[]]>([
    ['everything is added without pins', undefined, [define('a')], ['tool a: added']],
    ['an equal definition is the same', pinsOf(define('a')), [define('a')], ['tool a: same']],
    ['another text is a change', pinsOf(define('a')), [define('a', 'y')], ['tool a: changed']],
    ['what is gone is removed', pinsOf(define('a')), [], ['tool a: removed']],
    [
      'another kind is another definition',
      pinsOf(define('a')),
      [define('a', 'x', 'prompt')],
      ['tool a: removed', 'prompt a: added'],
    ],
    ['another case is another name', pinsOf(define('a')), [define('A')], ['tool A: added', 'tool a: removed']],
  ])('%s', (_, pins, offered, expected) => {
    expect(statuses(pins, ...offered)).toStrictEqual(expected);
  });

  it('sorts by kind, then by code units, in any order of the offer', () => {
    const offered = [define('b', 'x', 'prompt'), define('ä'), define('b'), define('Z'), define('a', 'x', 'resource')];
    const expected = ['tool Z', 'tool b', 'tool ä', 'resource a', 'prompt b'].map((key) => `${key}: added`);
    expect(statuses(undefined, ...offered)).toStrictEqual(expected);
    expect(statuses(undefined, ...offered.toReversed())).toStrictEqual(expected);
  });

  it('takes another order of members for the same definition', () => {
    const offered: UpstreamDefinition = { kind: 'tool', name: 'a', body: { description: 'x', name: 'a' } };
    expect(statuses(pinsOf(define('a')), offered)).toStrictEqual(['tool a: same']);
  });

  it('believes the digest of a pin and not its body', () => {
    const pins = { server: {}, pins: [{ ...pin(define('a')), digest: 'f'.repeat(64) }] };
    expect(statuses(pins, define('a'))).toStrictEqual(['tool a: changed']);
  });

  it('never takes a key with two definitions for the same, in either order', () => {
    for (const offered of [
      [define('a'), define('a', 'y')],
      [define('a', 'y'), define('a')],
    ]) {
      const [found] = compareOffer(pinsOf(define('a')), { server: {}, definitions: offered }).definitions;
      expect(found).toMatchObject({ status: 'changed', isAmbiguous: true });
    }
    const [twice] = compareOffer(pinsOf(define('a')), {
      server: {},
      definitions: [define('a'), define('a')],
    }).definitions;
    expect(twice).toMatchObject({ status: 'same', isAmbiguous: false });
  });

  it('names the members of the server that changed', () => {
    const pins = { server: { name: 's', version: '1', title: 'T' }, pins: [] };
    const server = { name: 's', version: '2', instructions: 'Do this.' };
    expect(compareOffer(pins, { server, definitions: [] }).server).toStrictEqual(['instructions', 'title', 'version']);
    expect(compareOffer(pins, { server: pins.server, definitions: [] }).server).toStrictEqual([]);
  });

  it('does not take an inherited member for one of the server', () => {
    expect(changedMembers({}, JSON.parse('{"constructor":1,"__proto__":2}'))).toStrictEqual([
      '__proto__',
      'constructor',
    ]);
  });
});
