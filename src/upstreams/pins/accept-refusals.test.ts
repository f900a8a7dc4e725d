import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { PlaneError } from '../../domain/errors/errors.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import { definitionDigest, type UpstreamDefinition, type UpstreamOffer } from '../../domain/upstream/definition.ts';
import type { UpstreamPin, UpstreamPins } from '../../domain/upstream/pin.ts';
import { accept, type AcceptChoice } from './accept.ts';

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

function refusal(pins: UpstreamPins | undefined, offered: UpstreamOffer, choice: AcceptChoice): PlaneError {
  try {
    accept(pins, offered, choice);
  } catch (error) {
    if (error instanceof PlaneError) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('what cannot be accepted', () => {
  it.each<[string, AcceptChoice]>([
    ['tool b', { keys: ['tool a', 'tool b'] }],
    ['tool b', { all: true, keys: ['tool b'] }],
    ['prompt a', { keys: ['prompt a'] }],
    ['tool b', { all: true, effects: { 'tool b': 'read' } }],
    ['tool c', { keys: ['tool a'], effects: { 'tool c': 'read' } }],
    ['tool gone', { keys: ['tool gone'], effects: { 'tool gone': 'read' } }],
    ['tool a', { all: true, effects: { 'tool a': 'harmless' as Effect } }],
    ['constructor', { keys: ['constructor'] }],
  ])('%s is refused in %j', (key, choice) => {
    const error = refusal(pinsOf(pin(define('gone'))), offer(define('a'), define('c')), choice);
    expect(error.code).toBe('UPSTREAM_DEFINITION_UNKNOWN');
    expect(error.facts).toStrictEqual({ definitions: [key] });
    expect(error.message).toContain(`does not offer ${key},`);
  });

  it('includes a definition that is offered twice with different bodies, also with all', () => {
    const offered = offer(define('a'), define('a', { x: 1 }), define('b'));
    for (const choice of [{ all: true }, { keys: ['tool a'] }]) {
      expect(refusal(undefined, offered, choice).facts).toStrictEqual({ definitions: ['tool a'] });
    }
    expect(accept(undefined, offered, { keys: ['tool b'] }).changes).toStrictEqual(['tool b accepted as unsafe']);
    const pins = pinsOf(pin(define('a')));
    expect(accept(pins, offered, { keys: ['tool b'] }).next.pins).toStrictEqual([pin(define('a')), pin(define('b'))]);
  });

  it('is named in short and escaped texts', () => {
    const keys = Array.from({ length: 50 }, (_, index) => `tool ${index}\u202e\u001b[2J\n${'x'.repeat(1000)}`);
    const { facts, message } = refusal(undefined, offer(), { keys });
    expect(facts['definitions']).toHaveLength(6);
    expect(message).toContain('and 45 more');
    expect(message.length).toBeLessThan(900);
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    const long = define(keys[0]!.slice(5));
    const [change] = accept(undefined, offer(long), { all: true }).changes;
    expect(change!.length).toBeLessThan(200);
    expect(change).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});
