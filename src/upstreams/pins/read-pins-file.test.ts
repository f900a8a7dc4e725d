import { describe, expect, it } from 'vitest';
import { definitionDigest } from '../../domain/upstream/definition.ts';
import type { UpstreamPin } from '../../domain/upstream/pin.ts';
import { MAX_PINS_FILE_BYTES, readPinsFile } from './read-pins-file.ts';

const digest = definitionDigest({ kind: 'tool', body: { name: 'a', description: 'x' } });
const VALID = `version: 1
upstreams:
  files:
    server: { name: s }
    definitions:
      - kind: tool
        name: a
        effect: read
        digest: ${digest}
        body: { name: a, description: x }
`;
const problemsOf = (text: string): readonly string[] => {
  const found = readPinsFile(text);
  return found.kind === 'problems' ? found.problems : [];
};

describe('a file of pins', () => {
  it('is read', () => {
    const pin: UpstreamPin = { kind: 'tool', name: 'a', effect: 'read', digest, body: { name: 'a', description: 'x' } };
    const record = { version: 1, upstreams: { files: { server: { name: 's' }, pins: [pin] } } };
    expect(readPinsFile(VALID)).toStrictEqual({ kind: 'read', record });
  });

  it.each<[string, string | RegExp, string, string]>([
    ['a wrong digest', digest, 'f'.repeat(64), 'line 9: the digest does not belong to this kind and body'],
    ['a changed body', 'description: x', 'description: y', 'line 9: the digest does not belong to this kind and body'],
    ['a changed kind', 'kind: tool', 'kind: prompt', 'line 9: the digest does not belong to this kind and body'],
    ['an unknown kind', 'kind: tool', 'kind: tools', 'line 6: kind: expected tool, resource, template, prompt'],
    ['an unknown effect', 'effect: read', 'effect: harmless', 'line 8: effect: expected read, idempotent, unsafe'],
    ['another name than in the body', 'name: a\n', 'name: b\n', 'line 7: the name differs from name in the body'],
    ['a name that is no text', 'name: a\n', 'name: 5\n', 'line 7: name: expected text'],
    [
      'an unknown member of a definition',
      'effect: read',
      'effect: read\n        note: x',
      'line 9: unknown member "note"',
    ],
    ['an unknown member of an upstream', 'server: {', 'other: 1\n    server: {', 'line 4: unknown member "other"'],
    ['an unknown member of the file', 'version: 1', 'version: 1\nextra: 1', 'line 2: unknown member "extra"'],
    [
      'a member of a body that is not pinned',
      'description: x }',
      'description: x, icons: [] }',
      'line 10: a tool has no member "icons"',
    ],
    ['a missing member', 'effect: read\n', '\n', 'line 6: the member effect is missing'],
    ['a version that is no number', 'version: 1', 'version: one', 'line 1: version: expected a whole number'],
    ['a negative version', 'version: 1', 'version: -1', 'line 1: version: expected a whole number'],
    ['a wrong id', '  files:', '  fi les:', 'line 4: "fi les" cannot be the id of an upstream'],
    [
      'a key that is there twice',
      'effect: read',
      'effect: read\n        effect: unsafe',
      'line 9: the key "effect" is there twice',
    ],
    [
      'a key of a body that is there twice',
      '{ name: a,',
      '{ name: a, name: a,',
      'line 10: the key "name" is there twice',
    ],
    ['an alias', 'server: { name: s }', 'server: { name: &n s, title: *n }', 'line 4: anchors are not supported'],
    ['a tag', 'name: s', 'name: !!str s', 'line 4: tags are not supported'],
    ['a key that is no text', 'name: s', '5: s', 'line 4: a key must be text'],
    ['a value that JSON cannot keep', 'name: s', 'name: .inf', 'line 4: it has a value that JSON cannot keep'],
    ['half a surrogate pair', 'name: s', 'name: "\\ud800"', 'line 4: it has a value that JSON cannot keep'],
    ['a server that is no group', '{ name: s }', '[]', 'line 4: expected a group of members'],
    ['definitions that are no list', /definitions:[^]*/u, 'definitions: 5\n', 'line 5: expected a list of definitions'],
    ['a body that is no group', '{ name: a, description: x }', 'null', 'line 10: expected a group of members'],
    ['an upstream without a value', /files:[^]*/u, 'files:\n', 'line 3: expected the members server, definitions'],
    ['no YAML', 'version: 1', 'version: [', 'line 2: it is not usable YAML (bad indent)'],
    ['several documents', 'version: 1', 'a: 1\n---\nversion: 1', 'line 2: it is not usable YAML (multiple docs)'],
  ])('is refused with %s', (_, what, by, expected) => {
    const text = VALID.replace(what, by);
    expect(text).not.toBe(VALID);
    expect(problemsOf(text)).toContain(expected);
  });

  it('is refused with a definition that is there twice', () => {
    const [head, entry] = VALID.split(/(?= {6}- kind)/u);
    expect(problemsOf(head! + entry! + entry!)).toStrictEqual(['line 11: "tool a" is there twice']);
  });

  it('is refused if it is empty, a list or a text', () => {
    for (const text of ['', '[]', 'x', '# only a remark\n'])
      expect(problemsOf(text)).toStrictEqual(['line 1: expected the members version, upstreams']);
  });

  it('is refused if it is too large or too deep, and the problems are few', () => {
    expect(problemsOf('#'.repeat(MAX_PINS_FILE_BYTES + 1))[0]).toMatch(
      /^line 1: the file has 8388609 bytes, the limit is/,
    );
    expect(problemsOf(`version: ${'['.repeat(50_000)}${']'.repeat(50_000)}`)).not.toStrictEqual([]);
    const bad = Array.from({ length: 100 }, (_, index) => `  bad ${index}: 1`).join('\n');
    expect(problemsOf(`version: 1\nupstreams:\n${bad}\n`)).toHaveLength(20);
  });

  it('has problems without hidden characters', () => {
    expect(problemsOf('version: 1\nupstreams: {}\n"a\\u202e\\e[2J\\nb": 1\n')).toStrictEqual([
      'line 3: unknown member "a\\u{202e}\\u{1b}[2J\\u{a}b"',
    ]);
  });
});
