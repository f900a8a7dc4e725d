// What the toolkits of 1,000 agents over 10,000 tools cost: all of them, and one after the catalog or the policy changed.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { buildToolkit, type Catalog, type Policy, type Toolkit } from 'sallyport/testing';
import { median, shown } from './harness/statistics.ts';
import { formatTable } from './harness/table.ts';
import { agentName, makeCatalog, makePolicy, type Size } from './toolkits/population.ts';

const { values } = parseArgs({
  options: {
    agents: { type: 'string', default: '1000' },
    modules: { type: 'string', default: '100' },
    tools: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '9' },
    json: { type: 'boolean', default: false },
  },
});
const size: Size = {
  agents: Number(values.agents),
  modules: Number(values.modules),
  toolsPerModule: Number(values.tools),
};
const rounds = Number(values.rounds);
if (
  ![...Object.values(size), rounds].every((count: number) => Number.isInteger(count) && count >= 1 && count <= 10_000)
) {
  console.error('npm run bench -- toolkits [--agents 1000] [--modules 100] [--tools 100] [--rounds 9] [--json]');
  process.exit(2);
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const heapMb = (): number => {
  // Twice: what only a weak map held is gone after the second.
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
};

const newCatalog = makeCatalog(size);
const newPolicy = makePolicy(size);
const build = (catalog: Catalog, policy: Policy, agent: number): Toolkit =>
  buildToolkit(catalog, policy, { tenant: 'default', subject: 'bench', agent: agentName(agent) });
const buildAll = (catalog: Catalog, policy: Policy): Toolkit[] =>
  Array.from({ length: size.agents }, (_, agent) => build(catalog, policy, agent));

type Prepare = () => [Catalog, Policy];
type Work = (catalog: Catalog, policy: Policy) => unknown;

/** Milliseconds of the work, and the MiB of what it made; what it is made from is made before. */
function measureOnce(prepare: Prepare, work: Work): { ms: number; keptMb: number } {
  const [catalog, policy] = prepare();
  const before = heapMb();
  const startedAt = performance.now();
  const made = work(catalog, policy);
  const ms = performance.now() - startedAt;
  const keptMb = heapMb() - before;
  // Named after the measurement, so that none of it is collected before.
  if ([catalog, policy, made].includes(undefined)) throw new Error('nothing was made');
  return { ms, keptMb };
}

function measure(prepare: Prepare, work: Work) {
  const taken = Array.from({ length: rounds }, () => measureOnce(prepare, work));
  const times = taken.map(({ ms }) => ms);
  return { medianMs: median(times), worstMs: Math.max(...times), keptMb: median(taken.map(({ keptMb }) => keptMb)) };
}

function warm(): [Catalog, Policy] {
  const made: [Catalog, Policy] = [newCatalog(), newPolicy()];
  buildAll(...made);
  return made;
}

const everything = 0;
const byName = Math.min(5, size.agents - 1);
const measured = {
  'all, nothing known before': measure(() => [newCatalog(), newPolicy()], buildAll),
  'all again': measure(warm, buildAll),
  'all, new policy': measure(() => [warm()[0], newPolicy()], buildAll),
  'one by name, new catalog': measure(
    () => [newCatalog(), warm()[1]],
    (...made) => build(...made, byName),
  ),
  'one by name, new policy': measure(
    () => [warm()[0], newPolicy()],
    (...made) => build(...made, byName),
  ),
  'one with everything, new catalog': measure(
    () => [newCatalog(), warm()[1]],
    (...made) => build(...made, everything),
  ),
  'one with everything, new policy': measure(
    () => [warm()[0], newPolicy()],
    (...made) => build(...made, everything),
  ),
  'what one lacks, with reasons': measure(warm, (...made) => build(...made, byName).missing),
};

const header = [
  `${shown(size.agents)} × ${shown(size.modules * size.toolsPerModule)}`,
  'median ms',
  'worst ms',
  'kept MiB',
];
const rows = Object.entries(measured).map(([name, { medianMs, worstMs, keptMb }]) => [
  name,
  shown(medianMs, 2),
  shown(worstMs, 2),
  shown(keptMb, 2),
]);
console.log(values.json ? JSON.stringify({ size, rounds, measured }, null, 2) : formatTable(header, rows));
