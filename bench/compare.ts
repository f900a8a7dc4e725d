// Compares the ratios of a report with those of bench/baseline.json. Exits with 1 if a ratio is worse than its tolerance allows.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { UsageProblem } from './harness/options.ts';
import { runCommand } from './harness/run-bench.ts';
import { shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';
import { asBaseline, compareRatios, makeBaseline, type Baseline, type Comparison } from './whole/baseline.ts';
import { allRatios, readJson, readWholeReport, remarksOn } from './whole/whole-report.ts';

const USAGE = `npm run bench -- compare REPORT.json [options]
  --baseline FILE       (default bench/baseline.json)
  --all                 show every ratio, also those that are the same
  --write               take the report as the new baseline; tolerances that were written into the old one stay
  --only round-trip,mcp only ratios of these benches
  --json                the comparison as JSON

REPORT.json is what \`npm run bench -- all --json\` writes, or one bench with --json.
Ends with 0 when nothing got worse, with 1 when something did.`;

function readBaseline(file: string): Baseline {
  const value = readJson(file);
  try {
    return asBaseline(value);
  } catch (error) {
    throw new UsageProblem(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function tableOf(rows: readonly Comparison[]): string {
  return formatTable(
    ['ratio', 'baseline', 'now', 'worse by', 'allowed', 'standing'],
    rows.map(({ id, baseline, now, worsening, tolerance, standing }) => [
      id,
      shown(baseline ?? Number.NaN, 2),
      shown(now ?? Number.NaN, 2),
      worsening === undefined ? '–' : `${shown((worsening - 1) * 100)} %`,
      `${shown(tolerance * 100)} %`,
      standing,
    ]),
  );
}

function run(args: string[]): number {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      baseline: { type: 'string', default: join('bench', 'baseline.json') },
      all: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) throw new UsageProblem('Say which report: one file.');
  const report = readWholeReport(file);
  const ratios = allRatios(report);
  if (values.write) {
    const old = existsSync(values.baseline) ? readBaseline(values.baseline) : undefined;
    writeFileSync(values.baseline, `${JSON.stringify(makeBaseline(report, ratios, old), null, 2)}\n`);
    console.log(`${values.baseline} has ${ratios.length} ratios now.`);
    return 0;
  }
  const only = values.only?.split(',');
  const compared = compareRatios(readBaseline(values.baseline), ratios).filter(
    ({ id }) => only === undefined || only.includes(id.split('/')[0]!),
  );
  const worse = compared.filter(({ standing }) => standing === 'worse');
  if (values.json) console.log(JSON.stringify({ worse: worse.length, compared }, null, 2));
  else print(compared, worse, values.all, remarksOn(report));
  return worse.length === 0 ? 0 : 1;
}

function print(
  compared: readonly Comparison[],
  worse: readonly Comparison[],
  all: boolean,
  remarks: readonly string[],
): void {
  const rows = compared.filter(({ standing }) => all || standing === 'worse' || standing === 'better');
  if (rows.length > 0) console.log(`${tableOf(rows)}\n`);
  const gone = compared.filter(({ standing }) => standing === 'gone').length;
  if (gone > 0) console.log(`${gone} ratios of the baseline were not measured.`);
  for (const remark of remarks) console.log(remark);
  console.log(`${compared.length - gone} ratios compared, ${worse.length} worse than allowed.`);
}

await runCommand(USAGE, run);
