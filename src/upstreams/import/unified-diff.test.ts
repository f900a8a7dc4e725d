import { describe, expect, it } from 'vitest';
import { hideSettings } from './hide-settings.ts';
import { unifiedDiff } from './unified-diff.ts';

const NAMES = { from: 'a', to: 'b' };
const numbers = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index + 1}`);

describe('unifiedDiff', () => {
  it('shows changes with three lines around them', () => {
    const from = `${numbers(20).join('\n')}\n`;
    const to = from.replace('\n10\n', '\nten\n').replace('\n20\n', '\n20\n21\n');
    expect(unifiedDiff(from, to, NAMES).split('\n')).toEqual([
      '--- a',
      '+++ b',
      '@@ -7,7 +7,7 @@',
      ' 7',
      ' 8',
      ' 9',
      '-10',
      '+ten',
      ' 11',
      ' 12',
      ' 13',
      '@@ -18,3 +18,4 @@',
      ' 18',
      ' 19',
      ' 20',
      '+21',
    ]);
  });

  it('shows a file that is empty, line ends, and a last line without an end', () => {
    expect(unifiedDiff('', 'x\n', NAMES)).toBe('--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x');
    expect(unifiedDiff('x\n', 'x\r\n', NAMES)).toBe('--- a\n+++ b\n@@ -1,1 +1,1 @@\n-x\n+x\\r');
    expect(unifiedDiff('x\n', 'x', NAMES)).toContain('+\\ No newline at end of file');
    expect(unifiedDiff('x', 'x', NAMES)).toBe('');
  });

  it('shows large changes as a whole', () => {
    const lines = unifiedDiff(numbers(3000).join('\n'), numbers(6000).reverse().join('\n'), NAMES).split('\n');
    expect(lines.filter((line) => /^-\d/.test(line))).toHaveLength(3000);
  });
});

describe('hideSettings', () => {
  it('hides the values of variables and headers, of every text in each', () => {
    const one = JSON.stringify(
      { mcpServers: { a: { command: 'x', env: { LEVEL: 'a"quoted', T: 'short' } } } },
      null,
      1,
    );
    const [hidden, other] = hideSettings([one, 'value = "short" and api_key=example0123\n{']);
    expect(hidden).toContain('"LEVEL": "[hidden]"');
    expect(hidden).toContain('"T": "[hidden]"');
    expect(other).toBe('value = "[hidden]" and api_key=[hidden]\n{');
  });
});
