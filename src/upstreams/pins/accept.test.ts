import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import { definitionDigest, type UpstreamDefinition, type UpstreamOffer } from '../../domain/upstream/definition.ts';
import type { UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';
import { accept } from './accept.ts';

const define = (
  name: string,
  more: JsonObject = {},
  kind: UpstreamDefinition['kind'] = 'tool',
): UpstreamDefinition => ({
  kind,
  name,
  body: { name, ...more },
});
const pin = (definition: UpstreamDefinition, effect: Effect = 'unsafe'): UpstreamPin => ({
  ...definition,
  digest: definitionDigest(definition),
  effect,
});
const offer = (...definitions: UpstreamDefinition[]): UpstreamOffer => ({
  server: { name: 's', version: '2' },
  definitions,
});
const pinsOf = (...pins: UpstreamPin[]): UpstreamPins => ({ server: { name: 's', version: '1' }, pins });
const readOnly = { annotations: { readOnlyHint: true } };

describe('the acceptance of an offer', () => {
  it('pins everything with the suggested effects', () => {
    const definitions = [define('b', readOnly), define('a'), define('p', {}, 'prompt')];
    const { next, changes } = accept(undefined, offer(...definitions), { all: true });
    expect(next).toStrictEqual({
      server: { name: 's', version: '2' },
      pins: [pin(define('a')), pin(define('b', readOnly), 'read'), pin(define('p', {}, 'prompt'), 'read')],
    });
    expect(changes).toStrictEqual([
      'tool a accepted as unsafe',
      'tool b accepted as read',
      'prompt p accepted as read',
      'server information accepted: name, version',
    ]);
  });

  it('changes only what is named', () => {
    const pins = pinsOf(pin(define('a')), pin(define('gone')));
    const { next, changes } = accept(pins, offer(define('a', { x: 1 }), define('b'), define('c')), {
      keys: ['tool b'],
    });
    expect(next).toStrictEqual({
      server: pins.server,
      pins: [pin(define('a')), pin(define('b')), pin(define('gone'))],
    });
    expect(changes).toStrictEqual(['tool b accepted as unsafe']);
  });

  it('changes nothing if nothing is named', () => {
    const pins = pinsOf(pin(define('a')));
    expect(accept(pins, offer(define('a', { x: 1 })), {})).toStrictEqual({ next: pins, changes: [] });
    expect(accept(undefined, offer(define('a')), { keys: [] })).toStrictEqual({
      next: { server: { name: 's', version: '2' }, pins: [] },
      changes: [],
    });
  });

  it('drops what is no longer offered with all, or if it is named', () => {
    const pins = pinsOf(pin(define('a')), pin(define('b')));
    expect(accept(pins, offer(), { keys: ['tool a'] })).toStrictEqual({
      next: { ...pins, pins: [pin(define('b'))] },
      changes: ['tool a dropped'],
    });
    expect(accept(pins, offer(), { all: true }).next.pins).toStrictEqual([]);
  });

  it('accepts what the server says about itself only if it is named, or with all', () => {
    const pins = pinsOf(pin(define('a')));
    expect(accept(pins, offer(define('a')), { keys: ['tool a'] }).next.server).toStrictEqual(pins.server);
    const { next, changes } = accept(pins, offer(define('a')), { keys: ['server'] });
    expect(next).toStrictEqual({ server: { name: 's', version: '2' }, pins: pins.pins });
    expect(changes).toStrictEqual(['server information accepted: version']);
  });

  it('gives the same pins when it is repeated', () => {
    const once = accept(undefined, offer(define('a'), define('b', readOnly)), { all: true }).next;
    expect(accept(once, offer(define('a'), define('b', readOnly)), { all: true })).toStrictEqual({
      next: once,
      changes: [],
    });
  });
});

describe('the effect of an accepted tool', () => {
  const effectOf = (
    pins: UpstreamPins | undefined,
    definition: UpstreamDefinition,
    effects?: Record<string, Effect>,
  ): string => {
    const { next, changes } = accept(pins, offer(definition), {
      keys: ['tool a'],
      ...(effects === undefined ? {} : { effects }),
    });
    return `${next.pins[0]!.effect}: ${changes.join(', ')}`;
  };

  it.each<[string, UpstreamPins | undefined, UpstreamDefinition, Record<string, Effect> | undefined, string]>([
    [
      'the operator wins over the suggestion',
      undefined,
      define('a', readOnly),
      { 'tool a': 'idempotent' },
      'idempotent: tool a accepted as idempotent',
    ],
    [
      'an unchanged tool keeps its effect',
      pinsOf(pin(define('a', readOnly), 'unsafe')),
      define('a', readOnly),
      undefined,
      'unsafe: ',
    ],
    [
      'an unchanged tool keeps an effect that is not suggested',
      pinsOf(pin(define('a'), 'read')),
      define('a'),
      undefined,
      'read: ',
    ],
    [
      'an unchanged tool gets the named effect',
      pinsOf(pin(define('a'), 'unsafe')),
      define('a'),
      { 'tool a': 'read' },
      'read: tool a effect changed: unsafe is now read',
    ],
    [
      'the same effect again is no change',
      pinsOf(pin(define('a'), 'read')),
      define('a'),
      { 'tool a': 'read' },
      'read: ',
    ],
    [
      'a changed tool does not become less careful by itself',
      pinsOf(pin(define('a'), 'unsafe')),
      define('a', readOnly),
      undefined,
      'unsafe: tool a changed, unsafe',
    ],
    [
      'a changed tool becomes more careful by itself',
      pinsOf(pin(define('a', readOnly), 'read')),
      define('a', { x: 1 }),
      undefined,
      'unsafe: tool a changed, read is now unsafe',
    ],
    [
      'a changed tool gets the named effect',
      pinsOf(pin(define('a'), 'unsafe')),
      define('a', { x: 1 }),
      { 'tool a': 'read' },
      'read: tool a changed, unsafe is now read',
    ],
  ])('%s', (_, pins, definition, effects, expected) => {
    expect(effectOf(pins, definition, effects)).toBe(expected);
  });
});
