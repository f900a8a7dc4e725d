import { expect, it } from 'vitest';
import { showOutcome } from './show-outcome.ts';
import type { Terminal } from './terminal.ts';

it('the advice of loop detection is a remark beside the result', () => {
  const lines: string[] = [];
  const terminal = {
    print: (text: string) => lines.push(`out: ${text}`),
    note: (text: string) => lines.push(`note: ${text}`),
  } as unknown as Terminal;
  const outcome = { kind: 'ok', executed: 'yes', retryable: false, content: [], structured: { a: 1 } } as const;
  expect(showOutcome(terminal, { ...outcome, advice: 'Do something else.' })).toBe(0);
  expect(lines).toStrictEqual([expect.stringMatching(/^out: .*"a"/s), 'note: advice: Do something else.']);
});
