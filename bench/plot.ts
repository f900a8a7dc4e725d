// Writes the plots of a report into docs/performance/ and its tables into docs/performance.md.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageProblem } from './harness/options.ts';
import { runCommand } from './harness/run-bench.ts';
import { plotsOf } from './plot/plots-of.ts';
import { openMarkers, writePage } from './plot/write-page.ts';
import { readWholeReport, remarksOn, type WholeReport } from './whole/whole-report.ts';

const USAGE = `npm run bench -- plot REPORT.json [options]
  --folder FOLDER       where the plots go (default docs/performance)
  --page FILE           the page whose tables are written anew (default docs/performance.md)

REPORT.json is what \`npm run bench -- all --json\` writes. In the page, what stands between
<!-- bench:NAME --> and <!-- bench:end --> is replaced by what the bench NAME reported.`;

function remarkOf(report: WholeReport): string {
  const when = report.takenAt === '' ? '' : ` on ${report.takenAt.slice(0, 10)}`;
  return [`Measured${when}, ${report.machine || 'machine not noted'}.`, ...remarksOn(report)].join(' ');
}

function run(args: string[]): number {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      folder: { type: 'string', default: join('docs', 'performance') },
      page: { type: 'string', default: join('docs', 'performance.md') },
    },
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageProblem('Say which report: one file.');
  const report = readWholeReport(file);
  mkdirSync(values.folder, { recursive: true });
  for (const [name, svg] of plotsOf(report.benches)) {
    writeFileSync(join(values.folder, name), svg);
    console.log(join(values.folder, name));
  }
  if (!existsSync(values.page)) throw new UsageProblem(`There is no page ${values.page}.`);
  const page = readFileSync(values.page, 'utf8');
  const [open] = openMarkers(page);
  if (open !== undefined) throw new UsageProblem(`${values.page}: the marker bench:${open} has no end.`);
  writeFileSync(values.page, writePage(page, report.benches, remarkOf(report)));
  console.log(values.page);
  return 0;
}

await runCommand(USAGE, run);
