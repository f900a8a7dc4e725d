import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../base/json.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';
import { parseStrictJson } from '../../base/strict-json.ts';
import { renderArguments, renderQuestion } from './render-question.ts';

const render = (value: unknown, masks?: Parameters<typeof renderArguments>[1]) =>
  renderArguments(canonicalJson(value), masks);

const CHARACTER = fc
  .integer({ min: 0, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));
const TEXT = fc.string({ unit: CHARACTER });

describe('renderArguments', () => {
  it('shows a line per value, in canonical order, with length and digest of what runs', () => {
    const value = { b: [1, { x: null }], a: 'text', '10': true, '9': 1e21, empty: {}, none: [] };
    const { text, bytes, digest, redacted } = render(value);
    expect(text).toBe(
      [
        '{',
        '  "10": true,',
        '  "9": 1e+21,',
        '  "a": "text",',
        '  "b": [',
        '    1,',
        '    {',
        '      "x": null',
        '    }',
        '  ],',
        '  "empty": {},',
        '  "none": []',
        '}',
      ].join('\n'),
    );
    expect({ bytes, digest, redacted }).toEqual({
      bytes: Buffer.byteLength(canonicalJson(value)),
      digest: sha256(canonicalJson(value)),
      redacted: 0,
    });
  });

  it('shows exactly what runs, only with spaces, for any arguments', () => {
    fc.assert(
      fc.property(fc.dictionary(TEXT, fc.jsonValue({ stringUnit: CHARACTER }), { noNullPrototype: true }), (value) => {
        const canonical = canonicalJson(value);
        fc.pre(parseStrictJson(canonical).ok);
        const { text } = renderArguments(canonical);
        expect(canonicalJson(JSON.parse(text))).toBe(canonical);
      }),
    );
  });

  it('leaves nothing out, however long it is', () => {
    const long = 'y'.repeat(300_000);
    expect(render({ command: `${long} && rm -rf ~` }).text).toContain(`${long} && rm -rf ~`);
  });

  it('spells out invisible characters, in keys as in values', () => {
    const { text } = render({ ['pa\u200bth']: 'a\u202e\u00a0\u3164\u{e0041}b' });
    expect(text).toContain('"pa\\u200bth": "a\\u202e\\u00a0\\u3164\\udb40\\udc41b"');
    expect(text).toMatch(/^[\n\u0020-\u007e]*$/);
  });

  it('marks what is masked, with its length and nothing of its value', () => {
    const value = {
      token: 'hunter2',
      list: [{ 'a/b~c': { deep: 'hunter3' } }],
      text: 'user ann:hunter4é!',
      kept: 'seen',
    };
    const masks = [
      { pointer: '/token' },
      { pointer: '/list/0/a~1b~0c' },
      { pointer: '/text', spans: [[9, 16]] as const },
    ];
    const { text, redacted } = render(value, masks);
    expect(text).not.toContain('hunter');
    expect(text).toContain('"token": [secret, 7 characters]');
    expect(text).toContain('"a/b~c": [secret, 18 characters]');
    expect(text).toContain('"text": "user ann:[secret, 7 characters]é!"');
    expect(text).toContain('"kept": "seen"');
    expect(redacted).toBe(3);
    const named = renderArguments(canonicalJson(value), masks, (secret) => `n${secret.length}`);
    expect(named.text).toContain('"token": [secret n7, 7 characters]');
    // `bytes` is the size of the arguments that run, masked or not. With a digest, a reader could find a short secret by trying out values.
    expect(render(value, masks).bytes).toBe(render(value).bytes);
    expect(render(value).digest).toMatch(/^[0-9a-f]{64}$/);
    expect(render(value, masks).digest).toBeUndefined();
  });

  it.each(['/token~2', 'token', '/list/~'])(
    'masks everything if a mask is at %j, which is not a pointer',
    (pointer) => {
      const { text, redacted } = render({ token: 'hunter2' }, [{ pointer, spans: [[0, 1]] }]);
      expect(text).toBe('[secret, 19 characters]');
      expect(redacted).toBe(1);
    },
  );

  it('spells out a text that looks like a mark, in keys as in values', () => {
    const forged = '[secret 1a2b3c4d, 41 characters]';
    const value = { [forged]: `a ${forged}`, other: ['[SECRET, 1 character]', forged] };
    const { text } = render(value);
    expect(text).not.toMatch(/\[secret/i);
    expect(text).toContain('"a \\u005bsecret 1a2b3c4d, 41 characters]"');
    expect(canonicalJson(JSON.parse(text))).toBe(canonicalJson(value));
    expect(render({ text: `${forged} sk-1` }, [{ pointer: '/text', spans: [[33, 37]] }]).text).toContain(
      '"\\u005bsecret 1a2b3c4d, 41 characters] [secret, 4 characters]"',
    );
  });

  it('shows what is no JSON as it is, escaped', () => {
    expect(renderArguments('{"a":\u001b').text).toBe('{"a":\\u{1b}');
  });

  it('masks all of what cannot be read, if anything in it is masked, and gives no digest of it', () => {
    const deep = `{"key":"hunter2","state":${'{"a":'.repeat(70)}1${'}'.repeat(70)}}`;
    expect(renderArguments(deep, [{ pointer: '/key' }])).toEqual({
      text: `[secret, ${deep.length} characters]`,
      bytes: deep.length,
      redacted: 1,
    });
  });
});

describe('renderQuestion', () => {
  const QUESTION = {
    title: '',
    description: '',
    reasons: [],
    askers: [],
    identity: {},
    arguments: '{"key":"hunter2","path":"/tmp"}',
    answers: '{"pin":"4711"}',
  } as unknown as Parameters<typeof renderQuestion>[0];

  it('masks what the question lists, in arguments and answers, until it is revealed', () => {
    const question: typeof QUESTION = {
      ...QUESTION,
      masks: [
        { of: 'arguments', pointer: '/key' },
        { of: 'answers', pointer: '/pin' },
      ],
    };
    const masked = renderQuestion(question);
    expect(masked.masked).toBe(2);
    expect(masked.arguments.text).toContain('"key": [secret, 7 characters]');
    expect(masked.arguments.text).toContain('"path": "/tmp"');
    expect(masked.answers!.text).toContain('"pin": [secret, 4 characters]');
    const revealed = renderQuestion(question, { revealed: true });
    expect(revealed.masked).toBe(0);
    expect(JSON.parse(revealed.arguments.text)).toEqual(JSON.parse(question.arguments));
    expect(JSON.parse(revealed.answers!.text)).toEqual({ pin: '4711' });
  });

  it('masks all arguments of a question that has no list of masks', () => {
    expect(renderQuestion(QUESTION)).toMatchObject({ masked: 1, arguments: { text: '[secret, 31 characters]' } });
    expect(renderQuestion(QUESTION, { revealed: true }).arguments.text).toContain('hunter2');
  });

  it('escapes every text from outside', () => {
    const odd = 'a\u202eb\u001b[2J';
    const rendered = renderQuestion({
      title: odd,
      description: `${odd}\nnext`,
      reasons: [odd],
      detail: odd,
      severity: 'critical',
      tool: 'files.write',
      toolDigest: 'd',
      arguments: canonicalJson({ text: odd } satisfies JsonObject),
      masks: [],
      identity: { tenant: odd, subject: odd, agent: odd },
      askers: [{ kind: 'rule', id: odd, digest: '', grantable: true }],
      decisions: ['deny'],
      quorum: 2,
      binding: 'b',
    } as unknown as Parameters<typeof renderQuestion>[0]);
    const { title, description, reasons, detail, requester, askers } = rendered;
    const texts = [title, description, ...reasons, detail!, requester, ...askers, rendered.arguments.text];
    for (const text of texts) expect(text).toMatch(/^[\n\u0020-\u007e]*$/);
    expect(rendered.description).toContain('\nnext');
    expect(rendered).toMatchObject({ binding: 'b', quorum: 2, decisions: ['deny'], severity: 'critical' });
  });
});
