// Runs the standard set of benches one after the other and writes one report for all of them.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine, loadPerCore } from './harness/machine.ts';
import { toNames } from './harness/options.ts';
import type { BenchReport } from './harness/report.ts';
import { formatReport } from './harness/report.ts';
import { progress, runCommand } from './harness/run-bench.ts';
import { runReported } from './whole/run-reported.ts';
import { STANDARD_SET } from './whole/standard-set.ts';
import { BUSY, remarksOn, type WholeReport } from './whole/whole-report.ts';

const NAMES = STANDARD_SET.map(({ bench }) => bench);
const USAGE = `npm run bench -- all [options]
  --out FILE            where the report goes (default bench-report.json)
  --only a,b            of ${NAMES.join(', ')}
  --skip a,b            all but these
  --quick               tiny sizes: shows that everything runs, the figures mean nothing
  --check               then compare with bench/baseline.json, and end with 1 when something got worse
  --json                print the report as JSON instead of tables

Takes about half an hour. Close everything else; the report says how busy the machine was.
Then: npm run bench -- compare bench-report.json
      npm run bench -- plot bench-report.json`;

interface Settings {
  readonly names: readonly string[];
  readonly quick: boolean;
}

async function runAll({ names, quick }: Settings): Promise<WholeReport> {
  const before = loadPerCore();
  if (before > BUSY && !quick)
    progress(`This machine is busy (${before.toFixed(1)} per core): only ratios will mean something.`);
  const benches: BenchReport[] = [];
  const failed: { bench: string; problem: string }[] = [];
  const chosen = STANDARD_SET.filter(({ bench }) => names.includes(bench));
  for (const [index, one] of chosen.entries()) {
    progress(`\n== ${index + 1} of ${chosen.length}: ${one.bench}`);
    const startedAt = performance.now();
    try {
      benches.push(await runReported(one.bench, quick ? one.quick.split(' ') : []));
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      failed.push({ bench: one.bench, problem });
      progress(problem);
    }
    progress(`== ${one.bench}: ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
  }
  const load = { before, after: loadPerCore() };
  return { version: 1, takenAt: new Date().toISOString(), machine: describeMachine(), load, quick, benches, failed };
}

function compare(file: string): number {
  const program = fileURLToPath(new URL('./compare.js', import.meta.url));
  return spawnSync(process.execPath, [program, file], { stdio: ['ignore', 'inherit', 'inherit'] }).status ?? 1;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: 'bench-report.json' },
      only: { type: 'string', default: NAMES.join(',') },
      skip: { type: 'string' },
      quick: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  const skipped = values.skip === undefined ? [] : toNames('--skip', values.skip, NAMES);
  const names = toNames('--only', values.only, NAMES).filter((name) => !skipped.includes(name));
  const report = await runAll({ names, quick: values.quick });
  writeFileSync(values.out, `${JSON.stringify(report, null, 2)}\n`);
  if (values.json) console.log(JSON.stringify(report, null, 2));
  else {
    console.log(`${report.machine}\n${remarksOn(report).join('\n')}`);
    for (const bench of report.benches) console.log(`\n## ${bench.command}\n\n${formatReport(bench)}`);
  }
  progress(`\n${values.out} has the reports of ${report.benches.length} benches; ${report.failed.length} failed.`);
  const compared = values.check ? compare(values.out) : 0;
  return report.failed.length > 0 ? 1 : compared;
}

await runCommand(USAGE, main);
