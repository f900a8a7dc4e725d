import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../base/json.ts';
import { placesOf } from './offer-texts.ts';

const listed = (body: JsonObject): string[] =>
  placesOf(body).places.map((place) =>
    place.kind === 'schema'
      ? `schema ${place.pointer} ${place.argument ?? '-'}`
      : `${place.kind} ${place.pointer} ${place.text}`,
  );

describe('the places of a definition in which a server can write', () => {
  it('are names, texts and schemas, in the order of the definition', () => {
    const body = {
      description: 'D',
      inputSchema: { properties: { path: { title: 'T', enum: ['e'] } }, $defs: { token: {} } },
    };
    expect(listed(body)).toStrictEqual([
      'name /description description',
      'name /inputSchema inputSchema',
      'text /description D',
      'schema /inputSchema -',
      'name /inputSchema/properties properties',
      'name /inputSchema/$defs $defs',
      'name /inputSchema/properties/path path',
      'schema /inputSchema/properties/path path',
      'name /inputSchema/properties/path/title title',
      'name /inputSchema/properties/path/enum enum',
      'text /inputSchema/properties/path/title T',
      'text /inputSchema/properties/path/enum/0 e',
      'name /inputSchema/$defs/token token',
      'schema /inputSchema/$defs/token -',
    ]);
  });

  it('contain a schema in unknown members, but none in values', () => {
    const inputSchema = { allOf: [{ if: { a: 1 } }], default: { properties: { token: {} } }, 'x-more': { not: {} } };
    const schemas = placesOf({ inputSchema }).places.filter(({ kind }) => kind === 'schema');
    expect(schemas.map(({ pointer }) => pointer)).toStrictEqual([
      '/inputSchema',
      '/inputSchema/allOf/0',
      '/inputSchema/allOf/0/if',
      '/inputSchema/x-more',
      '/inputSchema/x-more/not',
    ]);
  });

  it('are bounded in size and depth, and the result says so', () => {
    expect(placesOf({ a: 'x'.repeat(300_000), b: 'y' }).isComplete).toBe(false);
    expect(placesOf({ a: Array.from({ length: 300_000 }, () => 1) }).isComplete).toBe(false);
    expect(placesOf({ ['n'.repeat(300_000)]: 1, b: 'y' }).isComplete).toBe(false);
    let deep: JsonValue = 'x';
    for (let depth = 0; depth < 1000; depth += 1) deep = [deep];
    expect(placesOf({ deep }).isComplete).toBe(false);
    expect(placesOf({ a: 'x'.repeat(200_000) }).isComplete).toBe(true);
  });

  it('have short pointers', () => {
    const [place] = placesOf({ [`a/${'n'.repeat(500)}`]: 1 }).places;
    expect(place!.pointer).toMatch(/^\/a~1n{90,}…$/);
    expect(place!.pointer.length).toBeLessThanOrEqual(101);
  });
});
