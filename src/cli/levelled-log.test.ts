import { expect, it } from 'vitest';
import { createReadableLog } from './levelled-log.ts';
import type { Terminal } from './terminal.ts';

it('a line for a person names its level once', () => {
  const lines: string[] = [];
  const terminal = {
    warn: (text: string, label = 'warning') => lines.push(`${label}: ${text}`),
    note: (text: string) => lines.push(text),
  } as unknown as Terminal;
  const log = createReadableLog(terminal);
  log.warn({ module: 'dice' }, 'not served');
  log.error({}, 'module not loaded');
  log.info({}, 'started');
  expect(lines.map((line) => line.replace(/\d\d:\d\d:\d\d/, 'TIME'))).toEqual([
    'warning: TIME not served module=dice',
    'error: TIME module not loaded',
    'TIME info: started',
  ]);
});
