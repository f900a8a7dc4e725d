import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { asBaseline } from '../../bench/whole/baseline.ts';
import { STANDARD_SET } from '../../bench/whole/standard-set.ts';
import { asWholeReport } from '../../bench/whole/whole-report.ts';
import { spawnNode, temporaryFolder } from '../support/process.ts';

const BENCHES = fileURLToPath(new URL('../../dist/bench/', import.meta.url));

async function run(bench: string, args: readonly string[]) {
  const child = await spawnNode(join(BENCHES, `${bench}.js`), [...args]);
  const { code } = await child.exited;
  return { code, stdout: child.stdout, stderr: child.stderr };
}

it('every bench of the standard set starts with tiny sizes and gives a well-formed report, which can be compared and drawn', async () => {
  const folder = temporaryFolder('sallyport-bench-smoke');
  try {
    const file = join(folder.path, 'report.json');
    const all = await run('all', ['--quick', '--out', file]);
    expect(all.stderr.split('\n').filter((line) => line.includes('ended with'))).toEqual([]);
    expect(all.code).toBe(0);
    const report = asWholeReport(JSON.parse(readFileSync(file, 'utf8')));
    expect(report.failed).toEqual([]);
    expect(report.benches.map(({ bench }) => bench)).toEqual(STANDARD_SET.map(({ bench }) => bench));

    const baseline = join(folder.path, 'baseline.json');
    expect(await run('compare', [file, '--baseline', baseline, '--write'])).toMatchObject({ code: 0 });
    expect(Object.keys(asBaseline(JSON.parse(readFileSync(baseline, 'utf8'))).ratios).length).toBeGreaterThan(10);
    expect(await run('compare', [file, '--baseline', baseline])).toMatchObject({ code: 0 });

    const page = join(folder.path, 'page.md');
    writeFileSync(page, '<!-- bench:embedded -->\n<!-- bench:end -->\n');
    expect(await run('plot', [file, '--folder', folder.path, '--page', page])).toMatchObject({ code: 0 });
    expect(readFileSync(page, 'utf8')).toContain('| in flight |');
    expect(readdirSync(folder.path)).toContain('growth-settled.svg');
  } finally {
    folder.remove();
  }
}, 600_000);

it('a ratio that got worse than allowed ends the comparison with 1, and a file that is no report with 2', async () => {
  const folder = temporaryFolder('sallyport-bench-compare');
  try {
    const write = (name: string, value: unknown): string => {
      const file = join(folder.path, name);
      writeFileSync(file, JSON.stringify(value));
      return file;
    };
    const id = 'embedded/16/calls-to-bullmq';
    const table = {
      id: 't',
      title: 't',
      of: 'x',
      columns: [{ title: 'a', digits: 1 }],
      rows: [{ label: 'r', values: [1] }],
    };
    const ratios = [{ id, value: 1, better: 'higher' }];
    const report = write('report.json', { bench: 'embedded', command: 'c', notes: [], tables: [table], ratios });
    const baseline = (value: number): string =>
      write('baseline.json', { version: 1, takenAt: '', machine: '', ratios: { [id]: { value, better: 'higher' } } });
    expect((await run('compare', [report, '--baseline', baseline(1)])).code).toBe(0);
    const worse = await run('compare', [report, '--baseline', baseline(2)]);
    expect(worse.stdout).toContain('1 ratios compared, 1 worse than allowed.');
    expect(worse.code).toBe(1);
    const wrong = await run('compare', [write('wrong.json', { benches: 1 })]);
    expect(wrong.stderr).toContain('wrong.json');
    expect(wrong.code).toBe(2);
  } finally {
    folder.remove();
  }
});
