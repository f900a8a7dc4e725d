import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXIT, EXIT_CODES } from './exit-codes.ts';
import { createProgram } from './program.ts';

const listed = EXIT_CODES.map(({ code }) => code);

describe('the list of exit codes', () => {
  it('has every code that a command can end with', () => {
    expect(listed).toStrictEqual(Object.values(EXIT));
    expect(new Set(listed).size).toBe(listed.length);
  });

  it('is in the help and in docs/errors.md, with the same meanings', async () => {
    const program = await createProgram([]);
    let help = '';
    program.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
    for (const { code, meaning } of EXIT_CODES) {
      expect(help).toMatch(new RegExp(`^ {2}${code} +\\S`, 'm'));
      expect(help).toContain(meaning.replaceAll('`', ''));
      expect(page).toContain(`| ${code} | ${meaning} |`);
    }
  });
});
