import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import type { Effect } from '../../domain/tool/tool.ts';
import { definitionDigest, type UpstreamDefinition } from '../../domain/upstream/definition.ts';
import type { PinsRecord, UpstreamPin } from '../../domain/upstream/pin.ts';
import { comparePinsFile, writePinsFile } from './pins-file.ts';

const define = (name: string, more: JsonObject = {}): UpstreamDefinition => ({
  kind: 'tool',
  name,
  body: { name, ...more },
});
const pin = (definition: UpstreamDefinition, effect: Effect = 'unsafe'): UpstreamPin => ({
  ...definition,
  digest: definitionDigest(definition),
  effect,
});
const record = (upstreams: Record<string, UpstreamPin[]>, server: JsonObject = {}, version = 1): PinsRecord => ({
  version,
  upstreams: Object.fromEntries(Object.entries(upstreams).map(([id, pins]) => [id, { server, pins }])),
});

describe('the file of pins', () => {
  it('is made for review', () => {
    const description = 'Reads a file.\nOnly below "/data": # all of it.';
    const body = {
      name: 'read',
      inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
      description,
    };
    const one: UpstreamDefinition = { kind: 'tool', name: 'read', body };
    expect(writePinsFile(record({ files: [pin(one, 'read')] }, { version: '1', name: 'f' }, 3))).toBe(`\
# What was accepted of each MCP server. Sallyport publishes only these definitions.
# \`digest\` is the SHA-256 of kind and body: do not edit a body by hand.
# Hidden characters are written as escapes, so that a reviewer sees them.

version: 3
upstreams:
  files:
    server:
      name: f
      version: "1"
    definitions:
      - kind: tool
        name: read
        effect: read
        digest: ${definitionDigest(one)}
        body:
          description: |-
            Reads a file.
            Only below "/data": # all of it.
          inputSchema:
            properties:
              path:
                type: string
            type: object
          name: read
`);
  });

  it('has the same bytes for the same pins in any order', () => {
    const [a, b] = [pin(define('a', { x: 1, y: 2 })), pin(define('b'))];
    const turned = pin({ kind: 'tool', name: 'a', body: { y: 2, x: 1, name: 'a' } });
    const [one, other] = [record({ x: [a, b], y: [] }), record({ y: [], x: [b, turned] })];
    expect(writePinsFile(one)).toBe(writePinsFile(other));
  });

  it('shows hidden characters as escapes', () => {
    const text = 'a\u200bb\u202ec\u{e0041}d\te\u00a0f\u001bg\u0085h\u2028i\\u{200b}j\ufeff';
    const file = writePinsFile(record({ x: [pin(define('n', { description: `${text}\nnext`, ['k\u200d']: 1 }))] }));
    expect(file).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\u00a0]/u);
    expect(file).toContain('\\u200bb\\u202ec\\U000e0041d');
    expect(file).toContain('"k\\u200d": 1');
  });

  it('never breaks a line of a text', () => {
    const long = 'word '.repeat(100).trim();
    const file = writePinsFile(record({ x: [pin(define('n', { title: long, description: `${long}\u200b` }))] }));
    expect(file).toContain(`title: ${long}\n`);
    expect(file).toContain(`description: "${long}\\u200b"\n`);
  });

  it('repeats equal values instead of naming them', () => {
    const shared = { type: 'string' };
    expect(writePinsFile(record({ x: [pin(define('n', { a: shared, b: shared }))] }))).not.toMatch(/[&*]\w/);
  });
});

describe('the comparison of a file with the record', () => {
  it.each<[string, PinsRecord, PinsRecord, object[]]>([
    ['nothing', record({ x: [pin(define('a'))] }, {}, 1), record({ x: [pin(define('a'))] }, {}, 2), []],
    [
      'an upstream',
      record({ x: [] }),
      record({ y: [] }),
      [
        { upstream: 'x', what: 'only-in-file' },
        { upstream: 'y', what: 'only-in-store' },
      ],
    ],
    [
      'a definition',
      record({ x: [pin(define('a'))] }),
      record({ x: [pin(define('a', { z: 1 }))] }),
      [{ upstream: 'x', key: 'tool a', what: 'definition' }],
    ],
    [
      'an effect',
      record({ x: [pin(define('a'), 'read')] }),
      record({ x: [pin(define('a'))] }),
      [{ upstream: 'x', key: 'tool a', what: 'effect' }],
    ],
    [
      'the server',
      record({ x: [] }, { name: 'a' }),
      record({ x: [] }, { name: 'b' }),
      [{ upstream: 'x', key: 'server', what: 'server' }],
    ],
    [
      'both sides',
      record({ x: [pin(define('b')), pin(define('a'))] }),
      record({ x: [pin(define('c')), pin(define('b'))] }),
      [
        { upstream: 'x', key: 'tool a', what: 'only-in-file' },
        { upstream: 'x', key: 'tool c', what: 'only-in-store' },
      ],
    ],
    ['an inherited name', record({ constructor: [] }), record({}), [{ upstream: 'constructor', what: 'only-in-file' }]],
  ])('finds %s', (_, file, stored, expected) => {
    expect(comparePinsFile(file, stored)).toStrictEqual(expected);
  });
});
