// Measures what a call costs as the store grows, or as more agents, tools and sessions share it. Small and large planes take turns.
import { parseArgs } from 'node:util';
import { toCount, toCounts, toNames, UsageProblem } from './harness/options.ts';
import type { BenchReport, Ratio, ReportTable } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { shown } from './harness/statistics.ts';
import { openPlane, type GrowthCell, type GrownPlane, type StoreKind } from './growth/plane.ts';
import { defaultSizes, DIMENSIONS, populationOf, type Dimension } from './growth/population.ts';
import { FLAT, reportGrowth, type GrownCells } from './growth/report.ts';

const STORES: readonly StoreKind[] = ['redis', 'embedded'];

const USAGE = `npm run bench -- growth [options]
  --dimension a,b       of ${DIMENSIONS.join(', ')} (default settled,agents,population)
                        settled: calls that have ended and are kept; population: agents, tools and sessions together
  --sizes 1000,10000    of that dimension, smallest first (default: see the tables)
  --store redis         redis, embedded or both (default redis,embedded)
  --calls 3000          per cell (default 3000)
  --concurrency 64      calls in flight (default 64)
  --repetitions 9       of the whole round (default 9)
  --json                the report as JSON

Flat is what stays within ± ${Math.round((FLAT - 1) * 100)} % of the smallest.`;

interface Settings {
  readonly calls: number;
  readonly concurrency: number;
  readonly repetitions: number;
}

async function measureGrowth(
  store: StoreKind,
  dimension: Dimension,
  sizes: readonly number[],
  settings: Settings,
): Promise<GrownCells[]> {
  const planes: GrownPlane[] = [];
  try {
    for (const size of sizes) {
      progress(`opening ${store} with ${dimension} ${shown(size)}`);
      planes.push(await openPlane(store, populationOf(dimension, size)));
    }
    const cells = await takeTurns(planes, settings, `${store} ${dimension}`);
    return await Promise.all(
      planes.map(async (plane, index) => ({
        size: sizes[index]!,
        storeBytes: await plane.storeBytes(),
        cells: cells[index]!,
      })),
    );
  } finally {
    for (const plane of planes) await plane.close();
  }
}

/** Measures all planes in each round: small to large, and in every second round large to small. The first round is not counted. */
async function takeTurns(planes: readonly GrownPlane[], settings: Settings, name: string): Promise<GrowthCell[][]> {
  const cells: GrowthCell[][] = planes.map(() => []);
  for (let repetition = 0; repetition <= settings.repetitions; repetition += 1) {
    const order = repetition % 2 === 0 ? planes.keys() : [...planes.keys()].toReversed();
    const told: string[] = [];
    for (const index of order) {
      const cell = await planes[index]!.measure(settings.calls, settings.concurrency);
      if (repetition > 0) cells[index]!.push(cell);
      told[index] = shown(cell.usPerCall, 1);
    }
    progress(`${name}, round ${repetition}/${settings.repetitions}: ${told.join(', ')} µs per call`);
  }
  return cells;
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      dimension: { type: 'string', default: 'settled,agents,population' },
      sizes: { type: 'string' },
      store: { type: 'string', default: STORES.join(',') },
      calls: { type: 'string', default: '3000' },
      concurrency: { type: 'string', default: '64' },
      repetitions: { type: 'string', default: '9' },
    },
  });
  const dimensions = toNames('--dimension', values.dimension, DIMENSIONS);
  const stores = toNames('--store', values.store, STORES);
  if (values.sizes !== undefined && dimensions.length > 1) throw new UsageProblem('--sizes needs one --dimension.');
  const sizes = values.sizes === undefined ? undefined : toCounts('--sizes', values.sizes);
  const settings = {
    calls: toCount('--calls', values.calls),
    concurrency: toCount('--concurrency', values.concurrency),
    repetitions: toCount('--repetitions', values.repetitions),
  };
  const tables: ReportTable[] = [];
  const ratios: Ratio[] = [];
  const details: object[] = [];
  for (const dimension of dimensions) {
    for (const store of stores) {
      const planes = await measureGrowth(store, dimension, sizes ?? defaultSizes(dimension), settings);
      const report = reportGrowth(store, dimension, planes);
      tables.push(report.table);
      ratios.push(...report.ratios);
      details.push({ store, dimension, planes });
    }
  }
  const { repetitions, calls, concurrency } = settings;
  const notes = [
    `${repetitions} × ${calls} calls per cell, ${concurrency} in flight, medians; a smallest population has 1,000 settled calls, 10 agents, 100 tools, 100 sessions`,
    'Calls that are measured are forgotten after a second, those that the store was filled with stay.',
  ];
  return { bench: 'growth', command: ['npm run bench -- growth', ...args].join(' '), notes, tables, ratios, details };
}

await runBench({ usage: USAGE, run });
