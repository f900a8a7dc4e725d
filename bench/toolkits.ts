// Measures what the toolkits of 1,000 agents over 10,000 tools cost: building all of them, and building one after the catalog or the
// policy changed.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buildToolkit, type Catalog, type Policy, type Toolkit } from 'sallyport/testing';
import { toCount, UsageProblem } from './harness/options.ts';
import { row, type BenchReport } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { median, shown } from './harness/statistics.ts';
import { agentName, makeCatalog, makePolicy, type Size } from './toolkits/population.ts';

const USAGE = `npm run bench -- toolkits [options]
  --agents 1000         (default 1000)
  --modules 100         (default 100)
  --tools 100           of each module (default 100)
  --rounds 9            (default 9)
  --json                the report as JSON`;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heapMb = (): number => {
  // Collects twice: a value that only a weak map held is freed by the second collection.
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

type Prepare = () => [Catalog, Policy];
type Work = (catalog: Catalog, policy: Policy) => unknown;

/** Milliseconds of the work, and MiB of what it made. Its inputs are made before the measurement. */
function measureOnce(prepare: Prepare, work: Work): { ms: number; keptMb: number } {
  const [catalog, policy] = prepare();
  const before = heapMb();
  const startedAt = performance.now();
  const made = work(catalog, policy);
  const ms = performance.now() - startedAt;
  const keptMb = heapMb() - before;
  // Uses the values after the measurement, so that none of them is garbage-collected before it.
  if ([catalog, policy, made].includes(undefined)) throw new Error('nothing was made');
  return { ms, keptMb };
}

interface Taken {
  readonly medianMs: number;
  readonly worstMs: number;
  readonly keptMb: number;
}

function measureAll(size: Size, rounds: number): Record<string, Taken> {
  const newCatalog = makeCatalog(size);
  const newPolicy = makePolicy(size);
  const build = (catalog: Catalog, policy: Policy, agent: number): Toolkit =>
    buildToolkit(catalog, policy, { tenant: 'default', subject: 'bench', agent: agentName(agent) });
  const buildAll = (catalog: Catalog, policy: Policy): Toolkit[] =>
    Array.from({ length: size.agents }, (_, agent) => build(catalog, policy, agent));
  const warm = (): [Catalog, Policy] => {
    const made: [Catalog, Policy] = [newCatalog(), newPolicy()];
    buildAll(...made);
    return made;
  };
  const measure = (what: string, prepare: Prepare, work: Work): Taken => {
    progress(what);
    const taken = Array.from({ length: rounds }, () => measureOnce(prepare, work));
    const times = taken.map(({ ms }) => ms);
    return { medianMs: median(times), worstMs: Math.max(...times), keptMb: median(taken.map(({ keptMb }) => keptMb)) };
  };
  const byName = Math.min(5, size.agents - 1);
  const one =
    (agent: number): Work =>
    (catalog, policy) =>
      build(catalog, policy, agent);
  const works: Record<string, [Prepare, Work]> = {
    'all, nothing known before': [() => [newCatalog(), newPolicy()], buildAll],
    'all again': [warm, buildAll],
    'all, new policy': [() => [warm()[0], newPolicy()], buildAll],
    'one by name, new catalog': [() => [newCatalog(), warm()[1]], one(byName)],
    'one by name, new policy': [() => [warm()[0], newPolicy()], one(byName)],
    'one with everything, new catalog': [() => [newCatalog(), warm()[1]], one(0)],
    'one with everything, new policy': [() => [warm()[0], newPolicy()], one(0)],
    'what one lacks, with reasons': [warm, (...made) => build(...made, byName).missing],
  };
  return Object.fromEntries(
    Object.entries(works).map(([what, [prepare, work]]) => [what, measure(what, prepare, work)]),
  );
}

function toSize(option: string, text: string): number {
  const count = toCount(option, text);
  if (count > 10_000) throw new UsageProblem(`${option} can be 10000 at most.`);
  return count;
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      agents: { type: 'string', default: '1000' },
      modules: { type: 'string', default: '100' },
      tools: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '9' },
    },
  });
  const size: Size = {
    agents: toSize('--agents', values.agents),
    modules: toSize('--modules', values.modules),
    toolsPerModule: toSize('--tools', values.tools),
  };
  const measured = measureAll(size, toSize('--rounds', values.rounds));
  return {
    bench: 'toolkits',
    command: ['npm run bench -- toolkits', ...args].join(' '),
    notes: ['Kept: what stays in memory for what was worked out.'],
    tables: [
      {
        id: 'toolkits',
        title: `Toolkits of ${shown(size.agents)} agents over ${shown(size.modules * size.toolsPerModule)} tools`,
        of: 'toolkits',
        columns: [
          { title: 'median ms', digits: 2 },
          { title: 'worst ms', digits: 2 },
          { title: 'kept MiB', digits: 2 },
        ],
        rows: Object.entries(measured).map(([name, { medianMs, worstMs, keptMb }]) =>
          row(name, [medianMs, worstMs, keptMb]),
        ),
      },
    ],
    ratios: [],
  };
}

await runBench({ usage: USAGE, run });
