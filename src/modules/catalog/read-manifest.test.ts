import { describe, expect, it } from 'vitest';
import { readManifest } from './read-manifest.ts';

const read = (name: string, text: string): ReturnType<typeof readManifest> =>
  readManifest(`/etc/plane/${name}`, Buffer.from(text));

describe('readManifest', () => {
  const full = [
    { id: 'mine', file: 'a/b.js', setup: { root: '/x' }, pool: 'p', runner: 'process' },
    { file: '/opt/c.mjs' },
  ];
  const entries = [
    { id: 'mine', file: '/etc/plane/a/b.js', setup: { root: '/x' }, pool: 'p', runner: 'process' },
    { file: '/opt/c.mjs', setup: {} },
  ];
  it.each([
    ['modules.json', JSON.stringify({ modules: full })],
    ['modules.json', JSON.stringify(full)],
    [
      'modules.yaml',
      'modules:\n  - { id: mine, file: a/b.js, setup: { root: /x }, pool: p, runner: process }\n  - file: /opt/c.mjs\n',
    ],
    [
      'modules.yml',
      '- { id: mine, file: a/b.js, setup: { root: /x }, pool: p, runner: process }\n- file: /opt/c.mjs\n',
    ],
  ])('reads %s: %s', (name, text) => {
    expect(read(name, text)).toStrictEqual({ kind: 'entries', entries });
  });

  const problems: readonly [id: string, name: string, text: string, problem: RegExp][] = [
    ['an id that starts with _', 'm.yaml', '- { id: __proto__, file: x.js }\n', /id.*the first a letter or digit$/],
    ['F03 an empty file', 'm.json', '', /empty/],
    ['F03 an empty file', 'm.yaml', '', /empty/],
    ['F03 only a comment', 'm.yaml', '# nothing\n', /empty/],
    ['F03 no modules', 'm.json', '{"modules":[]}', /modules/],
    ['F03 modules missing', 'm.json', '{}', /modules/],
    ['F04 YAML in .json', 'm.json', 'modules:\n  - file: a.js\n', /expected/],
    ['F05 a key twice', 'm.json', '{"modules":[{"file":"a.js","file":"b.js"}]}', /twice/],
    ['F05 a key twice', 'm.yaml', 'modules:\n  - file: a.js\n    file: b.js\n', /line 3.*duplicate key/],
    [
      'F06 an unknown key',
      'm.json',
      '{"modules":[{"fil":"a.js","file":"a.js"}]}',
      /modules\[0\]: unknown key "fil", did you mean "file"\?/,
    ],
    [
      'F06 an unknown key at the top',
      'm.yaml',
      'module: []\nmodules:\n  - file: a.js\n',
      /unknown key "module", did you mean "modules"\?/,
    ],
    [
      'what others call a setup',
      'm.json',
      '{"modules":[{"file":"a.js","config":{}}]}',
      /modules\[0\]: unknown key "config", did you mean "setup"\?/,
    ],
    ['F07 __proto__', 'm.json', '{"modules":[{"file":"a.js","setup":{"__proto__":{}}}]}', /__proto__/],
    ['F07 __proto__', 'm.yaml', 'modules:\n  - file: a.js\n    setup: { __proto__: { x: 1 } }\n', /__proto__/],
    ['F08 an alias', 'm.yaml', 'a: &a [1]\nmodules: [*a, *a]\n', /aliases/],
    ['F08 a tag', 'm.yaml', 'modules:\n  - file: !!js/function "x"\n', /tag/],
    ['F08 two documents', 'm.yaml', 'modules: []\n---\nmodules: []\n', /multiple docs/],
    ['F10 a file outside', 'm.json', '{"modules":[{"file":"../a.js"}]}', /modules\[0\]\.file leads out/],
    ['F10 a file outside, hidden', 'm.json', '{"modules":[{"file":"x/../../a.js"}]}', /leads out/],
    ['F11 a number for a string', 'm.json', '{"modules":[{"file":1}]}', /modules\[0\]\.file/],
    ['F22 an unknown runner', 'm.json', '{"modules":[{"file":"a.js","runner":"shell"}]}', /modules\[0\]\.runner/],
    ['an illegal id', 'm.json', '{"modules":[{"file":"a.js","id":"n\u043etes"}]}', /modules\[0\]\.id/],
    ['an inexact number', 'm.yaml', 'modules:\n  - file: a.js\n    setup: { n: 9007199254740993 }\n', /exactly/],
    ['a number that is none', 'm.yaml', 'modules:\n  - file: a.js\n    setup: { n: .nan }\n', /finite/],
    ['F28 too many bytes', 'm.yaml', `# ${'x'.repeat(1024 * 1024)}`, /bytes/],
    ['F28 too many bytes', 'm.json', `[${' '.repeat(1024 * 1024)}]`, /bytes/],
  ];
  it.each(problems)('refuses %s in %s', (_id, name, text, problem) => {
    expect(read(name, text)).toStrictEqual({ kind: 'problem', problem: expect.stringMatching(problem) as string });
  });

  it.each([
    ['one id', '- { id: a, file: x.js }\n- { file: y.js }\n- { id: a, file: y.js }\n', '"a"', [0, 2]],
    ['one file without an id', '- file: x.js\n- { id: a, file: x.js }\n- file: ./x.js\n', 'x.js without an id', [0, 2]],
  ])('refuses two setups with %s', (_, text, setup, numbers) => {
    expect(read('m.yaml', text)).toStrictEqual({ kind: 'duplicate', setup, entries: numbers });
  });

  it('refuses YAML that is not UTF-8', () => {
    expect(readManifest('/x/m.yaml', Buffer.from([0x61, 0x3a, 0x20, 0xff]))).toMatchObject({ kind: 'problem' });
  });
});
