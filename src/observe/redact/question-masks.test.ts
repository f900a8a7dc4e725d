import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DRESSED_COMMANDS } from '../../../test/support/dressed-commands.ts';
import type { JsonObject } from '../../base/json.ts';
import { renderArguments } from '../../gate/approvals/render-question.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { findQuestionMasks } from './question-masks.ts';

const TOOL = { inputSchema: {}, privileged: false };
const SHELL = { inputSchema: {}, privileged: true };
const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

function shown(value: JsonObject, tool: Parameters<typeof findQuestionMasks>[1] = TOOL): string {
  const canonical = canonicalJson(value);
  return renderArguments(canonical, findQuestionMasks(canonical, tool)).text;
}

describe('what a question masks', () => {
  it.each(DRESSED_COMMANDS)('never is a command that was dressed up as %s', (_, text) => {
    for (const tool of [TOOL, SHELL]) {
      expect(shown({ command: ['sh', '-c', text] }, tool)).toContain(JSON.stringify(text));
      expect(shown({ token: text, list: ['--token', text], pair: ['Cookie', text] }, tool)).not.toContain('[secret');
    }
  });

  it('is a credential in free text, with its length, and nothing of the text around it', () => {
    expect(shown({ command: `curl -H "Authorization: Bearer ${TOKEN}" example.com; rm -rf ~` })).toContain(
      '"curl -H \\"Authorization: Bearer [secret, 40 characters]\\" example.com; rm -rf ~"',
    );
    expect(shown({ text: 'mysql -phunter2 && PASSWORD=hunter3 --token hunter4' })).toContain(
      '"mysql -p[secret, 7 characters] && PASSWORD=[secret, 7 characters] --token [secret, 7 characters]"',
    );
    expect(shown({ argv: ['curl', '-u', 'ann:hunter2', '--password', 'hunter3'] })).toContain(
      '"ann:[secret, 7 characters]",\n    "--password",\n    [secret, 7 characters]',
    );
  });

  it('is nothing in free text of a privileged tool', () => {
    const value = {
      command: `PASSWORD=hunter2 ${TOKEN}`,
      password: 'hunter2',
      argv: ['-u', 'ann:hunter2', '--token', 'x'],
    };
    expect(JSON.parse(shown(value, SHELL))).toEqual(value);
  });

  it('is what the schema marks secret, as a whole, for any value and any tool', () => {
    const secret = { type: 'string', 'x-secret': true };
    const inputSchema = { type: 'object', properties: { body: secret, list: { items: { writeOnly: true } } } };
    for (const privileged of [false, true]) {
      const value = { body: 'two words; $(x)', list: [{ a: 1 }, true, null, ''], path: 'TOKEN=hunter2' };
      const text = shown(value, { inputSchema, privileged });
      expect(text).toContain('"body": [secret, 15 characters]');
      expect(text).toContain('[secret, 7 characters],\n    true,\n    null,\n    ""');
      expect(text).toContain(privileged ? '"path": "TOKEN=hunter2"' : '"path": "TOKEN=[secret, 7 characters]"');
    }
  });

  it('is never a reference to a secret', () => {
    const inputSchema = { properties: { key: { 'x-secret': true } } };
    const value = {
      key: 'secret:GITHUB_TOKEN',
      token: '${secret:OTHER}',
      text: 'Authorization: Bearer ${secret:OTHER}',
    };
    expect(findQuestionMasks(canonicalJson(value), { inputSchema, privileged: false })).toEqual([]);
  });

  it('is never a key of an object, also where the key is a credential', () => {
    expect(shown({ [TOKEN]: 1, auth: { user: 'ann', pass: 'hunter2' } })).toBe(
      `{\n  "auth": {\n    "pass": [secret, 7 characters],\n    "user": [secret, 3 characters]\n  },\n  "${TOKEN}": 1\n}`,
    );
  });

  it.each<[string, JsonObject]>([
    ['a key of 500 kB', { [`${'a'.repeat(500_000)}_password`]: Array<number>(800).fill(1) }],
    ['90,000 numbers below one name', { password: Array<number>(90_000).fill(1) }],
    ['20,000 credentials in one text', { text: '--token x '.repeat(20_000) }],
  ])('is all of it, as one mask, where the list of masks would be large: %s', (_, value) => {
    const masks = findQuestionMasks(canonicalJson(value), TOOL);
    const size = masks.reduce((sum, { pointer, spans = [] }) => sum + pointer.length + 8 * spans.length, 0);
    expect(size).toBeLessThan(100_000);
    expect(masks).toHaveLength(1);
    expect(shown(value)).toMatch(/^\[secret, \d+ characters\]$/);
  });

  it('is each line of a key file that is nothing but key, and no other line of it', () => {
    const line = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
    const text = shown({ file: `-----BEGIN PRIVATE KEY-----\n${line}\nrm -rf ~ ${line}\n-----END PRIVATE KEY-----` });
    expect(text).toContain(`KEY-----\\n[secret, ${line.length} characters]\\nrm -rf ~ ${line}\\n-----END`);
  });

  it('never holds a blank, a quote, a line end, or what a shell acts on, for any arguments', () => {
    const word = fc.constantFrom(
      'PASSWORD=',
      '--token ',
      'Authorization: ',
      'Cookie: ',
      TOKEN,
      'bearer ',
      '-u a:',
      'sk-',
      '://',
      '@',
      '-----BEGIN PRIVATE KEY-----',
      'hunter2',
    );
    const broken = fc.constantFrom(...' \t\n\r"\'`\\$;|&<>(){}#\u0000\u007fé\u202e'.split(''));
    const text = fc.array(fc.oneof({ weight: 3, arbitrary: word }, broken, fc.string())).map((parts) => parts.join(''));
    const value = fc.record({ token: text, text, argv: fc.array(text), pair: fc.tuple(fc.constant('Cookie'), text) });
    fc.assert(
      fc.property(value, (args) => {
        const canonical = canonicalJson(args);
        for (const { pointer, spans } of findQuestionMasks(canonical, TOOL)) {
          const [, name, index] = pointer.split('/') as [string, keyof typeof args, string?];
          const masked = index === undefined ? (args[name] as string) : args[name][Number(index)]!;
          for (const [start, end] of spans ?? [[0, masked.length]]) {
            expect(masked.slice(start, end)).toMatch(/^[A-Za-z0-9._~+/=:@%-]+$/);
          }
        }
        expect(findQuestionMasks(canonical, SHELL)).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });
});
