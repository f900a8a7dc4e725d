// Measures how much memory a call takes: while it waits in the queue, while it waits for a person, and after its end until it is forgotten.
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CallAnswer } from 'sallyport/client';
import { residentMb } from './catalog/resident.ts';
import { toCount, toNames } from './harness/options.ts';
import { ratios, row, type BenchReport } from './harness/report.ts';
import { progress, runBench } from './harness/run-bench.ts';
import { bytesBelow, usedMemory } from './harness/store-size.ts';
import { sendCalls, untilAccepted, untilOk, untilParked } from './plane/calls.ts';
import { ASK_FIRST, openPlane, STORE_KINDS, type BenchPlane, type StoreKind } from './plane/open-plane.ts';
import { makeRequest } from './round-trip/variant.ts';

const USAGE = `npm run bench -- memory [options]
  --calls 5000          that wait at once (default 5000)
  --store redis         redis, embedded or both (default redis,embedded)
  --json                the report as JSON`;

const STATES = ['settled', 'parked', 'queued'] as const;
type State = (typeof STATES)[number];

/** Calls per session, and so per subject: few enough that all of them fit in the queue at once. */
const CALLS_OF_SESSION = 50;
const MIB = 1024 * 1024;
const ARGUMENT_BYTES = Buffer.byteLength(JSON.stringify(makeRequest(1)));

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Bytes taken in the store, the caller and the worker. */
type Taken = readonly [store: number, caller: number, worker: number];

async function weigh(plane: BenchPlane): Promise<Taken> {
  collect();
  collect();
  const store = plane.redis === undefined ? bytesBelow(plane.folder) : await usedMemory(plane.redis.url);
  const worker = plane.workers[0] === undefined ? Number.NaN : residentMb(plane.workers[0].pid) * MIB;
  return [store, process.memoryUsage().heapUsed, worker];
}

async function send(plane: BenchPlane, state: State, count: number): Promise<Promise<CallAnswer>[]> {
  const acceptedBefore = plane.accepted();
  const parkedBefore = state === 'parked' ? await plane.parked() : 0;
  const calls = sendCalls(plane, state === 'parked' ? 'bench.unsafe' : 'bench.read', count);
  // The plane is closed while some calls still wait; their errors are ignored.
  for (const call of calls) call.catch(() => undefined);
  if (state === 'settled') await untilOk(calls);
  else if (state === 'parked') await untilParked(plane, parkedBefore, calls);
  else await untilAccepted(plane, acceptedBefore, count);
  return calls;
}

/** Measures one state after the other on the same plane: settled calls, then calls that wait for a person, then calls that wait for a worker. */
async function measure(store: StoreKind, count: number): Promise<{ name: string; taken: Taken }[]> {
  const sessions = Math.ceil(count / CALLS_OF_SESSION);
  const plane = await openPlane(store, { gate: ASK_FIRST, sessions });
  const waiting: Promise<CallAnswer>[] = [];
  try {
    // The first calls create things that are made only once. They are not measured.
    await untilOk(sendCalls(plane, 'bench.read', sessions));
    const measured: { name: string; taken: Taken }[] = [];
    for (const state of STATES) {
      progress(`${store}, ${state}: ${count} calls`);
      const isServed = state !== 'queued';
      if (!isServed) await plane.stopWorkers();
      const weighed = isServed ? plane : { ...plane, workers: [] };
      const before = await weigh(weighed);
      waiting.push(...(await send(weighed, state, count)));
      const after = await weigh(weighed);
      const taken = after.map((bytes, index) => (bytes - before[index]!) / count) as unknown as Taken;
      measured.push({ name: `${store}/${state}`, taken });
    }
    // Uses the calls after the measurement, so that nothing a caller holds is garbage-collected before it.
    if (waiting.length !== STATES.length * count) throw new Error('some calls are missing');
    return measured;
  } finally {
    await plane.close();
  }
}

async function run(args: string[]): Promise<BenchReport> {
  const { values } = parseArgs({
    args,
    options: {
      calls: { type: 'string', default: '5000' },
      store: { type: 'string', default: STORE_KINDS.join(',') },
    },
  });
  const count = toCount('--calls', values.calls);
  const measured: { name: string; taken: Taken }[] = [];
  for (const store of toNames('--store', values.store, STORE_KINDS)) measured.push(...(await measure(store, count)));
  return {
    bench: 'memory',
    command: ['npm run bench -- memory', ...args].join(' '),
    notes: [
      `${count} calls with arguments of ${ARGUMENT_BYTES} bytes; on Redis what the server uses, on a file what its folder takes, which grows in steps`,
      'The caller waits for every call. On a file caller and worker are one process. Its heap is what is left after a collection; the worker is measured as resident memory, which is not given back at once.',
    ],
    tables: [
      {
        id: 'memory',
        title: 'Bytes per call',
        of: 'store and state',
        columns: [
          { title: 'store / arguments', digits: 2 },
          { title: 'store bytes', digits: 0 },
          { title: 'caller heap bytes', digits: 0 },
          { title: 'worker resident bytes', digits: 0 },
        ],
        rows: measured.map(({ name, taken }) => row(name, [taken[0] / ARGUMENT_BYTES, ...taken])),
      },
    ],
    ratios: ratios(
      measured
        .filter(({ taken }) => taken[0] > 0)
        .map(({ name, taken }) => ({
          id: `memory/${name}/store-to-arguments`,
          value: taken[0] / ARGUMENT_BYTES,
          better: 'lower',
        })),
    ),
  };
}

await runBench({ usage: USAGE, run });
