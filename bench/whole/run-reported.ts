import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { asReport } from '../harness/check-report.ts';
import { ownChild } from '../harness/left-behind.ts';
import type { BenchReport } from '../harness/report.ts';

/** Runs one bench in its own process, shows its progress and reads its report. */
export async function runReported(bench: string, args: readonly string[]): Promise<BenchReport> {
  const file = fileURLToPath(new URL(`../${bench}.js`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args, '--json'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  ownChild(child);
  let text = '';
  child.stdout!.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${bench} ended with ${code ?? 'a signal'}`);
  const { bench: name, command, notes, tables, ratios } = asReport(JSON.parse(text));
  // Leaves out the single measurements: a page and a baseline do not need them, and they are most of the file.
  return { bench: name, command, notes, tables, ratios };
}
