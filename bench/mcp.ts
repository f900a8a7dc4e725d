// Measures tool calls over MCP: directly to a server, through a proxy that only forwards, and through Sallyport. The tool and the client
// are the same, and the endpoints take turns.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { toCount, toCounts, toNames, toNumber } from './harness/options.ts';
import { ratios, row, type BenchReport, type Ratio, type ReportTable } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { startSide, type Side } from './harness/side-process.ts';
import { median, shown } from './harness/statistics.ts';
import { REVISIONS, type Order } from './mcp/client-side.ts';
import { ENDPOINT_NAMES, ENDPOINTS, hasProxy, type Endpoint, type EndpointName } from './mcp/endpoints.ts';
import type { LoopResult } from './round-trip/run-loop.ts';

const USAGE = `npm run bench -- mcp [options]
  --variants a,b        of ${ENDPOINT_NAMES.join(', ')} (default all)
  --concurrency 1,16    calls in flight (default 1,16)
  --seconds 2           per cell (default 2)
  --repetitions 5       of the whole round (default 5)
  --warm-up 1000        calls of every variant that do not count (default 1000)
  --revision 2025-11-25 of MCP that the client speaks: ${REVISIONS.join(' or ')} (default 2025-11-25)
  --json                the report as JSON`;

interface Pair {
  readonly endpoint: Endpoint;
  readonly client: Side<Order>;
}

interface Cell {
  readonly variant: EndpointName;
  readonly concurrency: number;
  readonly repetition: number;
  readonly usPerCall: number;
  readonly clientUs: number;
  readonly serverUs: number;
}

const CLIENT = fileURLToPath(new URL('./mcp/client-side.js', import.meta.url));

async function measure({ endpoint, client }: Pair, load: { concurrency: number; seconds: number; maxCalls: number }) {
  const before = [(await client.order({ kind: 'cpu' })) as number, endpoint.cpuUs()] as const;
  const { calls, elapsedMs } = (await client.order({ kind: 'run', load })) as LoopResult;
  const after = [(await client.order({ kind: 'cpu' })) as number, endpoint.cpuUs()] as const;
  return {
    usPerCall: (elapsedMs * 1000) / calls,
    clientUs: (after[0] - before[0]) / calls,
    serverUs: (after[1] - before[1]) / calls,
  };
}

interface Settings {
  readonly variants: readonly EndpointName[];
  readonly concurrencies: readonly number[];
  readonly seconds: number;
  readonly repetitions: number;
  readonly warmUpCalls: number;
  readonly revision: (typeof REVISIONS)[number];
}

async function measureAll(settings: Settings): Promise<{ cells: Cell[]; notes: string[] }> {
  const pairs = new Map<EndpointName, Pair>();
  const cells: Cell[] = [];
  try {
    for (const name of settings.variants) {
      progress(`opening ${name}`);
      const endpoint = await ENDPOINTS[name]();
      const client = startSide<Order>({ file: CLIENT, name: `client of ${name}` });
      pairs.set(name, { endpoint, client });
      const { url, token } = endpoint;
      const address = token === undefined ? { url } : { url, token };
      await client.order({ kind: 'open', endpoint: address, revision: settings.revision });
      await measure(pairs.get(name)!, { concurrency: 16, seconds: 10, maxCalls: settings.warmUpCalls });
    }
    for (let repetition = 0; repetition <= settings.repetitions; repetition += 1) {
      for (const concurrency of settings.concurrencies) {
        for (const [variant, pair] of pairs) {
          const measured = await measure(pair, { concurrency, seconds: settings.seconds, maxCalls: 100_000 });
          if (repetition > 0) cells.push({ variant, concurrency, repetition, ...measured });
          const time = shown(measured.usPerCall);
          progress(
            `round ${repetition}/${settings.repetitions}, ${concurrency} in flight, ${variant}: ${time} µs per call`,
          );
        }
      }
    }
    return { cells, notes: [...pairs].map(([name, { endpoint }]) => `${name}: ${endpoint.about}`) };
  } finally {
    for (const { client, endpoint } of pairs.values()) {
      await client.close();
      await endpoint.stop();
    }
  }
}

function ratioTo(
  cells: readonly Cell[],
  other: EndpointName,
  own: readonly Cell[],
  pick: (cell: Cell) => number,
): number {
  return median(
    own.flatMap((cell) => {
      const twin = cells.find(
        (one) => one.variant === other && one.concurrency === cell.concurrency && one.repetition === cell.repetition,
      );
      return twin === undefined ? [] : [pick(cell) / pick(twin)];
    }),
  );
}

const cpuOf = ({ clientUs, serverUs }: Cell): number => clientUs + serverUs;
const timeOf = ({ usPerCall }: Cell): number => usPerCall;

function tableOf(cells: readonly Cell[], concurrency: number, variants: readonly EndpointName[]): ReportTable {
  return {
    id: `mcp-${concurrency}`,
    title: `Tool calls over MCP, ${concurrency} in flight`,
    of: 'endpoint',
    columns: [
      { title: 'time / direct', digits: 2 },
      { title: 'time / mcp-proxy', digits: 2 },
      { title: 'CPU / direct', digits: 2 },
      { title: 'calls/s', digits: 0 },
      { title: 'client µs', digits: 0 },
      { title: 'behind the address µs', digits: 0 },
    ],
    rows: variants.map((variant) => {
      const own = cells.filter((cell) => cell.variant === variant && cell.concurrency === concurrency);
      return row(variant, [
        ratioTo(cells, 'direct', own, timeOf),
        ratioTo(cells, 'mcp-proxy', own, timeOf),
        ratioTo(cells, 'direct', own, cpuOf),
        1e6 / median(own.map(timeOf)),
        median(own.map(({ clientUs }) => clientUs)),
        median(own.map(({ serverUs }) => serverUs)),
      ]);
    }),
  };
}

function ratiosOf({ rows }: ReportTable, concurrency: number): Ratio[] {
  return rows
    .filter(({ label }) => label.startsWith('sallyport'))
    .flatMap(({ label, values }): Ratio[] => [
      { id: `mcp/${concurrency}/${label}/time-to-direct`, value: values[0] ?? Number.NaN, better: 'lower' },
      { id: `mcp/${concurrency}/${label}/time-to-proxy`, value: values[1] ?? Number.NaN, better: 'lower' },
    ]);
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      variants: { type: 'string', default: ENDPOINT_NAMES.join(',') },
      concurrency: { type: 'string', default: '1,16' },
      seconds: { type: 'string', default: '2' },
      repetitions: { type: 'string', default: '5' },
      'warm-up': { type: 'string', default: '1000' },
      revision: { type: 'string', default: REVISIONS[0] },
    },
  });
  const wanted = toNames('--variants', values.variants, ENDPOINT_NAMES);
  const variants = wanted.filter((name) => name !== 'mcp-proxy' || hasProxy());
  const missing =
    variants.length === wanted.length ? [] : ['mcp-proxy is not installed, so it is left out: npm run bench -- mcp'];
  const concurrencies = toCounts('--concurrency', values.concurrency);
  const { cells, notes } = await measureAll({
    variants,
    concurrencies,
    seconds: toNumber('--seconds', values.seconds),
    repetitions: toCount('--repetitions', values.repetitions),
    warmUpCalls: toCount('--warm-up', values['warm-up']),
    revision: toNames('--revision', values.revision, REVISIONS)[0]!,
  });
  const tables = concurrencies.map((concurrency) => tableOf(cells, concurrency, variants));
  return {
    bench: 'mcp',
    command: ['npm run bench -- mcp', ...args].join(' '),
    notes: [
      `${values.repetitions} × ${values.seconds} s per cell, medians, revision ${values.revision}`,
      ...notes,
      ...missing,
    ],
    tables,
    ratios: ratios(tables.flatMap((table, index) => ratiosOf(table, concurrencies[index]!))),
    details: cells,
  };
}

await runBench({ usage: USAGE, run });
